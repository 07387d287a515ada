/*
 * What forbids emptying a bucket: MFA delete, object lock, legal holds. Asked by s3-bucket.ts before anything is deleted,
 * of a sample of versions, and again for versions whose deletion was denied, because S3 says only "AccessDenied" then.
 */
import {
  GetBucketVersioningCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import { isTransient } from '../../aws-errors.ts';
import { type Answer, CallFailed } from '../../calls.ts';
import { pending, refused } from '../../handler.ts';
import { type Bucket, decodeKey, eachBounded, type Version } from './bucket.ts';

const SAMPLE = 20;
const LOOKS_IN_FLIGHT = 8;

/** What is known of a bucket's locks before it is emptied. */
export interface Locks {
  /** Ends the run before anything is deleted. */
  readonly stop?: Outcome | undefined;
  /** Whether versions may be locked at all. */
  readonly isLockable: boolean;
}

/** Looks for what forbids emptying. @param mayBypass whether governance retention is no obstacle */
export async function findLocks(bucket: Bucket, mayBypass: boolean): Promise<Locks> {
  const { look, on, name } = bucket;
  const versioning = await look('s3:GetBucketVersioning', new GetBucketVersioningCommand(on));
  if (versioning.means === 'done' && versioning.value.MFADelete === 'Enabled') {
    const message = `bucket ${name} has MFA delete on: only its owner's root user with a device can delete versions`;
    return { stop: refused({ reason: 'MfaDelete', message }), isLockable: false };
  }
  if (!(await isLockable(bucket))) return { isLockable: false };
  return { stop: await explainLocks(bucket, await sample(bucket), mayBypass), isLockable: true };
}

/** Finds out why versions could not be deleted. Without a lock it may be a policy, which somebody can change. */
export async function explainDenied(bucket: Bucket, denied: readonly Version[], mayBypass: boolean): Promise<Outcome> {
  const locked = (await isLockable(bucket)) ? await explainLocks(bucket, denied, mayBypass) : undefined;
  if (locked !== undefined) return locked;
  const message = `deleting versions in bucket ${bucket.name} is denied, one of them of key ${quoted(denied[0]?.Key)}`;
  return pending({ reason: 'AccessDeniedOrForeign', message });
}

async function isLockable({ look, on }: Bucket): Promise<boolean> {
  const lock = await ifTold(look('s3:GetObjectLockConfiguration', new GetObjectLockConfigurationCommand(on)));
  return lock?.ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled';
}

/** What was asked for; undefined for who may not know, and where it is not: a lock shows when a deletion is denied. */
async function ifTold<T>(asked: Promise<Answer<T>>): Promise<T | undefined> {
  try {
    const answer = await asked;
    return answer.means === 'done' ? answer.value : undefined;
  } catch (error) {
    if (!(error instanceof CallFailed) || isTransient(error.fault)) throw error;
    return undefined;
  }
}

/** Some versions of the bucket, to find a lock before half of the bucket is gone. */
async function sample({ look, objects }: Bucket): Promise<readonly Version[]> {
  const command = new ListObjectVersionsCommand({ ...objects, EncodingType: 'url', MaxKeys: SAMPLE });
  const answer = await look('s3:ListObjectVersions', command);
  const { Versions = [], EncodingType } = answer.means === 'done' ? answer.value : {};
  return Versions.flatMap(({ Key, VersionId = 'null' }) =>
    Key === undefined ? [] : [{ Key: decodeKey(Key, EncodingType), VersionId }],
  );
}

interface Lock {
  readonly key: string;
  /** Undefined for a legal hold, which has no end. */
  readonly until?: Date;
  readonly mode?: string | undefined;
}

/** Refuses with a legal hold, or with the latest date until which one of the versions is retained. */
async function explainLocks(bucket: Bucket, versions: readonly Version[], mayBypass: boolean) {
  const locks: Lock[] = [];
  await eachBounded(versions, LOOKS_IN_FLIGHT, async (version) => {
    const lock = await lockOf(bucket, version);
    if (lock !== undefined && !(mayBypass && lock.mode === 'GOVERNANCE')) locks.push(lock);
  });
  const held = locks.find(({ until }) => until === undefined);
  if (held !== undefined)
    return refused({ reason: 'LegalHold', message: `a legal hold is on key ${quoted(held.key)}` });
  const [last] = locks.toSorted((one, other) => Number(other.until) - Number(one.until));
  if (last?.until === undefined) return undefined;
  const retryAt = last.until.toISOString();
  const how = last.mode === 'GOVERNANCE' ? ' in governance mode, which the option retentionBypass lifts' : '';
  const message = `object lock retains key ${quoted(last.key)} until ${retryAt} or later${how}`;
  return refused({ reason: 'ObjectLocked', message, retryAt });
}

async function lockOf({ look, objects }: Bucket, version: Version): Promise<Lock | undefined> {
  const input = { ...objects, ...version };
  const hold = await ifTold(look('s3:GetObjectLegalHold', new GetObjectLegalHoldCommand(input)));
  if (hold?.LegalHold?.Status === 'ON') return { key: version.Key };
  const retained = await ifTold(look('s3:GetObjectRetention', new GetObjectRetentionCommand(input)));
  const { RetainUntilDate: until, Mode: mode } = retained?.Retention ?? {};
  return until === undefined ? undefined : { key: version.Key, until, mode };
}

/** A key, short and printable. */
function quoted(key = ''): string {
  return JSON.stringify(key.length > 120 ? `${key.slice(0, 119)}…` : key);
}
