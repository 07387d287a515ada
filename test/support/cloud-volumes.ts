/*
 * Puts volumes into the shared cloud emulator for the handlers' end-to-end tests, attaches them, and looks at them and at
 * their snapshots. Every call makes and closes its own client.
 */
import {
  AttachVolumeCommand,
  CreateTagsCommand,
  CreateVolumeCommand,
  DescribeSnapshotsCommand,
  DescribeVolumesCommand,
} from '@aws-sdk/client-ec2';
import type { CloudClient } from '../../infra/local/cloud.ts';
import { type Tags, tagList } from './cloud-targets.ts';

/** Makes a volume; resolves with its id. */
export async function makeVolume(cloud: CloudClient, tags: Tags = {}): Promise<string> {
  const ec2 = cloud.ec2();
  try {
    const { VolumeId } = await ec2.send(new CreateVolumeCommand({ AvailabilityZone: 'eu-central-1a', Size: 1 }));
    if (VolumeId === undefined) throw new Error('making a volume in the emulator: it has no id');
    if (Object.keys(tags).length > 0) {
      await ec2.send(new CreateTagsCommand({ Resources: [VolumeId], Tags: tagList(tags) }));
    }
    return VolumeId;
  } finally {
    ec2.destroy();
  }
}

/** Whether a volume is there. */
export async function hasVolume(cloud: CloudClient, id: string): Promise<boolean> {
  const ec2 = cloud.ec2();
  try {
    const { Volumes = [] } = await ec2.send(
      new DescribeVolumesCommand({ Filters: [{ Name: 'volume-id', Values: [id] }] }),
    );
    return Volumes.length > 0;
  } finally {
    ec2.destroy();
  }
}

/** Attaches volumes to an instance, by the name of the device. They stay when the instance is terminated. */
export async function attach(cloud: CloudClient, InstanceId: string, volumes: Tags): Promise<void> {
  const ec2 = cloud.ec2();
  try {
    for (const [Device, VolumeId] of Object.entries(volumes))
      await ec2.send(new AttachVolumeCommand({ InstanceId, VolumeId, Device }));
  } finally {
    ec2.destroy();
  }
}

/** The tags of each snapshot of a volume. */
export async function snapshotTags(cloud: CloudClient, volumeId: string): Promise<readonly Tags[]> {
  const ec2 = cloud.ec2();
  try {
    const Filters = [{ Name: 'volume-id', Values: [volumeId] }];
    const { Snapshots = [] } = await ec2.send(new DescribeSnapshotsCommand({ Filters }));
    return Snapshots.map(({ Tags = [] }) => Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value])));
  } finally {
    ec2.destroy();
  }
}
