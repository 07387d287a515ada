/*
 * The handler ebs-volume against scripted answers of EC2, through the real SDK client.
 * Snapshots before the deletion are in ebs-volume-snapshot.test.ts, a volume's life in the emulator in test/e2e.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { ebsVolume } from '../../functions/handlers/ebs-volume.ts';
import { KEEP_TAG, MARK_TAG } from '../../functions/ownership.ts';
import { ec2Error } from '../support/scripted-aws.ts';
import { done, parametersOf, volumes } from '../support/scripted-ec2.ts';
import { ACCOUNT, OWNER_TAG, REGION, UID } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const volumeId = 'vol-0123456789abcdef0';
const target = { volumeId, region: REGION, account: ACCOUNT };
const run = (changes: RunChanges = {}) => runOnce(ebsVolume, target, aws.endpoint, { deletedAgo: 180_000, ...changes });
const free = { volumeId, state: 'available', tags: OWNED };
const LOOK = 'ec2:DescribeVolumes';
const DELETE = 'ec2:DeleteVolume';
const none = ec2Error(400, 'InvalidVolume.NotFound');
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const isDeleted = () => aws.operations().includes(DELETE);

beforeEach(() => {
  aws.on(DELETE, done('DeleteVolume'));
  aws.on('ec2:CreateTags', done('CreateTags'));
  aws.on('ec2:DetachVolume', done('DetachVolume'));
});

describe('looking', () => {
  it.each([
    ['an unknown id', none],
    ['an empty answer', volumes([])],
    ['an answer about another volume only', volumes([{ ...free, volumeId: 'vol-ffffffffffffffff0' }])],
  ])('says gone, absent, on %s, confirmed by another look', async (_what, reply) => {
    aws.on(LOOK, reply);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
    expect(aws.operations()).toEqual([LOOK, LOOK]);
  });

  it('goes on with what the other look finds', async () => {
    aws.on(LOOK, none, volumes([free]), volumes([free]), volumes([free]), none);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it.each([{ createdAgo: 60_000 }, { deletedAgo: 60_000 }])(
    'waits while a volume that is not found may only not be visible yet: %j (C15)',
    async (ages) => {
      aws.on(LOOK, none);
      expect(await run(ages)).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    },
  );

  it('P1 waits as well where only the look directly before the delete does not find it (C15)', async () => {
    aws.on(LOOK, volumes([free]), none);
    expect(await run({ createdAgo: 60_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(isDeleted()).toBe(false);
  });

  it.each([
    ['UnauthorizedOperation', 403],
    ['InvalidVolume.NotFound', 403],
    ['InvalidVolume.NotFound', 503],
    ['InvalidInstanceID.NotFound', 400],
    ['RequestLimitExceeded', 503],
  ] as const)('takes %s with status %i for "again"', async (code, status) => {
    aws.on(LOOK, ec2Error(status, code));
    expect(await run()).toMatchObject({ outcome: 'pending' });
    expect(isDeleted()).toBe(false);
  });

  it('refuses a volume of another account, where EC2 says whose it is (C11)', async () => {
    aws.on(LOOK, volumes([{ ...free, owner: '999999999999' }]));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'AccountMismatch' });
    expect(isDeleted()).toBe(false);
  });

  it.each(['', 'vol-', 'vol-*', '*', 'vol-0123', 'vol-0123456789ABCDEF0', 'i-0123456789abcdef0'])(
    'refuses %j as the id of a volume (C12)',
    (id) => {
      expect(ebsVolume.prepare({ ...target, volumeId: id }, {})).toMatchObject({ ok: false, reason: 'InvalidTarget' });
    },
  );
});

describe('ownership', () => {
  it.each([
    ['no tags', {}, 'NotOwned'],
    ['the tag of another object', { [OWNER_TAG]: 'other' }, 'NotOwned'],
    ['the keep tag', { ...OWNED, [KEEP_TAG]: 'no' }, 'Kept'],
  ])('refuses a volume with %s, also while it is attached', async (_what, tags, reason) => {
    aws.on(LOOK, volumes([{ ...free, tags }]));
    expect(await run()).toMatchObject({ outcome: 'refused', reason });
    aws.on(LOOK, volumes([{ ...free, tags, state: 'in-use', attachedTo: { 'i-1': 'attached' } }]));
    expect(await run({ options: { forceDetach: true } })).toMatchObject({ outcome: 'refused', reason });
    expect(aws.operations()).toEqual([LOOK, LOOK]);
  });

  it('takes the tags of the CSI driver for a proof that does not name the object’s uid', async () => {
    const tags = { CSIVolumeName: 'pvc-1', 'kubernetes.io/cluster/production': 'owned' };
    aws.on(LOOK, volumes([{ ...free, tags, createTime: ago(86_400_000) }]));
    await run({ ownership: { tags } });
    expect(aws.operations()).toEqual([LOOK, 'ec2:CreateTags', LOOK, DELETE, LOOK]);
  });

  it('refuses what is younger than the deletion where the proof does not name the uid, unless marked (V12)', async () => {
    const weak = { ownership: { tags: { team: 'a' } } };
    const younger = { ...free, tags: { team: 'a' }, createTime: ago(30_000) };
    aws.on(LOOK, volumes([younger]));
    expect(await run(weak)).toMatchObject({ outcome: 'refused', reason: 'YoungerThanDeletion' });
    expect(aws.operations()).toEqual([LOOK]);
    aws.on(LOOK, volumes([{ ...younger, tags: { team: 'a', [MARK_TAG]: `${UID}/team-buckets` } }]));
    expect(await run(weak)).toMatchObject({ outcome: 'pending', reason: 'Deleting' });
    expect(aws.operations()).not.toContain('ec2:CreateTags');
  });

  it('marks an older one first, with the proof read again before it is deleted (V12, V13)', async () => {
    const older = { ...free, tags: { team: 'a' }, createTime: ago(86_400_000) };
    aws.on(LOOK, volumes([older]), volumes([{ ...older, tags: { team: 'a', [KEEP_TAG]: '' } }]));
    expect(await run({ ownership: { tags: { team: 'a' } } })).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(parametersOf(aws, 'ec2:CreateTags')).toMatchObject([
      { 'ResourceId.1': volumeId, 'Tag.1.Key': MARK_TAG, 'Tag.1.Value': `${UID}/team-buckets` },
    ]);
    expect(isDeleted()).toBe(false);
  });
});

describe('deleting', () => {
  it('reads ownership again, deletes once, looks again', async () => {
    aws.on(LOOK, volumes([free]), volumes([free]), none);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations()).toEqual([LOOK, LOOK, DELETE, LOOK]);
    expect(parametersOf(aws, DELETE)).toMatchObject([{ VolumeId: volumeId }]);
  });

  it('is pending with progress while EC2 deletes, or still answers as before', async () => {
    const deleting = { outcome: 'pending', reason: 'Deleting', progress: 'the deletion of the volume has begun' };
    for (const last of [{ ...free, state: 'deleting' }, free]) {
      aws.on(LOOK, volumes([free]), volumes([free]), volumes([last]));
      expect(await run()).toMatchObject(deleting);
    }
    aws.reset();
    aws.on(LOOK, volumes([{ ...free, state: 'deleting' }]));
    expect(await run()).toMatchObject(deleting);
    expect(aws.operations()).toEqual([LOOK]);
  });

  it('reads the state before the tags: what is going without its tags goes, but is not this deletion’s work', async () => {
    aws.on(LOOK, volumes([{ ...free, state: 'deleting', tags: {} }]));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Deleting' });
    expect(outcome).not.toHaveProperty('progress');
    aws.on(LOOK, volumes([{ ...free, state: 'deleted', tags: {} }]));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
    aws.on(LOOK, volumes([{ ...free, state: 'deleted' }]));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it.each([
    ['VolumeInUse', 'pending'],
    ['IncorrectState', 'pending'],
    ['OperationNotPermitted', 'refused'],
  ])('takes %s for %s', async (code, outcome) => {
    aws.on(LOOK, volumes([free]));
    aws.on(DELETE, ec2Error(400, code));
    expect(await run()).toMatchObject({ outcome, reason: code });
  });

  it('deletes a volume that is in error, and waits for one that is still being created', async () => {
    aws.on(LOOK, volumes([{ ...free, state: 'error' }]), volumes([{ ...free, state: 'error' }]), none);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    aws.on(LOOK, volumes([{ ...free, state: 'creating' }]));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Creating' });
  });
});

describe('an attached volume', () => {
  const held = { ...free, state: 'in-use', attachedTo: { 'i-1': 'attached', 'i-2': 'attached' } };

  it('is waited for, says what holds it, and is no progress of the deletion', async () => {
    aws.on(LOOK, volumes([held]));
    const outcome = await run();
    expect(outcome).toMatchObject({
      outcome: 'pending',
      reason: 'Attached',
      message: expect.stringContaining('i-1, i-2'),
    });
    expect(outcome).not.toHaveProperty('progress');
    expect(aws.operations()).toEqual([LOOK]);
  });

  it.each([
    ['that is being detached', { ...held, attachedTo: { 'i-1': 'detaching' } }],
    ['that nothing is named for', { ...held, attachedTo: {} }],
    ['that was attached again since the first look', held],
  ])('%s is not deleted', async (_what, volume) => {
    aws.on(LOOK, volumes([volume === held ? free : volume]), volumes([volume]));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Attached' });
    expect(isDeleted()).toBe(false);
  });

  it('is detached by force from everything that holds it only by option, and deleted in a later run', async () => {
    aws.on(LOOK, volumes([{ ...held, attachedTo: { ...held.attachedTo, 'i-3': 'detaching', 'i-4': 'detached' } }]));
    expect(await run({ options: { forceDetach: true } })).toMatchObject({ outcome: 'pending', reason: 'Attached' });
    expect(parametersOf(aws, 'ec2:DetachVolume')).toMatchObject([
      { VolumeId: volumeId, InstanceId: 'i-1', Force: 'true' },
      { VolumeId: volumeId, InstanceId: 'i-2', Force: 'true' },
    ]);
    expect(isDeleted()).toBe(false);
  });

  it('that EC2 does not detach is refused with the reason', async () => {
    aws.on(LOOK, volumes([held]));
    aws.on('ec2:DetachVolume', ec2Error(400, 'OperationNotPermitted'));
    const message = `detaching ${volumeId} from i-1 by force: OperationNotPermitted`;
    expect(await run({ options: { forceDetach: true } })).toMatchObject({ outcome: 'refused', message });
  });

  it('needs the word of the function’s configuration for force, and the right to it', () => {
    expect(ebsVolume.prepare(target, { forceDetach: true })).toMatchObject({ dangers: ['forceDetach'] });
    const allow = { accounts: [ACCOUNT], regions: [REGION], names: ['vol-*'] };
    const detaching = ebsVolume.permissions.find(({ actions }) => actions.includes('ec2:DetachVolume'));
    expect(detaching?.resources(allow)).toEqual([]);
    expect(detaching?.resources({ ...allow, options: ['forceDetach'] })).toEqual([
      `arn:aws:ec2:${REGION}:${ACCOUNT}:volume/vol-*`,
      `arn:aws:ec2:${REGION}:${ACCOUNT}:instance/*`,
    ]);
  });
});
