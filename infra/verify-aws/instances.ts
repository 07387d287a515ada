/*
 * The checks of verify-aws.ts about instances: stop protection, and an instance of a scaling group. Only run where an image is
 * named. Instances are t3.nano in the default network of the region.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AutoScalingClient,
  CreateAutoScalingGroupCommand,
  DeleteAutoScalingGroupCommand,
  DescribeAutoScalingGroupsCommand,
} from '@aws-sdk/client-auto-scaling';
import {
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeInstancesCommand,
  ModifyInstanceAttributeCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
  waitUntilInstanceRunning,
} from '@aws-sdk/client-ec2';
import type { Options } from '../../bridge/contract.ts';
import { ec2Instance } from '../../functions/handlers/ec2-instance.ts';
import { runOnce, runToEnd } from '../../functions/testing/runs.ts';
import type { Site } from './account.ts';
import { type Check, harnessOf, OWNED } from './harness.ts';

const READY_WITHIN_SECONDS = 300;
const LOOK_EVERY_MS = 5_000;
const Tags = Object.entries(OWNED).map(([Key, Value]) => ({ Key, Value }));

/** The checks. */
export function instanceChecks(site: Site): readonly Check[] {
  return [
    {
      id: 'I1-stop-protection',
      title: 'stop protection keeps an instance, and is lifted by option',
      run: () => stopProtection(site),
    },
    {
      id: 'E1-scaling-group',
      title: 'an instance of a scaling group goes for good: the group is one smaller',
      run: () => shrinkGroup(site),
    },
  ];
}

function sceneOf(site: Site, instanceId: string, options: Options = {}) {
  const { region, account } = site;
  const exists = async () => ['pending', 'running'].includes(await stateOf(site, instanceId));
  return { target: { instanceId, region, account }, options, exists };
}

async function stopProtection(site: Site): Promise<void> {
  const subject = { handler: ec2Instance, harness: harnessOf(site) };
  const id = await makeInstance(site);
  await site.ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: id, DisableApiStop: { Value: true } }));
  const held = await runOnce(subject, sceneOf(site, id));
  assert.equal('reason' in held && held.reason, 'ProtectionEnabled');
  const last = await runToEnd(subject, sceneOf(site, id, { liftProtections: true }));
  assert.deepEqual([last.outcome, await stateOf(site, id)], ['gone', 'terminated']);
}

async function shrinkGroup(site: Site): Promise<void> {
  const subject = { handler: ec2Instance, harness: harnessOf(site) };
  const { region, endpoint } = site;
  const scaling = new AutoScalingClient({ region, ...(endpoint === undefined ? {} : { endpoint }) });
  const name = await makeGroup(site, scaling);
  const group = async () => {
    const found = await scaling.send(new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: [name] }));
    return found.AutoScalingGroups?.[0];
  };
  const inService = async () => (await group())?.Instances?.find((one) => one.LifecycleState === 'InService');
  const deadline = Date.now() + READY_WITHIN_SECONDS * 1000;
  let first = await inService();
  while (first === undefined && Date.now() < deadline) {
    await wait(LOOK_EVERY_MS);
    first = await inService();
  }
  const id = first?.InstanceId ?? '';
  const held = await runOnce(subject, sceneOf(site, id));
  assert.equal('reason' in held && held.reason, 'InScalingGroup');
  const last = await runToEnd(subject, sceneOf(site, id, { shrinkGroup: true }));
  assert.deepEqual([last.outcome, (await group())?.DesiredCapacity], ['gone', 0]);
}

async function stateOf({ ec2 }: Site, id: string): Promise<string> {
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
  return Reservations[0]?.Instances?.[0]?.State?.Name ?? 'unknown';
}

async function makeInstance({ ec2, image, atEnd }: Site): Promise<string> {
  const made = await ec2.send(
    new RunInstancesCommand({
      ...{ ImageId: image, InstanceType: 't3.nano', MinCount: 1, MaxCount: 1 },
      TagSpecifications: [{ ResourceType: 'instance', Tags }],
    }),
  );
  const id = made.Instances?.[0]?.InstanceId ?? '';
  atEnd(`instance ${id}`, async () => {
    await ec2
      .send(new ModifyInstanceAttributeCommand({ InstanceId: id, DisableApiStop: { Value: false } }))
      .catch(() => {});
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
  });
  await waitUntilInstanceRunning({ client: ec2, maxWaitTime: READY_WITHIN_SECONDS }, { InstanceIds: [id] });
  return id;
}

async function makeGroup(site: Site, scaling: AutoScalingClient): Promise<string> {
  const { ec2, image, region } = site;
  const name = site.name();
  const LaunchTemplateData = { ImageId: image, InstanceType: 't3.nano' as const };
  await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName: name, LaunchTemplateData }));
  site.atEnd(`launch template ${name}`, () => ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: name })));
  await scaling.send(
    new CreateAutoScalingGroupCommand({
      ...{ AutoScalingGroupName: name, MinSize: 0, MaxSize: 1, DesiredCapacity: 1 },
      ...{ AvailabilityZones: [`${region}a`], LaunchTemplate: { LaunchTemplateName: name } },
      Tags: Tags.map((tag) => ({ ...tag, PropagateAtLaunch: true })),
    }),
  );
  site.atEnd(`scaling group ${name}`, () =>
    scaling.send(new DeleteAutoScalingGroupCommand({ AutoScalingGroupName: name, ForceDelete: true })),
  );
  return name;
}
