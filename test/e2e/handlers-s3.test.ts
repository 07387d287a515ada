/*
 * The handler s3-bucket against S3 as the emulator has it: locks, access points, the policy that keeps writers out, the mark.
 * What the emulator cannot show is scripted in test/functions; docs/verified.md says which is which.
 */
import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { MARK_TAG } from '../../functions/ownership.ts';
import { OWNED, type RunChanges, runOnce, useNoCredentials } from '../functions/runs.ts';
import { type BucketContent, hasBucket, makeBucket } from '../support/cloud-targets.ts';
import { sharedCloud } from '../support/e2e.ts';

useNoCredentials();
const cloud = sharedCloud();
const s3 = cloud.s3();
afterAll(() => s3.destroy());

const gone = { outcome: 'gone', evidence: 'deleted' };
const newName = () => `handlers-s3-${randomUUID()}`;
const runOn =
  (bucket: string) =>
  (changes: RunChanges = {}) =>
    runOnce(s3Bucket, { account: cloud.accountId, region: cloud.region, bucket }, cloud.endpoint, changes);
const untilListing: RunChanges = { abortAt: { call: 's3:ListMultipartUploads', time: 1 } };

async function bucketWith(content: BucketContent) {
  const name = newName();
  await makeBucket(cloud, name, { tags: OWNED, ...content });
  return { name, run: runOn(name), put: () => s3.send(new PutObjectCommand({ Bucket: name, Key: 'late', Body: 'x' })) };
}

describe('object lock', () => {
  /** A bucket with object lock on and two versions, the second of which is locked. */
  async function lockedBucket(lock: { readonly hold: true } | { readonly mode: 'GOVERNANCE' | 'COMPLIANCE' }) {
    const Bucket = newName();
    const LocationConstraint = 'eu-central-1';
    await s3.send(
      new CreateBucketCommand({
        Bucket,
        CreateBucketConfiguration: { LocationConstraint },
        ObjectLockEnabledForBucket: true,
      }),
    );
    const TagSet = Object.entries(OWNED).map(([Key, Value]) => ({ Key, Value }));
    await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
    for (const Key of ['free', 'locked']) await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    const RetainUntilDate = new Date(Date.UTC(2099, 0, 1));
    const at = { Bucket, Key: 'locked' };
    if ('hold' in lock) await s3.send(new PutObjectLegalHoldCommand({ ...at, LegalHold: { Status: 'ON' } }));
    else await s3.send(new PutObjectRetentionCommand({ ...at, Retention: { Mode: lock.mode, RetainUntilDate } }));
    return { name: Bucket, run: runOn(Bucket) };
  }
  const bypassing = { options: { retentionBypass: true } };

  it('in governance mode keeps the version, and yields to the option (C4)', async () => {
    const { name, run } = await lockedBucket({ mode: 'GOVERNANCE' });
    // The emulator tells nobody until when.
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
    expect(await run({ attempt: 2 })).toMatchObject({ outcome: 'refused', reason: 'AccessDeniedOrForeign' });
    expect(await hasBucket(cloud, name)).toBe(true);
    expect(await run(bypassing)).toEqual(gone);
    expect(await hasBucket(cloud, name)).toBe(false);
  });

  it('in compliance mode, or with a legal hold, yields to nobody (C4)', async () => {
    const retained = await lockedBucket({ mode: 'COMPLIANCE' });
    expect(await retained.run(bypassing)).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
    const held = await lockedBucket({ hold: true });
    expect(await held.run(bypassing)).toMatchObject({ outcome: 'refused', reason: 'LegalHold' });
    expect(await hasBucket(cloud, retained.name)).toBe(true);
    expect(await hasBucket(cloud, held.name)).toBe(true);
  });
});

describe('the policy of a bucket that is emptied', () => {
  it('keeps writers out until the bucket is gone (C8, C13)', async () => {
    const { name, run, put } = await bucketWith({ keys: ['a'] });
    expect(await run(untilListing)).toMatchObject({ outcome: 'pending' });
    await expect(put()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    expect(await run()).toEqual(gone);
    expect(await hasBucket(cloud, name)).toBe(false);
  });

  it('is as it was, byte for byte, after a refusal (C13)', async () => {
    const { name, run, put } = await bucketWith({ keys: ['a'] });
    const theirs = `{"Version":"2012-10-17","Statement":[{"Sid":"Read","Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::${name}/*"}]}`;
    await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy: theirs }));
    await run(untilListing);
    await expect(put()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    const TagSet = [...Object.entries(OWNED), ['finalizer-bridge.dev/keep', '']].map(([Key, Value]) => ({
      Key,
      Value,
    }));
    await s3.send(new PutBucketTaggingCommand({ Bucket: name, Tagging: { TagSet } }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    const { Policy } = await s3.send(new GetBucketPolicyCommand({ Bucket: name }));
    expect(Policy).toBe(theirs);
    await put();
  });
});

describe('access points', () => {
  it('are refused by name, and deleted with the bucket by option', async () => {
    const { name, run } = await bucketWith({ keys: ['a'] });
    const point = `point-${randomUUID().slice(0, 8)}`;
    const made = await fetch(`${cloud.endpoint}/v20180820/accesspoint/${point}`, {
      method: 'PUT',
      headers: { 'x-amz-account-id': cloud.accountId, authorization: credentialFor('s3') },
      body: `<CreateAccessPointRequest xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><Bucket>${name}</Bucket></CreateAccessPointRequest>`,
    });
    expect(made.status, await made.text()).toBe(200);
    const refusal = await run();
    expect(refusal).toMatchObject({ outcome: 'refused', reason: 'AccessPointsAttached' });
    expect(JSON.stringify(refusal)).toContain(point);
    expect(await run({ options: { detachAccessPoints: true } })).toEqual(gone);
  });

  /** Enough for the emulator to know which service is meant; it checks no signature. */
  function credentialFor(service: string): string {
    return `AWS4-HMAC-SHA256 Credential=local/20300101/${cloud.region}/${service}/aws4_request, SignedHeaders=host, Signature=0`;
  }
});

describe('under a proof by name', () => {
  const tags = { 'team.example.com/name': 'logs' };
  const weak: RunChanges = { ownership: { tags } };

  it('a bucket made after the deletion began is left, and one from before is marked and goes (V12)', async () => {
    const { name, run } = await bucketWith({ tags, keys: ['a'] });
    expect(await run({ ...weak, deletedAgo: 3_600_000 })).toMatchObject({ reason: 'YoungerThanDeletion' });
    const longAfter: RunChanges = { ...weak, deletedAgo: -3_600_000 };
    expect(await run({ ...longAfter, ...untilListing })).toMatchObject({ outcome: 'pending' });
    const { TagSet = [] } = await s3.send(new GetBucketTaggingCommand({ Bucket: name }));
    expect(TagSet.map(({ Key }) => Key).sort()).toEqual([MARK_TAG, ...Object.keys(tags)].sort());
    expect(await run({ ...weak, deletedAgo: 3_600_000 })).toEqual(gone);
  });
});
