/*
 * Targets in a real account for the checks of verify-aws.ts: a bucket with versions, a volume, a topic. Each is registered
 * for the sweep at the end before it is used.
 */
import {
  CreateVolumeCommand,
  DeleteVolumeCommand,
  DescribeVolumesCommand,
  waitUntilVolumeAvailable,
} from '@aws-sdk/client-ec2';
import {
  BucketLocationConstraint,
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  NotFound,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { runToEnd } from '../../functions/testing/runs.ts';
import type { Scene } from '../../functions/testing.ts';
import type { Site } from './account.ts';
import { harnessOf, OWNED } from './harness.ts';

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;
const tagList = (tags: Tags) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
const READY_WITHIN_SECONDS = 120;

/** A versioned bucket with some versions and a delete marker. */
export async function bucketScene(
  site: Site,
  tags: Tags,
  isLocked = false,
): Promise<Scene & { readonly name: string }> {
  const { s3, region, account } = site;
  const Bucket = site.name();
  const place =
    region === 'us-east-1' ? {} : { CreateBucketConfiguration: { LocationConstraint: constraintOf(region) } };
  await s3.send(new CreateBucketCommand({ Bucket, ...place, ObjectLockEnabledForBucket: isLocked }));
  const target = { bucket: Bucket, region, account };
  site.atEnd(`bucket ${Bucket}`, async () => {
    const left = await exists(site, Bucket);
    if (!left) return;
    await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tagList(OWNED) } }));
    const options = { retentionBypass: true };
    const scene = { target, options, exists: () => exists(site, Bucket) };
    await runToEnd({ handler: s3Bucket, harness: harnessOf(site) }, scene);
    if (await exists(site, Bucket)) throw new Error('it is still there');
  });
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  if (Object.keys(tags).length > 0) {
    await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tagList(tags) } }));
  }
  for (const Key of ['a', 'a', 'b c']) await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
  return { name: Bucket, target, exists: () => exists(site, Bucket) };
}

function constraintOf(region: string): BucketLocationConstraint {
  const known = Object.values(BucketLocationConstraint).find((one) => one === region);
  if (known === undefined) throw new Error(`making a bucket: the client knows no region ${region}`);
  return known;
}

async function exists({ s3 }: Site, Bucket: string): Promise<boolean> {
  try {
    await s3.send(new HeadBucketCommand({ Bucket }));
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** A volume of 1 GiB. */
export async function volumeScene(site: Site, tags: Tags): Promise<Scene & { readonly id: string }> {
  const { ec2, region, account } = site;
  const TagSpecifications = [{ ResourceType: 'volume' as const, Tags: tagList(tags) }];
  const made = await ec2.send(
    new CreateVolumeCommand({
      ...{ AvailabilityZone: `${region}a`, Size: 1, VolumeType: 'gp3' },
      ...(Object.keys(tags).length > 0 ? { TagSpecifications } : {}),
    }),
  );
  const { VolumeId: id = '' } = made;
  const isThere = async () => {
    const { Volumes = [] } = await ec2.send(
      new DescribeVolumesCommand({ Filters: [{ Name: 'volume-id', Values: [id] }] }),
    );
    return Volumes.some(({ State }) => State !== 'deleting' && State !== 'deleted');
  };
  site.atEnd(`volume ${id}`, async () => {
    if (await isThere()) await ec2.send(new DeleteVolumeCommand({ VolumeId: id }));
  });
  await waitUntilVolumeAvailable({ client: ec2, maxWaitTime: READY_WITHIN_SECONDS }, { VolumeIds: [id] });
  return { id, target: { volumeId: id, region, account }, exists: isThere };
}
