/*
 * s3-bucket on a bucket of 12,000 versions and delete markers, on versitygw, an S3 server written by others that keeps them on
 * a file system. It is emptied in several invocations, each stopped where its time is used up. What a run keeps in memory is
 * measured in s3-bucket-memory.slow.test.ts; npm run bench:bucket empties 50,000, and measures how fast it is.
 */
import { HeadBucketCommand, NotFound, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { startVersitygw, type Versitygw } from '../../infra/local/versitygw.ts';
import { clientOf, makeLargeBucket } from '../support/large-bucket.ts';
import { ACCOUNT, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce, useNoCredentials } from './runs.ts';

const VERSIONS = 12_000;
const BUCKET = 'scale';
/** The page of deletes at which an invocation's time is used up: it waits for one of the first four. And how many times. */
const PAGES_A_RUN = 5;
const STOPPED_RUNS = 2;
/** Building the server takes a minute the first time, filling the bucket another. */
const FILLING_MS = 600_000;

let server: Versitygw;
let s3: S3Client;

beforeAll(async () => {
  useNoCredentials();
  server = await startVersitygw({ say: () => {}, region: REGION, account: ACCOUNT });
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
  });
  s3 = clientOf(server, REGION);
  await makeLargeBucket(s3, BUCKET, { versions: VERSIONS, tags: OWNED, markers: true });
}, FILLING_MS);

afterAll(async () => {
  s3?.destroy();
  await server?.stop();
});

const run = (changes: RunChanges = {}) =>
  runOnce(s3Bucket, { bucket: BUCKET, account: ACCOUNT, region: REGION }, server.endpoint, {
    time: FILLING_MS,
    ...changes,
  });

it(
  'goes on from invocation to invocation until all is gone (C2)',
  async () => {
    for (let stopped = 0; stopped < STOPPED_RUNS; stopped += 1) {
      const outcome = await run({ abortAt: { call: 's3:DeleteObjects', time: PAGES_A_RUN } });
      expect(outcome).toMatchObject({
        ...{ outcome: 'pending', reason: 'OutOfTime' },
        progress: expect.stringMatching(/^[1-9][\d,]* versions deleted in this run, more remain$/),
      });
    }
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    await expect(s3.send(new HeadBucketCommand({ Bucket: BUCKET }))).rejects.toBeInstanceOf(NotFound);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
  },
  FILLING_MS,
);
