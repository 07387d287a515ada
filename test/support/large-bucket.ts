/*
 * A large bucket on versitygw, with versions or without, half of it in one folder, with delete markers: for the scale test of s3-bucket and
 * for the benchmark of emptying buckets.
 */
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Versitygw } from '../../infra/local/versitygw.ts';

const FOLDERS = 20;
const WRITES_IN_FLIGHT = 24;

/** A client for the server. */
export function clientOf({ endpoint, credentials }: Versitygw, region: string): S3Client {
  return new S3Client({ endpoint, credentials, region, forcePathStyle: true });
}

/** What the bucket is to hold. */
export interface Contents {
  /** In a plain bucket one of each key; else of each key one with content, and a newer one. */
  readonly versions: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Some of the newer ones are delete markers. */
  readonly markers: boolean;
  /** Versioning was never on. */
  readonly isPlain?: boolean;
}

/** Makes a bucket that carries the tags and holds so many versions. */
export async function makeLargeBucket(s3: S3Client, Bucket: string, facts: Contents): Promise<void> {
  const { isPlain = false } = facts;
  await s3.send(new CreateBucketCommand({ Bucket }));
  const Status = 'Enabled';
  if (!isPlain) await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
  const TagSet = Object.entries(facts.tags).map(([Key, Value]) => ({ Key, Value }));
  await s3.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
  const left = Array.from({ length: isPlain ? facts.versions : facts.versions / 2 }, (_, at) => at).values();
  const writer = async () => {
    for (const at of left) {
      const folder = at % 2 === 0 ? 0 : at % FOLDERS;
      const Key = `logs/${String(folder).padStart(2, '0')}/${String(at).padStart(7, '0')}`;
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
      if (isPlain) continue;
      const isMarked = facts.markers && at % 3 === 0;
      await s3.send(
        isMarked ? new DeleteObjectCommand({ Bucket, Key }) : new PutObjectCommand({ Bucket, Key, Body: 'y' }),
      );
    }
  };
  await Promise.all(Array.from({ length: WRITES_IN_FLIGHT }, writer));
}
