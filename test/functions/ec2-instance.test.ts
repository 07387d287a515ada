/*
 * The handler ec2-instance against scripted answers of EC2, through the real SDK client.
 * The life of an instance in the emulator is in test/e2e.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { KEEP_TAG, MARK_TAG } from '../../functions/ownership.ts';
import { ec2Error, instances } from '../support/scripted-aws.ts';
import { done, parametersOf } from '../support/scripted-ec2.ts';
import { ACCOUNT, OWNER_TAG, REGION, UID } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

const aws = await scriptedAws();
const instanceId = 'i-0123456789abcdef0';
const target = { instanceId, region: REGION, account: ACCOUNT };
const run = (changes: RunChanges = {}) =>
  runOnce(ec2Instance, target, aws.endpoint, { deletedAgo: 180_000, ...changes });
const running = { instanceId, state: 'running', tags: OWNED };
const LOOK = ['ec2:DescribeInstances'];
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const shuttingDown = { ...running, state: 'shutting-down' };

beforeEach(() => {
  aws.on('ec2:TerminateInstances', done('TerminateInstances'));
});

const isTerminated = () => aws.operations().includes('ec2:TerminateInstances');

describe('looking', () => {
  it.each([
    ['an unknown id', ec2Error(400, 'InvalidInstanceID.NotFound')],
    ['an empty answer', instances()],
    ['an answer about another instance only', instances({ ...running, instanceId: 'i-ffffffffffffffff0' })],
  ])('says gone, absent, on %s (C7)', async (_what, reply) => {
    aws.on('ec2:DescribeInstances', reply);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
  });

  it.each([
    ['a young object', { createdAgo: 4 * 60_000, deletedAgo: 3 * 60_000 }, 'NotFoundYet'],
    ['an old object whose deletion has just begun', { createdAgo: 86_400_000, deletedAgo: 60_000 }, 'NotFoundYet'],
    ['an object and a deletion that are old enough', { createdAgo: 6 * 60_000, deletedAgo: 3 * 60_000 }, undefined],
  ])('believes that an instance is not found only for %s (C7, C15)', async (_what, ages, reason) => {
    aws.on('ec2:DescribeInstances', ec2Error(400, 'InvalidInstanceID.NotFound'));
    const outcome = await run(ages);
    if (reason === undefined) expect(outcome).toEqual({ outcome: 'gone', evidence: 'absent' });
    else expect(outcome).toMatchObject({ outcome: 'pending', reason });
  });

  it('P1 waits as well where only the look directly before the termination does not find it (C15)', async () => {
    const weak = { ...running, tags: { team: 'a' }, launchTime: ago(300_000) };
    aws.on('ec2:DescribeInstances', instances(weak), ec2Error(400, 'InvalidInstanceID.NotFound'));
    aws.on('ec2:CreateTags', done('CreateTags'));
    const outcome = await run({ createdAgo: 250_000, ownership: { tags: { team: 'a' } } });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(isTerminated()).toBe(false);
  });

  it('confirms by another look that nothing is found, and goes on with what that finds (C7, C15)', async () => {
    aws.on('ec2:DescribeInstances', instances(), instances());
    await run();
    expect(aws.operations()).toEqual(['ec2:DescribeInstances', 'ec2:DescribeInstances']);
    aws.on('ec2:DescribeInstances', instances(), instances(running), instances(running), instances(shuttingDown));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  });

  it('asks for one id per call (C7)', async () => {
    aws.on('ec2:DescribeInstances', instances());
    await run();
    expect(aws.seen[0]?.body).toContain(`InstanceId.1=${instanceId}`);
    expect(aws.seen[0]?.body).not.toContain('InstanceId.2');
  });

  it('reads the state before the tags: a terminated instance that lost its tags is gone (C15)', async () => {
    aws.on('ec2:DescribeInstances', instances({ ...running, state: 'terminated', tags: {} }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
    aws.on('ec2:DescribeInstances', instances({ ...running, state: 'terminated' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(isTerminated()).toBe(false);
  });

  it.each([
    ['UnauthorizedOperation', 403],
    ['AuthFailure', 401],
    ['RequestLimitExceeded', 503],
    ['InternalError', 500],
    ['InvalidInstanceID.NotFound', 403],
    ['InvalidInstanceID.NotFound', 503],
    ['InvalidVpcID.NotFound', 400],
  ] as const)('takes %s with status %i for "again"', async (code, status) => {
    aws.on('ec2:DescribeInstances', ec2Error(status, code));
    expect(await run()).toMatchObject({ outcome: 'pending' });
    expect(isTerminated()).toBe(false);
  });

  it('refuses an instance of another account, whatever its state (C11)', async () => {
    for (const state of ['running', 'terminated']) {
      aws.on('ec2:DescribeInstances', instances({ ...running, state, owner: '999999999999' }));
      expect(await run()).toMatchObject({ outcome: 'refused', reason: 'AccountMismatch' });
    }
    expect(isTerminated()).toBe(false);
  });
});

describe('ownership', () => {
  it.each([
    ['no tags', {}, 'NotOwned'],
    ['the tag of another object', { [OWNER_TAG]: 'other' }, 'NotOwned'],
    ['the keep tag', { ...OWNED, 'finalizer-bridge.dev/keep': 'no' }, 'Kept'],
  ])('refuses an instance with %s', async (_what, tags, reason) => {
    aws.on('ec2:DescribeInstances', instances({ ...running, tags }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason });
    expect(isTerminated()).toBe(false);
  });

  it('refuses what is younger than the deletion where the proof does not name the uid (V12)', async () => {
    const weak = { ownership: { tags: { team: 'a' } } };
    aws.on('ec2:DescribeInstances', instances({ ...running, tags: { team: 'a' }, launchTime: ago(30_000) }));
    expect(await run(weak)).toMatchObject({ outcome: 'refused', reason: 'YoungerThanDeletion' });
    expect(await run({ ownership: { none: true } })).toMatchObject({ reason: 'YoungerThanDeletion' });
    aws.on('ec2:DescribeInstances', instances({ ...running, tags: { team: 'a' } }));
    expect(await run(weak), 'of unknown age').toMatchObject({ reason: 'YoungerThanDeletion' });
    expect(isTerminated()).toBe(false);
    aws.on('ec2:DescribeInstances', instances({ ...running, launchTime: ago(30_000) }), instances(shuttingDown));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  });

  it('marks what is older at its first step, and knows it by that mark in every later run (V12)', async () => {
    const weak = { ownership: { tags: { team: 'a' } } };
    const old = { instanceId, state: 'running', tags: { team: 'a' }, launchTime: ago(86_400_000) };
    aws.on('ec2:CreateTags', done('CreateTags'));
    aws.on('ec2:DescribeInstances', instances(old));
    expect(await run(weak)).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
    const marked = { [MARK_TAG]: `${UID}/team-buckets` };
    expect(parametersOf(aws, 'ec2:CreateTags')).toMatchObject([
      { 'ResourceId.1': instanceId, 'Tag.1.Key': MARK_TAG, 'Tag.1.Value': marked[MARK_TAG] },
    ]);
    // Ownership is read again after the mark, before the step that cannot be undone.
    expect(aws.operations()).toEqual([...LOOK, 'ec2:CreateTags', ...LOOK, 'ec2:TerminateInstances', ...LOOK]);
    aws.reset();
    const restarted = { ...old, launchTime: ago(30_000), tags: { team: 'a', ...marked } };
    aws.on('ec2:DescribeInstances', instances(restarted), instances({ ...restarted, state: 'terminated' }));
    aws.on('ec2:TerminateInstances', done('TerminateInstances'));
    expect(await run(weak)).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations()).toEqual([...LOOK, 'ec2:TerminateInstances', ...LOOK]);
  });

  it('terminates nothing that was given the keep tag while it was being marked (V13)', async () => {
    const old = { instanceId, state: 'running', tags: { team: 'a' }, launchTime: ago(86_400_000) };
    aws.on('ec2:CreateTags', done('CreateTags'));
    aws.on('ec2:DescribeInstances', instances(old), instances({ ...old, tags: { team: 'a', [KEEP_TAG]: '' } }));
    expect(await run({ ownership: { tags: { team: 'a' } } })).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(isTerminated()).toBe(false);
  });
});

it('does not take a restart after the deletion for a creation after it', async () => {
  const restarted = {
    ...{ instanceId, state: 'running', tags: { team: 'a' } },
    launchTime: ago(30_000),
    attachTime: ago(86_400_000),
  };
  aws.on('ec2:CreateTags', done('CreateTags'));
  aws.on('ec2:DescribeInstances', instances(restarted));
  expect(await run({ ownership: { tags: { team: 'a' } } })).toMatchObject({
    outcome: 'pending',
    reason: 'ShuttingDown',
  });
});

describe('terminating', () => {
  it('looks, terminates at once, looks again, and is pending until it is terminated', async () => {
    aws.on('ec2:DescribeInstances', instances(running), instances(shuttingDown));
    const began = Date.now();
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
    const retryAt = outcome.outcome === 'pending' ? Date.parse(outcome.retryAt ?? '') : 0;
    expect(retryAt).toBeGreaterThanOrEqual(began + 15_000);
    expect(retryAt).toBeLessThanOrEqual(Date.now() + 15_000);
    expect(aws.operations()).toEqual(['ec2:DescribeInstances', 'ec2:TerminateInstances', 'ec2:DescribeInstances']);
  });

  it('only looks while an instance is shutting down', async () => {
    aws.on('ec2:DescribeInstances', instances(shuttingDown));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
    expect(aws.operations()).toEqual(['ec2:DescribeInstances']);
  });

  it('says gone, deleted, when it is terminated already at the second look', async () => {
    aws.on('ec2:DescribeInstances', instances(running), instances({ ...running, state: 'terminated' }));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('never repeats a terminate call on its own: the next run proves ownership anew (V13)', async () => {
    aws.on('ec2:DescribeInstances', instances(running));
    aws.on('ec2:TerminateInstances', ec2Error(503, 'Unavailable'));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ServiceError' });
    expect(aws.operations()).toEqual(['ec2:DescribeInstances', 'ec2:TerminateInstances']);
  });
});

it.each(['', 'i-', 'i-*', '*', 'i-0123', 'i-0123456789ABCDEF0', 'i-0123456789abcdef0,i-0123456789abcdef1'])(
  'refuses %j as the id of an instance (C12)',
  (id) => {
    expect(ec2Instance.prepare({ ...target, instanceId: id }, {})).toMatchObject({
      ok: false,
      reason: 'InvalidTarget',
    });
  },
);
