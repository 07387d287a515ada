/*
 * Takes an S3 bucket down with everything in it. Called by run.ts for each request; a large bucket takes several runs.
 * In order: find it, ownership, age (s3-bucket/find, age), what forbids emptying (locks, access-points), deny writes, empty
 * it, prove it empty by a fresh look, ownership again, delete it. Evidence: `absent` if the first look found no bucket.
 */
import { DeleteBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { Outcome } from '../../bridge/contract.ts';
import { CallFailed } from '../calls.ts';
import { type AwsClientInput, defineHandler, gone, pending, refused } from '../handler.ts';
import { pause } from '../ports.ts';
import { abortUploads } from './s3-bucket/abort-uploads.ts';
import { detachAccessPoints, refuseAccessPoints } from './s3-bucket/access-points.ts';
import type { Bucket } from './s3-bucket/bucket.ts';
import { deleteVersions } from './s3-bucket/delete-versions.ts';
import { allowWrites, denyWrites } from './s3-bucket/deny-writes.ts';
import { s3Errors } from './s3-bucket/errors.ts';
import { ensureMarked, find, open, refuseForeign } from './s3-bucket/find.ts';
import { explainDenied, findLocks } from './s3-bucket/locks.ts';
import { permissions } from './s3-bucket/permissions.ts';
import { type Context, optionsSchema, targetSchema } from './s3-bucket/settings.ts';

/** How often a bucket that fills up again is emptied in one run, and how long is waited in between: longer each time. */
const ROUNDS_MAX = 5;
const ROUND_PAUSE_MS = 200;
/** Terms after which a denial is not waited out any longer. */
const DENIED_TERMS = 2;

/** The handler `s3-bucket`: target {bucket, region, account}; options in s3-bucket/settings.ts. */
export const s3Bucket = defineHandler({
  name: 's3-bucket',
  version: '1.1.0',
  target: targetSchema,
  options: optionsSchema,
  errors: s3Errors,
  crossAccount: true,
  limits: { batchSize: 1, memoryMb: 512, maximumConcurrency: 10 },
  dangerous: ['retentionBypass', 'detachAccessPoints'],
  permissions,
  identity: ({ bucket, account, region }) => ({ names: [bucket], place: { account, region } }),
  service: 's3',
  connect: (input: AwsClientInput) => new S3Client({ ...input, forcePathStyle: input.endpoint !== undefined }),
  teardown,
});

async function teardown(context: Context): Promise<Outcome> {
  const state: { bucket?: Bucket } = {};
  const outcome = withoutEnd(context, await work(context, state).catch(deniedAsOutcome));
  const mayHaveDenied = outcome.outcome === 'refused' && context.options.denyWrites !== false;
  if (mayHaveDenied && state.bucket !== undefined) await allowWrites(state.bucket);
  return outcome;
}

/** A denial says nothing of whether the bucket is there: another account may have the name by now. */
function deniedAsOutcome(error: unknown): Outcome {
  if (!(error instanceof CallFailed) || error.fault.reason !== 'AccessDeniedOrForeign') throw error;
  return pending({ reason: error.fault.reason, message: error.message });
}

/** A denial that lasts for terms needs a person. */
function withoutEnd({ request, target }: Context, outcome: Outcome): Outcome {
  const isDenied = outcome.outcome === 'pending' && outcome.reason === 'AccessDeniedOrForeign';
  if (!isDenied || request.attempt < DENIED_TERMS) return outcome;
  const message = `${outcome.message}; bucket ${target.bucket} is another account's by now, or a policy denies this function`;
  return refused({ reason: outcome.reason, message });
}

async function work(context: Context, state: { bucket?: Bucket }): Promise<Outcome> {
  const {
    denyWrites: denies = true,
    retentionBypass: bypasses = false,
    detachAccessPoints: detaches,
  } = context.options;
  const found = await find(context, context.target.region);
  if (found.found === 'no') return gone('absent');
  if (found.found === 'refused') return found.outcome;
  const bucket = open(context, found.region);
  state.bucket = bucket;
  const unproven = refuseForeign(context, found.tags) ?? (await ensureMarked(context, found));
  if (unproven !== undefined) return unproven;
  const locks = await findLocks(bucket, bypasses);
  if (locks.stop !== undefined) return locks.stop;
  const stop =
    (detaches ? undefined : await refuseAccessPoints(bucket)) ??
    (denies ? await denyWrites(bucket) : undefined) ??
    (detaches ? await detachAccessPoints(bucket) : undefined);
  return stop ?? (await emptyAndDelete({ ...bucket, bypass: locks.isLockable && bypasses }));
}

async function emptyAndDelete(bucket: Bucket): Promise<Outcome> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (round > 0) await pause(bucket.clock, ROUND_PAUSE_MS * 2 ** (round - 1), bucket.signal);
    const stopped = await empty(bucket);
    if (stopped !== undefined) return stopped;
    const ended = await deleteBucket(bucket);
    if (ended !== undefined) return ended;
  }
  return pending({ reason: 'Refilled', message: `something keeps writing into ${bucket.name}` });
}

/** Passes over the bucket until one finds nothing; undefined then, else the outcome that ends the run. */
async function empty(bucket: Bucket): Promise<Outcome | undefined> {
  for (;;) {
    const uploads = await abortUploads(bucket);
    if (uploads.stop !== undefined) return uploads.stop;
    const versions = await deleteVersions(bucket);
    if (versions.stop !== undefined) return versions.stop;
    if (versions.denied.length > 0) return explainDenied(bucket, versions.denied, bucket.bypass);
    const seen = uploads.seen + versions.seen;
    if (seen === 0) return undefined;
    if (uploads.deleted + versions.deleted === 0) {
      const codes = [...new Set([...uploads.codes, ...versions.codes])].join(', ') || 'no error was given';
      return pending({
        reason: 'NotEmptying',
        message: `none of ${seen} versions and uploads could be deleted: ${codes}`,
      });
    }
  }
}

/** Deletes the empty bucket; undefined if it is not empty any more. */
async function deleteBucket(bucket: Bucket): Promise<Outcome | undefined> {
  const stop = await bucket.proveNow();
  if (stop !== undefined) return stop;
  const answer = await bucket.destroy('s3:DeleteBucket', new DeleteBucketCommand(bucket.on));
  if (answer.means === 'done' || answer.means === 'gone') return gone('deleted');
  if (answer.means === 'unready') return undefined;
  return refused({ reason: answer.reason, message: `deleting bucket ${bucket.name}: ${answer.code}` });
}
