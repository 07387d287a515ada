/*
 * All handlers that ship, one line each. Queues, roles, functions and bundles are derived from this list,
 * and every handler in it is held to the conformance suite (testing.ts). Read by infra/, never by a function.
 */
import { defineRegistry, type Handler } from './handler.ts';
import { ebsVolume } from './handlers/ebs-volume.ts';
import { ec2Instance } from './handlers/ec2-instance.ts';
import { s3Bucket } from './handlers/s3-bucket.ts';
import { snsNotify } from './handlers/sns-notify.ts';
import { webhook } from './handlers/webhook.ts';

/** The handlers, in alphabetical order. */
export const registry: readonly Handler[] = defineRegistry([ebsVolume, ec2Instance, s3Bucket, snsNotify, webhook]);
