/*
 * What forbids emptying a bucket: MFA delete, object lock, legal holds. Asked once before anything is deleted, and again
 * for a version whose deletion was denied, because S3 says only "AccessDenied" then.
 */
import {
  GetBucketVersioningCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
} from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import { pending, refused } from '../../handler.ts';
import type { Bucket, Version } from './bucket.ts';

/** The outcome that ends the run before anything is deleted, if there is a reason for one. */
export async function forbidsEmptying({ calls, s3, on, name }: Bucket): Promise<Outcome | undefined> {
  const versioning = await calls.look('s3:GetBucketVersioning', (options) =>
    s3.send(new GetBucketVersioningCommand(on), options),
  );
  if (versioning.means !== 'done' || versioning.value.MFADelete !== 'Enabled') return undefined;
  const message = `bucket ${name} has MFA delete on: only its owner's root user with a device can delete versions`;
  return refused({ reason: 'MfaDelete', message });
}

/** Finds out why a version could not be deleted. Without a lock it may be a policy, which somebody can change. */
export async function explainDenied(bucket: Bucket, denied: Version): Promise<Outcome> {
  const { calls, s3, on, name } = bucket;
  const lock = await calls.look('s3:GetObjectLockConfiguration', (options) =>
    s3.send(new GetObjectLockConfigurationCommand(on), options),
  );
  if (lock.means === 'done') {
    const locked = await explainLock(bucket, denied);
    if (locked !== undefined) return locked;
  }
  const message = `deleting versions in bucket ${name} is denied, the first of them of key ${quoted(denied.Key)}`;
  return pending({ reason: 'AccessDeniedOrForeign', message });
}

async function explainLock({ calls, s3, on }: Bucket, version: Version): Promise<Outcome | undefined> {
  const hold = await calls.look('s3:GetObjectLegalHold', (options) =>
    s3.send(new GetObjectLegalHoldCommand({ ...on, ...version }), options),
  );
  if (hold.means === 'done' && hold.value.LegalHold?.Status === 'ON') {
    return refused({ reason: 'LegalHold', message: `a legal hold is on key ${quoted(version.Key)}` });
  }
  const retention = await calls.look('s3:GetObjectRetention', (options) =>
    s3.send(new GetObjectRetentionCommand({ ...on, ...version }), options),
  );
  const until = retention.means === 'done' ? retention.value.Retention?.RetainUntilDate : undefined;
  if (until === undefined) return undefined;
  const retryAt = until.toISOString();
  const message = `object lock retains key ${quoted(version.Key)} until ${retryAt} or later`;
  return refused({ reason: 'ObjectLocked', message, retryAt });
}

/** A key, short and printable. */
function quoted(key: string): string {
  return JSON.stringify(key.length > 120 ? `${key.slice(0, 119)}…` : key);
}
