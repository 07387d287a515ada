/*
 * The snapshot that ebs-volume makes before it deletes, by option. Against scripted answers of EC2, through the real SDK
 * client: the emulator completes every snapshot at once.
 */
import { beforeEach, expect, it } from 'vitest';
import { CLAIM_TAG, SETTLE_MS } from '../../functions/handlers/ebs-volume/snapshot.ts';
import { ebsVolume } from '../../functions/handlers/ebs-volume.ts';
import { KEEP_TAG, MARK_TAG } from '../../functions/ownership.ts';
import type { Clock } from '../../functions/ports.ts';
import { ec2Error } from '../support/scripted-aws.ts';
import {
  type DescribedVolume,
  done,
  parametersOf,
  snapshotBegun,
  snapshots,
  volumes,
} from '../support/scripted-ec2.ts';
import { ACCOUNT, OWNER_TAG, REGION, UID } from './fixtures.ts';
import { OWNED, type RunChanges, realClock, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const volumeId = 'vol-0123456789abcdef0';
/** The wait for other runs takes no time here. */
const clock: Clock = {
  ...realClock,
  after: (delay, callback) => realClock.after(delay === SETTLE_MS ? 20 : delay, callback),
};
const run = (changes: RunChanges = {}) =>
  runOnce(ebsVolume, { volumeId, region: REGION, account: ACCOUNT }, aws.endpoint, {
    ...{ deletedAgo: 180_000, options: { snapshot: true }, clock, random: Math.random, ...changes },
  });
const free = { volumeId, state: 'available', tags: OWNED };
const mark = `${UID}/team-buckets`;
const own = { snapshotId: 'snap-1', volumeId, tags: { ...OWNED, [MARK_TAG]: mark } };
const CREATE = 'ec2:CreateSnapshot';
/** What runs have claimed; the last one stands in the tag. */
const claims: string[] = [];
const showVolume = (volume: DescribedVolume) =>
  aws.on('ec2:DescribeVolumes', () => {
    const claim = claims.at(-1);
    return volumes([{ ...volume, tags: { ...volume.tags, ...(claim === undefined ? {} : { [CLAIM_TAG]: claim }) } }]);
  });
const made = (operation: string) => aws.operations().includes(operation);

beforeEach(() => {
  claims.length = 0;
  showVolume(free);
  aws.on('ec2:CreateTags', ({ body }) => {
    claims.push(new URLSearchParams(body).get('Tag.1.Value') ?? '');
    return done('CreateTags');
  });
  aws.on('ec2:DescribeSnapshots', snapshots([]));
  aws.on(CREATE, snapshotBegun({ ...own, state: 'pending' }));
  aws.on('ec2:DeleteVolume', done('DeleteVolume'));
});

it('makes a snapshot with the proof of ownership and the mark, and does not delete before it is complete', async () => {
  const outcome = await run();
  expect(outcome).toMatchObject({
    outcome: 'pending',
    reason: 'Snapshotting',
    message: expect.stringContaining('snap-1'),
  });
  // Nothing is being deleted yet, so an absence later on would not be this deletion's work.
  expect(outcome).not.toHaveProperty('progress');
  expect(parametersOf(aws, CREATE)).toMatchObject([
    {
      VolumeId: volumeId,
      'TagSpecification.1.ResourceType': 'snapshot',
      ...{ 'TagSpecification.1.Tag.1.Key': OWNER_TAG, 'TagSpecification.1.Tag.1.Value': UID },
      ...{ 'TagSpecification.1.Tag.2.Key': MARK_TAG, 'TagSpecification.1.Tag.2.Value': mark },
    },
  ]);
  const looks = ['ec2:DescribeVolumes', 'ec2:DescribeSnapshots'];
  expect(aws.operations()).toEqual([...looks, 'ec2:DescribeVolumes', 'ec2:CreateTags', ...looks, CREATE]);
});

it('looks for its own snapshot before it makes another, by volume and mark', async () => {
  aws.on('ec2:DescribeSnapshots', snapshots([{ ...own, state: 'pending', progress: '40%' }]));
  expect(await run()).toMatchObject({ reason: 'Snapshotting', message: expect.stringContaining('(40%)') });
  expect(made(CREATE)).toBe(false);
  expect(parametersOf(aws, 'ec2:DescribeSnapshots')).toMatchObject([
    {
      'Owner.1': 'self',
      ...{ 'Filter.1.Name': 'volume-id', 'Filter.1.Value.1': volumeId },
      ...{ 'Filter.2.Name': `tag:${MARK_TAG}`, 'Filter.2.Value.1': mark },
    },
  ]);
});

it('deletes the volume once the snapshot is complete, also when it is found on a later page', async () => {
  aws.on('ec2:DescribeSnapshots', snapshots([], 'next'), snapshots([{ ...own, state: 'completed' }]));
  aws.on('ec2:DescribeVolumes', volumes([free]), volumes([free]), ec2Error(400, 'InvalidVolume.NotFound'));
  expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(made(CREATE)).toBe(false);
});

it.each([
  ['of another volume', { ...own, volumeId: 'vol-ffffffffffffffff0' }],
  ['of another deletion', { ...own, tags: { ...OWNED, [MARK_TAG]: 'other/team-buckets' } }],
  ['without a mark', { ...own, tags: OWNED }],
])('does not take a complete snapshot %s for its own', async (_what, snapshot) => {
  aws.on('ec2:DescribeSnapshots', snapshots([{ ...snapshot, state: 'completed' }]));
  expect(await run()).toMatchObject({ reason: 'Snapshotting' });
  expect(made('ec2:DeleteVolume')).toBe(false);
});

it('refuses when its snapshot has failed, and makes another once a person has deleted that', async () => {
  aws.on('ec2:DescribeSnapshots', snapshots([{ ...own, state: 'error' }]));
  expect(await run()).toMatchObject({
    outcome: 'refused',
    reason: 'SnapshotFailed',
    message: expect.stringContaining('snap-1'),
  });
  expect(made(CREATE)).toBe(false);
  aws.on('ec2:DescribeSnapshots', snapshots([]));
  expect(await run()).toMatchObject({ reason: 'Snapshotting' });
});

it('makes none while the volume is attached, nor without the option', async () => {
  aws.on('ec2:DescribeVolumes', volumes([{ ...free, state: 'in-use', attachedTo: { 'i-1': 'attached' } }]));
  expect(await run()).toMatchObject({ reason: 'Attached' });
  aws.on('ec2:DescribeVolumes', volumes([free]));
  await run({ options: {} });
  expect(made('ec2:DescribeSnapshots') || made(CREATE)).toBe(false);
});

it('makes none of a volume that was given the keep tag meanwhile (V13)', async () => {
  aws.on('ec2:DescribeVolumes', volumes([free]), volumes([{ ...free, tags: { ...OWNED, [KEEP_TAG]: '' } }]));
  expect(await run()).toMatchObject({ outcome: 'refused', reason: 'Kept' });
  expect(made(CREATE)).toBe(false);
});

it('leaves out tags that only AWS may set, which EC2 would refuse', async () => {
  const tags = { 'aws:cloudformation:stack-name': 's', [OWNER_TAG]: UID };
  showVolume({ ...free, tags });
  await run({ ownership: { tags } });
  expect(Object.values(parametersOf(aws, CREATE)[0] ?? {})).not.toContain('aws:cloudformation:stack-name');
  expect(parametersOf(aws, CREATE)).toMatchObject([{ 'TagSpecification.1.Tag.1.Key': OWNER_TAG }]);
});

it.each([
  ['SnapshotCreationPerVolumeRateExceeded', { outcome: 'pending', reason: 'Throttled' }],
  ['ConcurrentSnapshotLimitExceeded', { outcome: 'pending', reason: 'Throttled' }],
  ['IncorrectState', { outcome: 'pending', reason: 'IncorrectState' }],
  ['SnapshotLimitExceeded', { outcome: 'refused', reason: 'SnapshotLimitExceeded' }],
])('on %s says %j, and does not delete', async (code, said) => {
  aws.on(CREATE, ec2Error(400, code));
  expect(await run()).toMatchObject(said);
  expect(made('ec2:DeleteVolume')).toBe(false);
});

it('begins one snapshot, however many runs are at it at the same time, and the others wait for that', async () => {
  const begun: string[] = [];
  aws.on('ec2:DescribeSnapshots', () =>
    snapshots(begun.map((snapshotId) => ({ ...own, snapshotId, state: 'pending' }))),
  );
  aws.on(CREATE, () => {
    begun.push(`snap-${begun.length}`);
    return snapshotBegun({ ...own, state: 'pending' });
  });
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => run()));
  expect(begun).toHaveLength(1);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Snapshotting' });
  expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Snapshotting' });
  expect(begun).toHaveLength(1);
});

