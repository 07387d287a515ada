/*
 * The checks of verify-aws.ts about buckets: the conformance suite of s3-bucket, and what docs/verified.md leaves to AWS of it.
 * Each makes a bucket of its own.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import {
  GetBucketTaggingCommand,
  ListBucketsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { TagResourceCommand } from '../../functions/handlers/s3-bucket/control.ts';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { KEEP_TAG, MARK_TAG } from '../../functions/ownership.ts';
import { arnPartition } from '../../functions/places.ts';
import { runAborting, runOnce, runToEnd, type Subject } from '../../functions/testing/runs.ts';
import type { ConformanceHarness } from '../../functions/testing.ts';
import type { Site } from './account.ts';
import { type Check, harnessOf, OWNED, suite } from './harness.ts';
import { bucketScene } from './scenes.ts';

/** The checks. */
export function bucketChecks(site: Site): readonly Check[] {
  const { account, region } = site;
  const absent = { target: { bucket: site.name(), region, account }, exists: async () => false };
  const harness: ConformanceHarness = {
    ...harnessOf(site),
    absent: async () => absent,
    owned: () => bucketScene(site, OWNED),
    foreign: () => bucketScene(site, {}),
    kept: () => bucketScene(site, { ...OWNED, [KEEP_TAG]: 'true' }),
  };
  const subject = { handler: s3Bucket, harness };
  return [
    ...suite('s3', s3Bucket, harness),
    { id: 'S1-owner', title: 'a bucket of somebody else is denied, and not absent', run: () => wrongOwner(site) },
    {
      id: 'S2-deny-writes',
      title: 'while a bucket is emptied nobody can write into it',
      run: () => deniedWrites(site, subject),
    },
    {
      id: 'S4-date',
      title: 'a bucket is dated anew when its policy changes, which is why the mark is put on first',
      run: () => datedAnew(site),
    },
    { id: 'S4-mark', title: 'one tag put on a bucket leaves its other tags alone', run: () => oneTag(site) },
    {
      id: 'S6-governance',
      title: 'retention in governance mode is refused with its date, and yields to the option',
      run: () => governance(site, subject),
    },
  ];
}

async function wrongOwner(site: Site): Promise<void> {
  const { s3 } = site;
  const { name } = await bucketScene(site, OWNED);
  const asked = s3.send(new GetBucketTaggingCommand({ Bucket: name, ExpectedBucketOwner: '000000000000' }));
  assert.equal(await statusOf(asked), 403);
}

async function deniedWrites(site: Site, subject: Subject): Promise<void> {
  const { s3 } = site;
  const scene = await bucketScene(site, OWNED);
  const controller = new AbortController();
  const observe = (call: string) => {
    if (call === 's3:DeleteObjects') controller.abort();
  };
  await runAborting(subject, scene, { signal: controller.signal, observe });
  assert.equal(await statusOf(s3.send(new PutObjectCommand({ Bucket: scene.name, Key: 'late', Body: 'x' }))), 403);
  assert.equal((await runToEnd(subject, scene)).outcome, 'gone');
}

async function datedAnew(site: Site): Promise<void> {
  const { s3, region } = site;
  const { name } = await bucketScene(site, OWNED);
  const dated = async () => {
    const { Buckets = [] } = await s3.send(new ListBucketsCommand({ Prefix: name }));
    return Buckets.find(({ Name }) => Name === name)?.CreationDate?.getTime();
  };
  const before = await dated();
  const Statement = [
    {
      ...{ Effect: 'Deny', Principal: '*', Action: 's3:PutObjectAcl' },
      Resource: `arn:${arnPartition(region)}:s3:::${name}/*`,
    },
  ];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  await wait(2000);
  await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy }));
  assert.notEqual(await dated(), before, 'its date did not move');
}

async function oneTag(site: Site): Promise<void> {
  const { s3, account, region } = site;
  const { name } = await bucketScene(site, { team: 'fb-verify', other: 'stays' });
  const ResourceArn = `arn:${arnPartition(region)}:s3:::${name}`;
  const Tags = [{ Key: MARK_TAG, Value: 'fb-verify' }];
  await s3.send(new TagResourceCommand({ AccountId: account, ResourceArn, Tags }));
  const { TagSet = [] } = await s3.send(new GetBucketTaggingCommand({ Bucket: name }));
  assert.deepEqual(TagSet.map(({ Key }) => Key).sort(), [MARK_TAG, 'other', 'team']);
}

async function governance(site: Site, subject: Subject): Promise<void> {
  const { s3 } = site;
  const scene = await bucketScene(site, OWNED, true);
  const { VersionId } = await s3.send(new PutObjectCommand({ Bucket: scene.name, Key: 'locked', Body: 'x' }));
  const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(Date.now() + 86_400_000) } as const;
  const locked = { Bucket: scene.name, Key: 'locked', ...(VersionId === undefined ? {} : { VersionId }) };
  await s3.send(new PutObjectRetentionCommand({ ...locked, Retention }));
  const outcome = await runOnce(subject, scene);
  assert.equal('reason' in outcome && outcome.reason, 'ObjectLocked');
  const last = await runToEnd(subject, { ...scene, options: { retentionBypass: true } });
  assert.equal(last.outcome, 'gone');
}

/** The HTTP status that a call is refused with; 200 if it is not. */
async function statusOf(call: Promise<unknown>): Promise<number | undefined> {
  try {
    await call;
    return 200;
  } catch (error) {
    if (error instanceof S3ServiceException) return error.$metadata.httpStatusCode;
    throw error;
  }
}
