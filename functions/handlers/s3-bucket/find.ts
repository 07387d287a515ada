/*
 * Finds the bucket, and keeps its proof of ownership fresh. Called by s3-bucket.ts at the start of each run.
 * Region redirects are followed where the function may go; what comes next stands in bucket.ts.
 */
import { GetBucketTaggingCommand } from '@aws-sdk/client-s3';
import type { Outcome } from '../../../bridge/contract.ts';
import { gone, refused } from '../../handler.ts';
import { type Tags, tagsFrom } from '../../ownership.ts';
import { isSurelyOurs, mark, markNotSeen, refuseYounger } from './age.ts';
import { type Bucket, PROOF_RENEWED_MS, sendBy, type Tally } from './bucket.ts';
import type { Context } from './settings.ts';

/** What the first look found. */
export type Found =
  | { readonly found: 'no' }
  | { readonly found: 'refused'; readonly outcome: Outcome }
  | { readonly found: 'yes'; readonly region: string; readonly tags: Tags };

/** Looks for the bucket where the target says, and goes on where S3 says that it is, if that is allowed too. */
export async function find(context: Context, region: string, isRedirected = false): Promise<Found> {
  const { target, account, allow, calls, client } = context;
  const answer = await calls.look('s3:GetBucketTagging', (options) =>
    client(region).send(new GetBucketTaggingCommand({ Bucket: target.bucket, ExpectedBucketOwner: account }), options),
  );
  switch (answer.means) {
    case 'done':
      return { found: 'yes', region, tags: tagsFrom(answer.value.TagSet) };
    case 'absent':
      return { found: 'yes', region, tags: new Map() };
    case 'gone':
      return { found: 'no' };
    case 'elsewhere': {
      const real = answer.region;
      if (real !== undefined && allow.regions.includes(real) && !isRedirected) return find(context, real, true);
      const where = real === undefined ? 'S3 does not say where' : `in ${real}, which this function may not touch`;
      const message = `${target.bucket} is not in ${region}: it is ${where}`;
      return { found: 'refused', outcome: refused({ reason: 'RegionMismatch', message }) };
    }
    default: {
      const message = `looking at bucket ${target.bucket}: ${answer.code}`;
      return { found: 'refused', outcome: refused({ reason: answer.reason, message }) };
    }
  }
}

/** Refuses what the tags do not prove to be the object's. */
export function refuseForeign({ calls, target }: Context, tags: Tags): Outcome | undefined {
  const verdict = calls.prove(tags);
  if (verdict.owned) return undefined;
  return refused({ reason: verdict.reason, message: `bucket ${target.bucket}: ${verdict.message}` });
}

/** Refuses what may be a successor's, and marks what is not, before anything else is changed. */
export async function ensureMarked(context: Context, { region, tags }: Found & { found: 'yes' }) {
  if (isSurelyOurs(context, tags)) return undefined;
  const younger = await refuseYounger(context, region);
  if (younger !== undefined) return younger;
  const again = await find(context, region, true);
  if (again.found !== 'yes') return lost(again);
  const foreign = refuseForeign(context, again.tags);
  if (foreign === undefined) await mark(context, region);
  return foreign;
}

/** It was there when this run began: whoever deleted it did so for this deletion, or it is gone all the same. */
function lost(found: Exclude<Found, { found: 'yes' }>): Outcome {
  return found.found === 'no' ? gone('deleted') : found.outcome;
}

/** What the steps of a run share. */
export function open(context: Context, region: string): Bucket {
  const { target, account, calls, clock, client, log, request, signal } = context;
  const s3 = client(region);
  const tally: Tally = { versions: 0, uploads: 0 };
  const on = { Bucket: target.bucket, ExpectedBucketOwner: account };
  let reading: Promise<Outcome | undefined> | undefined;
  const readAgain = async (): Promise<Outcome | undefined> => {
    const found = await find(context, region, true);
    if (found.found !== 'yes') return lost(found);
    // Without the mark the proof must not be renewed: others that delete at the same time would lean on it.
    return isSurelyOurs(context, found.tags) ? refuseForeign(context, found.tags) : markNotSeen(target.bucket);
  };
  return {
    ...{ name: target.bucket, region, clock, log, signal, on },
    look: sendBy(calls.look, s3),
    destroy: sendBy(calls.destroy, s3),
    restore: sendBy(calls.restore, s3),
    objects: { ...on, RequestPayer: 'requester' },
    bypass: false,
    deletion: { uid: request.object.uid, expires: request.expires },
    ensureOwned() {
      if (calls.proofAge() <= PROOF_RENEWED_MS) return Promise.resolve(undefined);
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    proveNow: readAgain,
    count(what, number) {
      tally[what] += number;
      const versions = tally.versions.toLocaleString('en-US');
      const uploads = tally.uploads === 0 ? '' : ` and ${tally.uploads.toLocaleString('en-US')} unfinished uploads`;
      context.progress(`${versions} versions${uploads} deleted in this run, more remain`);
    },
  };
}