it('begins none where another run has, between its own first look and its claim', async () => {
  aws.on('ec2:DescribeSnapshots', snapshots([]), snapshots([{ ...own, state: 'pending' }]));
  expect(await run()).toMatchObject({ reason: 'Snapshotting', message: expect.stringContaining('snap-1') });
  expect(made(CREATE)).toBe(false);
});

it('takes over where a run was killed after its claim, which holds nothing', async () => {
  claims.push('of a run that is dead');
  expect(await run()).toMatchObject({ reason: 'Snapshotting', message: expect.stringContaining('snap-1') });
  expect(made(CREATE)).toBe(true);
});

it('makes a snapshot also of a volume that takes no further tag', async () => {
  aws.on('ec2:CreateTags', ec2Error(400, 'TagLimitExceeded'));
  expect(await run()).toMatchObject({ reason: 'Snapshotting', message: expect.stringContaining('snap-1') });
  expect(made(CREATE)).toBe(true);
});

it('P1 waits where the volume is not found directly before the snapshot, and may only not be visible yet (C15)', async () => {
  aws.on('ec2:DescribeVolumes', volumes([free]), ec2Error(400, 'InvalidVolume.NotFound'));
  expect(await run({ createdAgo: 60_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
  expect(made(CREATE)).toBe(false);
});
