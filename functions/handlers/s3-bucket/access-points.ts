/*
 * Access points of a bucket: S3 deletes no bucket that has any. Asked by s3-bucket.ts before anything is deleted; then
 * they are refused by name, or deleted by option. Those that other accounts made show only when the bucket is deleted.
 */
import type { Outcome } from '../../../bridge/contract.ts';
import { isTransient } from '../../aws-errors.ts';
import { CallFailed } from '../../calls.ts';
import { refused } from '../../handler.ts';
import type { Bucket } from './bucket.ts';
import { DeleteAccessPointCommand, ListAccessPointsCommand } from './control.ts';

const NAMES_SHOWN = 5;
const PAGES_MAX = 20;

/** Refuses a bucket with access points. */
export async function refuseAccessPoints(bucket: Bucket): Promise<Outcome | undefined> {
  const names = await accessPointsOf(bucket);
  if (names.length === 0) return undefined;
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const message = `access points are attached to bucket ${bucket.name}: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
  return refused({ reason: 'AccessPointsAttached', message });
}

/** Deletes the bucket's access points. An outcome means: stop with it. */
export async function detachAccessPoints(bucket: Bucket): Promise<Outcome | undefined> {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const names = await accessPointsOf(bucket);
    if (names.length === 0) return undefined;
    for (const Name of names) {
      const stop = await bucket.ensureOwned();
      if (stop !== undefined) return stop;
      const command = new DeleteAccessPointCommand({ AccountId: bucket.on.ExpectedBucketOwner, Name });
      await bucket.destroy('s3:DeleteAccessPoint', command);
    }
  }
  return refuseAccessPoints(bucket);
}

/** A page of names. None where the account's control API does not say: then deleting the bucket will. */
async function accessPointsOf({ look, on, name, log }: Bucket): Promise<readonly string[]> {
  const command = new ListAccessPointsCommand({ AccountId: on.ExpectedBucketOwner, Bucket: name });
  try {
    const answer = await look('s3:ListAccessPoints', command);
    if (answer.means !== 'done') return [];
    return (answer.value.AccessPointList ?? []).flatMap(({ Name }) => Name ?? []);
  } catch (error) {
    if (!(error instanceof CallFailed) || isTransient(error.fault)) throw error;
    log.warn('listing access points failed; going on without', { bucket: name, error });
    return [];
  }
}
