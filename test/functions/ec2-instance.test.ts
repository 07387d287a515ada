/*
 * The handler ec2-instance against scripted answers of EC2, through the real SDK client.
 * The life of an instance in the emulator is in test/e2e.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { ec2Error, instances, type ScriptedAws, startScriptedAws, xml } from '../support/scripted-aws.ts';
import { ACCOUNT, OWNER_TAG, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce, useNoCredentials } from './runs.ts';

let aws: ScriptedAws;
const instanceId = 'i-0123456789abcdef0';
const target = { instanceId, region: REGION, account: ACCOUNT };
const run = (changes: RunChanges = {}) => runOnce(ec2Instance, target, aws.endpoint, changes);
const running = { instanceId, state: 'running', tags: OWNED };
const shuttingDown = { ...running, state: 'shutting-down' };

beforeAll(async () => {
  useNoCredentials();
  aws = await startScriptedAws();
});
afterAll(() => aws.close());
beforeEach(() => {
  aws.reset();
  aws.on('ec2:TerminateInstances', xml('<TerminateInstancesResponse><instancesSet/></TerminateInstancesResponse>'));
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

  it('waits while an instance that is not found may only be too young to be seen (C7, C15)', async () => {
    aws.on('ec2:DescribeInstances', ec2Error(400, 'InvalidInstanceID.NotFound'));
    expect(await run({ createdAgo: 4 * 60_000 })).toMatchObject({ outcome: 'pending', reason: 'NotFoundYet' });
    expect(await run({ createdAgo: 6 * 60_000 })).toEqual({ outcome: 'gone', evidence: 'absent' });
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
    const later = new Date(Date.now() - 30_000).toISOString();
    aws.on('ec2:DescribeInstances', instances({ ...running, tags: { team: 'a' }, launchTime: later }));
    expect(await run(weak)).toMatchObject({ outcome: 'refused', reason: 'YoungerThanDeletion' });
    expect(await run({ ownership: { none: true } })).toMatchObject({ reason: 'YoungerThanDeletion' });
    expect(isTerminated()).toBe(false);
    aws.on('ec2:DescribeInstances', instances({ ...running, launchTime: later }), instances(shuttingDown));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
  });
});

it('does not take a restart after the deletion for a creation after it', async () => {
  const restarted = {
    ...{ instanceId, state: 'running', tags: { team: 'a' } },
    launchTime: new Date(Date.now() - 30_000).toISOString(),
    attachTime: new Date(Date.now() - 86_400_000).toISOString(),
  };
  aws.on('ec2:DescribeInstances', instances(restarted), instances({ ...restarted, state: 'shutting-down' }));
  expect(await run({ ownership: { tags: { team: 'a' } } })).toMatchObject({
    outcome: 'pending',
    reason: 'ShuttingDown',
  });
});

describe('terminating', () => {
  it('looks, terminates at once, looks again, and is pending until it is terminated', async () => {
    aws.on('ec2:DescribeInstances', instances(running), instances(shuttingDown));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'ShuttingDown' });
    const seconds = outcome.outcome === 'pending' ? (Date.parse(outcome.retryAt ?? '') - Date.now()) / 1000 : 0;
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThanOrEqual(15);
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

  it('refuses when termination protection is on, and names it', async () => {
    aws.on('ec2:DescribeInstances', instances(running));
    aws.on('ec2:TerminateInstances', ec2Error(400, 'OperationNotPermitted'));
    const attribute = (value: boolean) =>
      xml(
        `<DescribeInstanceAttributeResponse><instanceId>${instanceId}</instanceId><disableApiTermination><value>${value}</value></disableApiTermination></DescribeInstanceAttributeResponse>`,
      );
    aws.on('ec2:DescribeInstanceAttribute', attribute(true));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'ProtectionEnabled' });
    aws.on('ec2:DescribeInstanceAttribute', attribute(false));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'OperationNotPermitted' });
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
