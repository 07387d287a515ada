/*
 * Puts buckets and instances into the shared cloud emulator for the handlers' end-to-end tests, and looks at them.
 * Every call makes and closes its own client.
 */
import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  ModifyInstanceAttributeCommand,
  RunInstancesCommand,
} from '@aws-sdk/client-ec2';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  NotFound,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { CloudClient } from '../../infra/local/cloud.ts';

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;
/** Tags as AWS takes them. */
export const tagList = (tags: Tags) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

/** What a bucket is filled with. */
export interface BucketContent {
  readonly tags?: Tags;
  /** Not at all (never versioned), on, or on while half of it is written and then suspended. */
  readonly versioning?: 'never' | 'on' | 'suspended';
  readonly keys?: readonly string[];
  /** Versions of each key, the last of them a delete marker if there are delete markers. */
  readonly versionsPerKey?: number;
  readonly deleteMarkers?: boolean;
  /** Unfinished multipart uploads, each with one part. */
  readonly uploads?: number;
}

/** Makes a bucket; the name is the caller's. */
export async function makeBucket(cloud: CloudClient, Bucket: string, content: BucketContent = {}): Promise<void> {
  const { tags = {}, versioning = 'on', keys = [], versionsPerKey = 1, deleteMarkers = false, uploads = 0 } = content;
  const s3 = cloud.s3();
  const setVersioning = (Status: 'Enabled' | 'Suspended') =>
    s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
  try {
    const LocationConstraint = 'eu-central-1';
    await s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint } }));
    if (versioning !== 'never') await setVersioning('Enabled');
    if (Object.keys(tags).length > 0) {
      await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tagList(tags) } }));
    }
    const writeAll = () =>
      eachOf(keys, async (Key) => {
        for (let version = 0; version < versionsPerKey; version += 1) {
          await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
        }
        if (deleteMarkers) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
      });
    await writeAll();
    if (versioning === 'suspended') {
      await setVersioning('Suspended');
      await writeAll();
    }
    for (let number = 0; number < uploads; number += 1) {
      const Key = `unfinished ${number}`;
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'x' }));
    }
  } finally {
    s3.destroy();
  }
}

/** Writes versions of one key. */
export async function addVersions(cloud: CloudClient, Bucket: string, Key: string, count: number): Promise<void> {
  const s3 = cloud.s3();
  try {
    await eachOf(Array.from({ length: count }), async () => {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    });
  } finally {
    s3.destroy();
  }
}

/** Whether a bucket is there. */
export async function hasBucket(cloud: CloudClient, Bucket: string): Promise<boolean> {
  const s3 = cloud.s3();
  try {
    await s3.send(new HeadBucketCommand({ Bucket }));
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  } finally {
    s3.destroy();
  }
}

/** Starts an instance; resolves with its id. */
export async function makeInstance(cloud: CloudClient, tags: Tags = {}, isProtected = false): Promise<string> {
  const ec2 = cloud.ec2();
  try {
    const answer = await ec2.send(new RunInstancesCommand({ ImageId: 'ami-12c6146b', MinCount: 1, MaxCount: 1 }));
    const id = answer.Instances?.[0]?.InstanceId;
    if (id === undefined) throw new Error('starting an instance in the emulator: it has no id');
    if (Object.keys(tags).length > 0) {
      await ec2.send(new CreateTagsCommand({ Resources: [id], Tags: tagList(tags) }));
    }
    if (isProtected) {
      const DisableApiTermination = { Value: true };
      await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: id, DisableApiTermination }));
    }
    return id;
  } finally {
    ec2.destroy();
  }
}

/** The state of an instance. */
export async function instanceState(cloud: CloudClient, id: string): Promise<string | undefined> {
  const ec2 = cloud.ec2();
  try {
    const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
    return Reservations?.[0]?.Instances?.[0]?.State?.Name;
  } finally {
    ec2.destroy();
  }
}

/** A few at a time, since the emulator has one process. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
