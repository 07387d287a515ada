/*
 * Buckets for the demo: made, filled, tagged and looked at through the S3 API. Called by outside.ts; the function that
 * takes them down is functions/handlers/s3-bucket.ts and knows nothing of this.
 */
import {
  BucketLocationConstraint,
  CreateBucketCommand,
  DeleteObjectsCommand,
  HeadBucketCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { z } from 'zod/mini';
import { type Clients, type Holding, OWNER_TAG, type Thing } from './outside.ts';

/** A bucket and what is in it. */
export interface BucketPlan {
  readonly object: string;
  readonly bucket: string;
  readonly isOwned: boolean;
  readonly versioned: boolean;
  /** How often the files are written. */
  readonly rounds: number;
  /** How often they are deleted after each time: each deletion adds a marker per file where versions are kept. */
  readonly deletions: number;
  /** At most 1,000: one call deletes them. */
  readonly files: number;
}

const WRITES_IN_FLIGHT = 8;

/** The bucket of a plan. */
export function bucketThing({ s3, region }: Pick<Clients, 's3' | 'region'>, plan: BucketPlan): Thing {
  const { object, bucket, isOwned } = plan;
  return {
    object,
    isOwned,
    name: () => `s3://${bucket}`,
    async make() {
      const CreateBucketConfiguration = { LocationConstraint: z.parse(z.enum(BucketLocationConstraint), region) };
      await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration }));
      await fill(s3, plan);
    },
    async prove(uid) {
      const TagSet = [{ Key: OWNER_TAG, Value: uid }];
      await s3.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging: { TagSet } }));
    },
    status: () => ({ bucketName: bucket }),
    look: () => look(s3, bucket),
  };
}

async function fill(s3: S3Client, { bucket, versioned, rounds, deletions, files }: BucketPlan): Promise<void> {
  if (versioned) {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await s3.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
  }
  const keys = Array.from({ length: files }, (_, index) => `host-${String(index + 1).padStart(3, '0')}.log`);
  for (let round = 1; round <= rounds; round += 1) {
    const waiting = keys.values();
    const writer = async () => {
      // The writers share one iterator, so each key is taken once.
      for (const Key of waiting) await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: `night ${round}` }));
    };
    await Promise.all(Array.from({ length: WRITES_IN_FLIGHT }, writer));
    const Objects = keys.map((Key) => ({ Key }));
    for (let deletion = 1; deletion <= deletions; deletion += 1) {
      await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
    }
  }
}

/** Counts everything in a bucket; a bucket that is not there is told by S3's own answer. */
async function look(s3: S3Client, bucket: string): Promise<Holding> {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 404) throw error;
    return { kind: 'absent', answer: '404: no such bucket' };
  }
  let versions = 0;
  let markers = 0;
  let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {};
  while (from !== undefined) {
    const page: ListObjectVersionsCommandOutput = await s3.send(
      new ListObjectVersionsCommand({ Bucket: bucket, ...from }),
    );
    versions += page.Versions?.length ?? 0;
    markers += page.DeleteMarkers?.length ?? 0;
    const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    from = IsTruncated === true ? { KeyMarker, VersionIdMarker } : undefined;
  }
  return { kind: 'bucket', versions, markers };
}
