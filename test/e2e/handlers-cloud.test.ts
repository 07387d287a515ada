/*
 * The shipped handlers against S3, EC2 and SNS as the emulator has them: large and odd buckets, the life of an instance.
 * What the emulator cannot show is scripted in test/functions.
 */
import { randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { ebsVolume } from '../../functions/handlers/ebs-volume.ts';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { snsNotify } from '../../functions/handlers/sns-notify.ts';
import { UID } from '../functions/fixtures.ts';
import { OWNED, type RunChanges, runOnce, useNoCredentials } from '../functions/runs.ts';
import {
  addVersions,
  type BucketContent,
  hasBucket,
  instanceState,
  makeBucket,
  makeInstance,
} from '../support/cloud-targets.ts';
import { makeTopic } from '../support/cloud-topics.ts';
import { attach, hasVolume, makeVolume, snapshotTags } from '../support/cloud-volumes.ts';
import { sharedCloud } from '../support/e2e.ts';

useNoCredentials();
const cloud = sharedCloud();
const place = { account: cloud.accountId, region: cloud.region };
const newName = () => `handlers-cloud-${randomUUID()}`;
const keys = (count: number) => Array.from({ length: count }, (_, index) => `logs/${String(index).padStart(5, '0')}`);
const gone = { outcome: 'gone', evidence: 'deleted' };

async function bucketWith(content: BucketContent) {
  const name = newName();
  await makeBucket(cloud, name, { tags: OWNED, ...content });
  const run = (changes: RunChanges = {}) => runOnce(s3Bucket, { ...place, bucket: name }, cloud.endpoint, changes);
  return { name, run };
}

describe('s3-bucket', () => {
  it('takes down 2,000 versions with delete markers and unfinished uploads, pages of one key among them', async () => {
    const { name, run } = await bucketWith({ keys: keys(220), versionsPerKey: 3, deleteMarkers: true, uploads: 3 });
    await addVersions(cloud, name, 'many', 1120);
    expect(await run()).toEqual(gone);
    expect(await hasBucket(cloud, name)).toBe(false);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
  });

  it.each([
    ['never was versioned', { versioning: 'never', keys: keys(3) }],
    ['has versioning suspended', { versioning: 'suspended', keys: keys(3), deleteMarkers: true }],
    ['holds delete markers only', { versioning: 'on', keys: keys(3), versionsPerKey: 0, deleteMarkers: true }],
    ['is empty', {}],
    ['holds an unfinished upload only', { uploads: 1 }],
  ] satisfies readonly (readonly [string, BucketContent])[])(
    'takes down a bucket that %s (C1)',
    async (_what, content) => {
      const { name, run } = await bucketWith(content);
      expect(await run()).toEqual(gone);
      expect(await hasBucket(cloud, name)).toBe(false);
    },
  );

  it('takes down keys of all sorts, also those that XML cannot hold (C3)', async () => {
    // The emulator takes no line feed in a key; that one is scripted.
    const odd = ['a b', 'a+b', 'ü/ö', '%41', '<&>"\'', '😀', 'bell\u0007', 'tab\t', ' ', '//', 'x'.repeat(1000)];
    const { name, run } = await bucketWith({ keys: odd, versionsPerKey: 2, deleteMarkers: true });
    expect(await run()).toEqual(gone);
    expect(await hasBucket(cloud, name)).toBe(false);
  });

  it('stops where its time is used up, goes on in the next run, and reports progress (C2)', async () => {
    const { name, run } = await bucketWith({ keys: keys(20), versionsPerKey: 2 });
    const stopped = { outcome: 'pending', reason: 'OutOfTime' };
    expect(await run({ abortAt: { call: 's3:ListObjectVersions', time: 1 } })).toMatchObject(stopped);
    expect(await hasBucket(cloud, name)).toBe(true);
    expect(await run({ abortAt: { call: 's3:ListMultipartUploads', time: 2 } })).toMatchObject({
      ...stopped,
      progress: '40 versions deleted in this run, more remain',
    });
    expect(await run({ abortAt: { call: 's3:DeleteBucket', time: 1 } })).toMatchObject(stopped);
    expect(await run()).toMatchObject({ outcome: 'gone' });
    expect(await hasBucket(cloud, name)).toBe(false);
  });

  it('empties what is written while it works', async () => {
    const { name, run } = await bucketWith({ keys: keys(300) });
    const s3 = cloud.s3();
    const writing = Promise.allSettled(
      keys(30).map((key) => s3.send(new PutObjectCommand({ Bucket: name, Key: `new/${key}`, Body: 'x' }))),
    );
    let last = await run();
    await writing;
    s3.destroy();
    for (let again = 0; last.outcome === 'pending' && again < 5; again += 1) last = await run();
    expect(last.outcome).toBe('gone');
    expect(await hasBucket(cloud, name)).toBe(false);
  });

  it('refuses a bucket without tags, and leaves it as it is (C10)', async () => {
    const { name, run } = await bucketWith({ tags: {}, keys: ['a'] });
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    expect(await hasBucket(cloud, name)).toBe(true);
  });
});

describe('ec2-instance', () => {
  const run = (instanceId: string, changes: RunChanges = {}) =>
    runOnce(ec2Instance, { ...place, instanceId }, cloud.endpoint, changes);

  it('takes an instance down, and says gone again afterwards (C7)', async () => {
    const id = await makeInstance(cloud, OWNED);
    expect(await run(id)).toEqual(gone);
    expect(await instanceState(cloud, id)).toBe('terminated');
    expect(await run(id)).toMatchObject({ outcome: 'gone' });
  });

  it('says absent for an id that was never there, but not while its object is young (C7, C15)', async () => {
    const id = 'i-00000000000000000';
    expect(await run(id, { deletedAgo: 180_000 })).toEqual({ outcome: 'gone', evidence: 'absent' });
    expect(await run(id)).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(await run(id, { createdAgo: 10_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
  });

  it('refuses a protected instance with the reason, and leaves it', async () => {
    const id = await makeInstance(cloud, OWNED, true);
    expect(await run(id)).toMatchObject({ outcome: 'refused', reason: 'ProtectionEnabled' });
    expect(await instanceState(cloud, id)).toBe('running');
  });

  it('lifts termination protection by option, and terminates in the run after that (C6)', async () => {
    const id = await makeInstance(cloud, OWNED, true);
    const options = { liftProtections: true };
    expect(await run(id, { options })).toMatchObject({ outcome: 'pending', reason: 'ProtectionLifted' });
    expect(await instanceState(cloud, id)).toBe('running');
    expect(await run(id, { options })).toEqual(gone);
  });

  it('marks an instance whose proof is weak, and takes it down', async () => {
    const id = await makeInstance(cloud, { team: 'a' });
    const later = { deletedAgo: -60_000, ownership: { tags: { team: 'a' } } };
    expect(await run(id, { ...later, deletedAgo: 3_600_000 })).toMatchObject({ reason: 'YoungerThanDeletion' });
    expect(await run(id, later)).toEqual(gone);
  });

  it('takes down the instances that carry the tags of the rule, and no others (C7)', async () => {
    const set = randomUUID();
    const [first, second] = [
      await makeInstance(cloud, { ...OWNED, set }),
      await makeInstance(cloud, { ...OWNED, set }),
    ];
    const other = await makeInstance(cloud, OWNED);
    const byTags = (changes: RunChanges) =>
      runOnce(ec2Instance, { ...place, tags: [`set=${set}`] }, cloud.endpoint, changes);
    // So soon after the deletion began another may carry them that is not visible yet.
    expect(await byTags({})).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(await byTags({ deletedAgo: 180_000 })).toEqual(gone);
    for (const id of [first, second]) expect(await instanceState(cloud, id)).toBe('terminated');
    expect(await instanceState(cloud, other)).toBe('running');
  });

  it('deletes by option the volume that stays when the instance goes', async () => {
    const id = await makeInstance(cloud, OWNED);
    const [ours, foreign] = [await makeVolume(cloud, OWNED), await makeVolume(cloud, {})];
    await attach(cloud, id, { '/dev/sdf': ours, '/dev/sdg': foreign });
    const options = { deleteVolumes: true, releaseAddresses: true };
    for (let again = 0; again < 3; again += 1) await run(id, { options });
    expect(await run(id, { options })).toEqual(gone);
    expect([await hasVolume(cloud, ours), await hasVolume(cloud, foreign)]).toEqual([false, true]);
  });

  it('refuses an instance of another account (C11)', async () => {
    const id = await makeInstance(cloud, OWNED);
    const target = { ...place, account: '999999999999', instanceId: id };
    expect(await runOnce(ec2Instance, target, cloud.endpoint)).toMatchObject({ reason: 'AccountMismatch' });
    expect(await instanceState(cloud, id)).toBe('running');
  });
});

describe('ebs-volume', () => {
  const run = (volumeId: string, changes: RunChanges = {}) =>
    runOnce(ebsVolume, { ...place, volumeId }, cloud.endpoint, changes);

  it('waits for a volume that is attached, and deletes it once it is not', async () => {
    const [id, instance] = [await makeVolume(cloud, OWNED), await makeInstance(cloud)];
    await attach(cloud, instance, { '/dev/sdf': id });
    expect(await run(id)).toMatchObject({ outcome: 'pending', reason: 'Attached' });
    expect(await run(id, { options: { forceDetach: true } })).toMatchObject({ outcome: 'pending', reason: 'Attached' });
    expect(await run(id)).toEqual(gone);
    expect(await hasVolume(cloud, id)).toBe(false);
    expect(await run(id, { deletedAgo: 180_000 })).toEqual({ outcome: 'gone', evidence: 'absent' });
  });

  it('makes one snapshot first by option, with the proof of ownership, and keeps it', async () => {
    const id = await makeVolume(cloud, OWNED);
    const options = { snapshot: true };
    expect(await run(id, { options })).toMatchObject({ outcome: 'pending', reason: 'Snapshotting' });
    expect(await run(id, { options })).toEqual(gone);
    expect(await snapshotTags(cloud, id)).toEqual([expect.objectContaining(OWNED)]);
  });
});

describe('sns-notify', () => {
  it('tells the subscribers of a topic, each time with the id of the deletion', async () => {
    const { topicArn, heard } = await makeTopic(cloud, newName());
    const run = () => runOnce(snsNotify, { topicArn }, cloud.endpoint, { ownership: { none: true } });
    expect(await run()).toEqual(gone);
    expect(await run()).toEqual(gone);
    const ids = (await heard()).map((message) => JSON.parse(message).id);
    expect(ids).toEqual([`${UID}/team-buckets`, `${UID}/team-buckets`]);
  });

  it('refuses a topic that is not there, as nobody would be told', async () => {
    const { topicArn } = await makeTopic(cloud, newName());
    const run = () => runOnce(snsNotify, { topicArn: `${topicArn}-no` }, cloud.endpoint, { ownership: { none: true } });
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'TopicNotFound' });
  });
});
