/*
 * Takes an S3 bucket down with everything in it. Called by run.ts for each request; a large bucket takes several runs.
 * In order: find it (region redirects followed), ownership, what forbids emptying, empty it (s3-bucket/), prove it empty
 * by a fresh look, ownership again, delete it. Evidence: `absent` if the first look found no bucket, else `deleted`.
 */
import { DeleteBucketCommand, GetBucketTaggingCommand, S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { Outcome } from '../../bridge/contract.ts';
import type { Allow } from '../config.ts';
import {
  type AwsClientInput,
  type Conditions,
  defineHandler,
  gone,
  pending,
  refused,
  type TeardownContext,
} from '../handler.ts';
import { type OwnershipVerdict, type Tags, tagsFrom } from '../ownership.ts';
import { accountSchema, arnPartition, regionSchema } from '../places.ts';
import { abortUploads } from './s3-bucket/abort-uploads.ts';
import { type Bucket, PROOF_RENEWED_MS, type Tally } from './s3-bucket/bucket.ts';
import { deleteVersions } from './s3-bucket/delete-versions.ts';
import { s3Errors } from './s3-bucket/errors.ts';
import { explainDenied, forbidsEmptying } from './s3-bucket/locks.ts';

/** General purpose buckets only; names that end so are other things, or aliases of buckets. */
const otherKinds = /(--x-s3|--ol-s3|--table-s3|-s3alias|\.mrap)$/;
const bucketName = z.string().check(
  z.regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'not the name of an S3 bucket'),
  z.refine((name) => !name.includes('..') && !/^\d+\.\d+\.\d+\.\d+$/.test(name), 'not the name of an S3 bucket'),
  z.refine((name) => !otherKinds.test(name), 'not a general purpose bucket'),
);
const targetSchema = z.strictObject({ bucket: bucketName, region: regionSchema, account: accountSchema });
const optionsSchema = z.strictObject({});

type Context = TeardownContext<z.output<typeof targetSchema>, z.output<typeof optionsSchema>, S3Client>;

/** How often a bucket that fills up again is emptied in one run. */
const ROUNDS_MAX = 5;

/** The handler `s3-bucket`: target {bucket, region, account}, no options. */
export const s3Bucket = defineHandler({
  name: 's3-bucket',
  version: '1.0.0',
  target: targetSchema,
  options: optionsSchema,
  errors: s3Errors,
  crossAccount: true,
  limits: { batchSize: 1, memoryMb: 512, maximumConcurrency: 10 },
  permissions: [
    {
      actions: [
        's3:GetBucketTagging',
        's3:GetBucketVersioning',
        's3:GetBucketObjectLockConfiguration',
        's3:ListBucketVersions',
        's3:ListBucketMultipartUploads',
        's3:DeleteBucket',
      ],
      resources: ({ names, regions }) => bucketArns(names, regions, ''),
      condition: ownedBy,
    },
    {
      actions: [
        's3:DeleteObject',
        's3:DeleteObjectVersion',
        's3:AbortMultipartUpload',
        's3:GetObjectRetention',
        's3:GetObjectLegalHold',
      ],
      resources: ({ names, regions }) => bucketArns(names, regions, '/*'),
      condition: ownedBy,
    },
  ],
  identity: ({ bucket, account, region }) => ({ names: [bucket], place: { account, region } }),
  service: 's3',
  connect: (input: AwsClientInput) => new S3Client({ ...input, forcePathStyle: input.endpoint !== undefined }),
  teardown,
});

/** Names of buckets are global. A bucket that does not exist has no account, and has to be found absent, not denied. */
function ownedBy({ accounts }: Allow): Conditions {
  return { StringEqualsIfExists: { 'aws:ResourceAccount': accounts } };
}

function bucketArns(names: readonly string[], regions: readonly string[], suffix: string): readonly string[] {
  const partitions = [...new Set(regions.map(arnPartition))];
  return partitions.flatMap((partition) => names.map((name) => `arn:${partition}:s3:::${name}${suffix}`));
}

type Found =
  | { readonly found: 'no' }
  | { readonly found: 'refused'; readonly outcome: Outcome }
  | { readonly found: 'yes'; readonly region: string; readonly tags: Tags };

async function teardown(context: Context): Promise<Outcome> {
  const found = await find(context, context.target.region);
  if (found.found === 'no') return gone('absent');
  if (found.found === 'refused') return found.outcome;
  const verdict = context.calls.prove(found.tags);
  if (!verdict.owned) return notOwned(context, verdict);
  const bucket = open(context, found.region);
  const forbidden = await forbidsEmptying(bucket);
  if (forbidden !== undefined) return forbidden;
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const stopped = await empty(bucket);
    if (stopped !== undefined) return stopped;
    const ended = await deleteBucket(bucket);
    if (ended !== undefined) return ended;
  }
  return pending({ reason: 'Refilled', message: `something keeps writing into ${context.target.bucket}` });
}

/** Looks for the bucket where the target says, and goes on where S3 says that it is, if that is allowed too. */
async function find(context: Context, region: string, isRedirected = false): Promise<Found> {
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

function notOwned({ target }: Context, verdict: Extract<OwnershipVerdict, { owned: false }>): Outcome {
  return refused({ reason: verdict.reason, message: `bucket ${target.bucket}: ${verdict.message}` });
}

function open(context: Context, region: string): Bucket {
  const { target, account, calls, clock, client, signal } = context;
  const tally: Tally = { versions: 0, uploads: 0 };
  let reading: Promise<Outcome | undefined> | undefined;
  const readAgain = async (): Promise<Outcome | undefined> => {
    const found = await find(context, region, true);
    if (found.found === 'refused') return found.outcome;
    // It was there when this run began: whoever deleted it did so for this deletion, or it is gone all the same.
    if (found.found === 'no') return gone('deleted');
    const verdict = calls.prove(found.tags);
    return verdict.owned ? undefined : notOwned(context, verdict);
  };
  const prove = (maxAge: number) => {
    if (calls.proofAge() <= maxAge) return Promise.resolve(undefined);
    reading ??= readAgain().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    ...{ name: target.bucket, calls, clock, signal, s3: client(region) },
    on: { Bucket: target.bucket, ExpectedBucketOwner: account },
    ensureOwned: () => prove(PROOF_RENEWED_MS),
    proveNow: readAgain,
    count(what, number) {
      tally[what] += number;
      const versions = tally.versions.toLocaleString('en-US');
      const uploads = tally.uploads === 0 ? '' : ` and ${tally.uploads.toLocaleString('en-US')} unfinished uploads`;
      context.progress(`${versions} versions${uploads} deleted in this run, more remain`);
    },
  };
}

/** Passes over the bucket until one finds nothing; undefined then, else the outcome that ends the run. */
async function empty(bucket: Bucket): Promise<Outcome | undefined> {
  for (;;) {
    const uploads = await abortUploads(bucket);
    if (uploads.stop !== undefined) return uploads.stop;
    const versions = await deleteVersions(bucket);
    if (versions.stop !== undefined) return versions.stop;
    if (versions.denied !== undefined) return explainDenied(bucket, versions.denied);
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
  const answer = await bucket.calls.destroy('s3:DeleteBucket', (options) =>
    bucket.s3.send(new DeleteBucketCommand(bucket.on), options),
  );
  if (answer.means === 'done' || answer.means === 'gone') return gone('deleted');
  if (answer.means === 'unready') return undefined;
  return refused({ reason: answer.reason, message: `deleting bucket ${bucket.name}: ${answer.code}` });
}
