/*
 * A scripted S3 with an owned, empty, versioned bucket, and a run of the handler s3-bucket against it.
 * Used by the tests of that handler, which script what differs.
 */
import { beforeEach } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import {
  deleteResult,
  type ListedVersion,
  noContent,
  type ScriptedAws,
  s3Error,
  tagging,
  uploads,
  versions,
  xml,
} from '../support/scripted-aws.ts';
import { accessPoints } from '../support/scripted-control.ts';
import { ACCOUNT, REGION } from './fixtures.ts';
import { OWNED, type RunChanges, runOnce } from './runs.ts';
import { scriptedAws } from './scripted.ts';

export const target = { bucket: 'team-a-logs', region: REGION, account: ACCOUNT };
/** A bucket's content: one version. */
export const one: readonly ListedVersion[] = [{ key: 'a', versionId: 'v1' }];

/** What a test has in hand. */
export interface ScriptedBucket {
  readonly aws: ScriptedAws;
  readonly run: (changes?: RunChanges) => Promise<Outcome>;
  /** Operations that delete content or the bucket, in the order in which they came. */
  readonly deletes: () => readonly string[];
}

/** Starts the server for the tests of a file; each test begins with the usual bucket. */
export async function scriptedBucket(): Promise<ScriptedBucket> {
  const aws = await scriptedAws();
  beforeEach(() => {
    aws.on('s3:GetBucketTagging', tagging(OWNED));
    aws.on(
      's3:GetBucketVersioning',
      xml('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'),
    );
    aws.on('s3:GetObjectLockConfiguration', s3Error(404, 'ObjectLockConfigurationNotFoundError'));
    aws.on('s3:GetBucketPolicy', s3Error(404, 'NoSuchBucketPolicy'));
    aws.on('s3:PutBucketPolicy', noContent);
    aws.on('s3:DeleteBucketPolicy', noContent);
    aws.on('s3:ListAccessPoints', accessPoints());
    aws.on('s3:ListMultipartUploads', uploads());
    aws.on('s3:ListObjectVersions', versions([]));
    aws.on('s3:DeleteObjects', deleteResult());
    aws.on('s3:DeleteBucket', noContent);
  });
  return {
    aws,
    run: (changes = {}) => runOnce(s3Bucket, target, aws.endpoint, changes),
    deletes: () => aws.operations().filter((operation) => /Delete(Object|Bucket$)|Abort/.test(operation)),
  };
}
