/*
 * The function, as it is shipped, killed with SIGKILL at every step of a teardown and started again: it finishes. Tripwires
 * in front of the cloud and the queue hit the exact point before and after each of its calls.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { bucketCall, nth, queueCall } from '../support/cloud-calls.ts';
import { type KillPoint, type Place, type Stage, startStage } from '../support/kill-points.ts';
import type { Point } from '../support/tripwire.ts';

/** Versions in a bucket, and how many the cloud lists at once: S3 may always list fewer than it was asked for. */
const VERSIONS = 6;
const PAGE = 2;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage('killfunction');
  stage
    .place('any')
    .site.wires()
    .s3.watch(async ({ phase, path }) => {
      const isListing = phase === 'asked' && /[?&]versions\b/.test(path);
      return isListing ? { send: { path: path.replace(/max-keys=\d+/, `max-keys=${PAGE}`) } } : 'pass';
    });
});
afterAll(() => stage?.stop());

const requestsOf = ({ site }: Place) => site.handler('s3-bucket').requests.url;
type Phase = Point['phase'];

const inS3 = (call: Parameters<typeof bucketCall>[1], phase: Phase, count = 1): KillPoint => ({
  wire: 's3',
  at: ({ bucket }) => nth(count, bucketCall(bucket, call, phase)),
});
const inRequests = (operation: Parameters<typeof queueCall>[0]['operation'], phase: Phase): KillPoint => ({
  wire: 'sqs',
  at: (place) => queueCall({ operation, queueUrl: requestsOf(place) }, phase),
});
const inResults = (phase: Phase): KillPoint => ({
  wire: 'sqs',
  at: ({ site }) => queueCall({ operation: 'SendMessageBatch', queueUrl: site.results.url }, phase),
});

const STEPS: readonly (readonly [string, KillPoint])[] = [
  ['when the request has been received', inRequests('ReceiveMessage', 'answered')],
  ['before it hides the request for the length of its run', inRequests('ChangeMessageVisibilityBatch', 'asked')],
  ['before GetBucketTagging', inS3('GET ?tagging', 'asked')],
  ['after GetBucketTagging', inS3('GET ?tagging', 'answered')],
  ['before PutBucketPolicy', inS3('PUT ?policy', 'asked')],
  ['after PutBucketPolicy', inS3('PUT ?policy', 'answered')],
  ['before ListObjectVersions', inS3('GET ?versions', 'asked')],
  ['after ListObjectVersions', inS3('GET ?versions', 'answered')],
  ['before the first DeleteObjects', inS3('POST ?delete', 'asked')],
  ['after the first DeleteObjects of several', inS3('POST ?delete', 'answered')],
  ['before the second DeleteObjects', inS3('POST ?delete', 'asked', 2)],
  ['after the second DeleteObjects', inS3('POST ?delete', 'answered', 2)],
  ['before DeleteBucket', inS3('DELETE', 'asked')],
  ['after DeleteBucket', inS3('DELETE', 'answered')],
  ['before the result is sent', inResults('asked')],
  ['after the result was sent', inResults('answered')],
  ['before its request is deleted', inRequests('DeleteMessageBatch', 'asked')],
  ['after its request was deleted', inRequests('DeleteMessageBatch', 'answered')],
];

describe('the function, killed while it takes a bucket down', () => {
  it.each(STEPS.map(([title, point], index) => [title, `step-${index}`, point] as const))(
    'P5 %s, finishes when it is started again',
    async (_title, name, point) => {
      const made = await stage.buckets.create(name, { versions: VERSIONS });
      const killed = stage.killAt('function', point, stage.place(name));
      await stage.buckets.delete(name);
      await killed;

      await stage.restart('function');

      await stage.expectEnd(made);
    },
  );
});
