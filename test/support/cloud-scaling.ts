/*
 * Scaling groups in the shared cloud emulator, for end-to-end tests of ec2-instance.
 * Every call makes and closes its own client.
 */
import {
  AutoScalingClient,
  CreateAutoScalingGroupCommand,
  CreateLaunchConfigurationCommand,
  DescribeAutoScalingGroupsCommand,
} from '@aws-sdk/client-auto-scaling';
import type { CloudClient } from '../../infra/local/cloud.ts';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** A group as it is now. */
export interface ScalingGroup {
  readonly desired: number | undefined;
  readonly instances: readonly string[];
}

/** Makes a group of so many instances, which carry these tags. */
export async function makeScalingGroup(
  cloud: CloudClient,
  name: string,
  facts: { readonly least: number; readonly desired: number; readonly tags: Readonly<Record<string, string>> },
): Promise<ScalingGroup> {
  const client = new AutoScalingClient({ endpoint: cloud.endpoint, region: cloud.region, credentials });
  try {
    await client.send(
      new CreateLaunchConfigurationCommand({
        ...{ LaunchConfigurationName: name, ImageId: 'ami-12c6146b', InstanceType: 't3.nano' },
      }),
    );
    const Tags = Object.entries(facts.tags).map(([Key, Value]) => ({
      ...{ Key, Value, PropagateAtLaunch: true, ResourceId: name, ResourceType: 'auto-scaling-group' },
    }));
    await client.send(
      new CreateAutoScalingGroupCommand({
        ...{ AutoScalingGroupName: name, LaunchConfigurationName: name, AvailabilityZones: [`${cloud.region}a`] },
        ...{ MinSize: facts.least, MaxSize: facts.desired, DesiredCapacity: facts.desired, Tags },
      }),
    );
  } finally {
    client.destroy();
  }
  return scalingGroupNow(cloud, name);
}

/** Looks at a group. */
export async function scalingGroupNow(cloud: CloudClient, name: string): Promise<ScalingGroup> {
  const client = new AutoScalingClient({ endpoint: cloud.endpoint, region: cloud.region, credentials });
  try {
    const { AutoScalingGroups = [] } = await client.send(
      new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: [name] }),
    );
    const [group] = AutoScalingGroups;
    const instances = (group?.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
    return { desired: group?.DesiredCapacity, instances };
  } finally {
    client.destroy();
  }
}
