/*
 * ec2-instance on instances of a scaling group, as the emulator has groups (C6): by option the group shrinks, and nothing is
 * launched in the place of what is terminated. What the emulator does not show is scripted in test/functions.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { OWNED, type RunChanges, runOnce, useNoCredentials } from '../functions/runs.ts';
import { makeScalingGroup, scalingGroupNow } from '../support/cloud-scaling.ts';
import { instanceState } from '../support/cloud-targets.ts';
import { sharedCloud } from '../support/e2e.ts';

useNoCredentials();
const cloud = sharedCloud();
const place = { account: cloud.accountId, region: cloud.region };
const shrinking = { options: { shrinkGroup: true } };
const run = (instanceId = 'none', changes: RunChanges = shrinking) =>
  runOnce(ec2Instance, { ...place, instanceId }, cloud.endpoint, changes);

it('terminates an instance of a scaling group for good: the group is one smaller and launches none in its place (C6)', async () => {
  const name = `workers-${randomUUID()}`;
  const before = await makeScalingGroup(cloud, name, { least: 1, desired: 2, tags: OWNED });
  const [first, second] = before.instances;
  expect(await run(first, {})).toMatchObject({ outcome: 'refused', reason: 'InScalingGroup' });
  expect(await run(first)).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(await scalingGroupNow(cloud, name)).toEqual({ desired: 1, instances: [second] });
  expect(await instanceState(cloud, first ?? '')).toBe('terminated');
  expect(await run(first)).toMatchObject({ outcome: 'gone' });
  expect((await scalingGroupNow(cloud, name)).desired).toBe(1);
});

it('refuses the last instance that the smallest size of its group needs, and leaves it (C6)', async () => {
  const name = `workers-${randomUUID()}`;
  const { instances } = await makeScalingGroup(cloud, name, { least: 1, desired: 1, tags: OWNED });
  expect(await run(instances[0])).toMatchObject({ outcome: 'refused', reason: 'GroupAtMinimum' });
  expect(await instanceState(cloud, instances[0] ?? '')).toBe('running');
});
