/*
 * The handlers of this service, one line each: each gets a function, a queue, a dead-letter queue and a role of its own.
 * Handlers that ship with Finalizer Bridge may stand here as well: import { s3Bucket } from 'finalizer-bridge/handlers/s3-bucket'.
 */
import { defineRegistry } from 'finalizer-bridge/functions';
import { dnsRecord } from './handlers/dns-record.ts';

export const registry = defineRegistry([dnsRecord]);
