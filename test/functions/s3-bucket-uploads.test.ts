/*
 * The handler s3-bucket and what S3 lists and does not know, or does not let go: unfinished uploads and versions whose
 * deletion says "not there", and uploads that cannot be aborted. Scripted answers, through the real SDK client.
 */
import { describe, expect, it } from 'vitest';
import { deleteResult, noContent, type Reply, s3Error, uploads, versions } from '../support/scripted-aws.ts';
import { one, scriptedBucket } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();
const GHOST = uploads([{ key: 'ghost', uploadId: 'u1' }]);

describe('what is listed and is not there', () => {
  it('P4 an upload is no reason to look for ever: the bucket is deleted', async () => {
    aws.on('s3:ListMultipartUploads', GHOST);
    aws.on('s3:AbortMultipartUpload', s3Error(404, 'NoSuchUpload'));

    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });

    expect(deletes()).toEqual(['s3:AbortMultipartUpload', 's3:DeleteBucket']);
  });

  it.each([
    { how: 'together', key: 'a', call: 's3:DeleteObjects' },
    { how: 'alone', key: 'bell\u0007', call: 's3:DeleteObject' },
  ])('P4 a version that is deleted $how is no reason to look for ever', async ({ key, call }) => {
    aws.on('s3:ListObjectVersions', versions([{ key, versionId: 'v1' }]));
    aws.on('s3:DeleteObjects', deleteResult([{ key, versionId: 'v1', code: 'NoSuchVersion' }]));
    aws.on('s3:DeleteObject', s3Error(404, 'NoSuchVersion'));

    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });

    expect(deletes()).toEqual([call, 's3:DeleteBucket']);
  });

  it('a bucket that is not empty all the same is pending, after a few rounds', async () => {
    aws.on('s3:ListMultipartUploads', GHOST);
    aws.on('s3:AbortMultipartUpload', s3Error(404, 'NoSuchUpload'));
    aws.on('s3:DeleteBucket', s3Error(409, 'BucketNotEmpty'));

    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Refilled' });
  });
});

describe('P4 a listing whose pages lead back to one before them', () => {
  const round = (reply: (next: { readonly key: string }) => Reply) => {
    let page = 0;
    return () => {
      page += 1;
      return reply({ key: `k${page % 3}` });
    };
  };
  const lists = (operation: string) => aws.operations().filter((one) => one === operation).length;

  it.each([
    ['s3:ListObjectVersions', round((next) => versions([], next)), 'listing versions of'],
    ['s3:ListMultipartUploads', round((next) => uploads([], next)), 'listing uploads of'],
  ])('is given up by %s, and that is said', async (operation, reply, says) => {
    aws.on(operation, reply);

    const outcome = await run();

    expect(outcome).toMatchObject({ outcome: 'pending', message: expect.stringContaining(says) });
    expect(outcome).toMatchObject({ message: expect.stringContaining('leads back to itself, or to one before it') });
    expect(lists(operation)).toBeLessThan(10);
    expect(deletes()).toEqual([]);
  });
});

it('P10 a version that cannot be deleted alone does not keep the others', async () => {
  const odd = { key: 'bell\u0007', versionId: 'v1' };
  aws.on('s3:ListObjectVersions', versions([odd, ...one]), versions([odd]));
  aws.on('s3:DeleteObject', s3Error(404, 'NoSuchRoute'));

  const outcome = await run();

  expect(aws.operations()).toContain('s3:DeleteObjects');
  expect(outcome).toMatchObject({ outcome: 'pending', reason: 'NotEmptying' });
});

describe('an upload that cannot be aborted', () => {
  it('P10 does not keep the versions, and is told of when nothing else is left', async () => {
    aws.on('s3:ListMultipartUploads', uploads(['a', 'b'].map((key) => ({ key, uploadId: key }))), GHOST);
    aws.on('s3:AbortMultipartUpload', s3Error(400, 'InvalidArgument'), noContent, s3Error(400, 'InvalidArgument'));
    aws.on('s3:ListObjectVersions', versions(one), versions([]));

    const outcome = await run();

    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'NotEmptying' });
    expect(JSON.stringify(outcome)).toContain('InvalidArgument');
    expect(aws.operations()).toContain('s3:DeleteObjects');
    expect(aws.operations()).not.toContain('s3:DeleteBucket');
  });

  it('says so when that is denied', async () => {
    aws.on('s3:ListMultipartUploads', GHOST);
    aws.on('s3:AbortMultipartUpload', s3Error(403, 'AccessDenied'));

    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
  });
});
