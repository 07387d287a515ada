/*
 * Accounts, regions and partitions as AWS targets name them. Pure. Used by the handlers' target schemas and permissions.
 * The configuration's schema shares them, so that an allow-list and a target mean the same by a region.
 */
import * as z from 'zod/mini';

/** An AWS account: 12 digits. */
export const accountSchema = z.string().check(z.regex(/^\d{12}$/, 'an AWS account is 12 digits'));
/** The name of an AWS region. Targets always name theirs; there is no default. */
export const regionSchema = z.string().check(z.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'not the name of an AWS region'));

/** The ARN partition that a region belongs to. */
export function arnPartition(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  if (region.startsWith('us-gov-')) return 'aws-us-gov';
  return 'aws';
}
