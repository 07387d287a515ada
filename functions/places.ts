/*
 * Accounts, regions and partitions as AWS targets name them. Pure. Used by the handlers' target schemas and permissions.
 * The configuration's schema shares them, so that an allow-list and a target mean the same by a region.
 */
import * as z from 'zod/mini';
import { partitionOf, REGION } from '../bridge/aws-partitions.ts';

/** An AWS account: 12 digits. */
export const accountSchema = z.string().check(z.regex(/^\d{12}$/, 'an AWS account is 12 digits'));
/** The name of an AWS region, of any partition. Targets always name theirs; there is no default. */
export const regionSchema = z.string().check(z.regex(new RegExp(`^${REGION}$`), 'not the name of an AWS region'));

/** The ARN partition that a region belongs to. */
export function arnPartition(region: string): string {
  return partitionOf(region).id;
}
