/*
 * The rights that s3-bucket needs, scoped by its allow-list. Read by the packaging, which makes the function's role of them; the
 * bundle of the function has an empty list here (infra/bundle.ts).
 */
import type { Allow } from '../../config.ts';
import type { Conditions, Permission } from '../../handler.ts';
import { arnPartition } from '../../places.ts';

/** Statements of the role. */
export const permissions: readonly Permission[] = [
  {
    actions: [
      's3:GetBucketTagging',
      's3:GetBucketVersioning',
      's3:GetBucketObjectLockConfiguration',
      's3:GetBucketPolicy',
      's3:ListBucketVersions',
      's3:ListBucketMultipartUploads',
      's3:PutBucketPolicy',
      's3:DeleteBucketPolicy',
      's3:TagResource',
      's3:DeleteBucket',
    ],
    resources: (allow) => bucketArns(allow, ''),
    condition: ownedBy,
  },
  {
    actions: [
      's3:DeleteObject',
      's3:DeleteObjectVersion',
      's3:AbortMultipartUpload',
      's3:GetObjectRetention',
      's3:GetObjectLegalHold',
    ],
    resources: (allow) => bucketArns(allow, '/*'),
    condition: ownedBy,
  },
  // IAM scopes neither of them: the age of a bucket, and what is attached to it.
  { actions: ['s3:ListAllMyBuckets', 's3:ListAccessPoints'], resources: () => ['*'] },
  {
    actions: ['s3:BypassGovernanceRetention'],
    resources: (allow) => (allow.options?.includes('retentionBypass') ? bucketArns(allow, '/*') : []),
    condition: ownedBy,
  },
  {
    actions: ['s3:DeleteAccessPoint'],
    resources: (allow) => (allow.options?.includes('detachAccessPoints') ? accessPointArns(allow) : []),
  },
];

/** Names of buckets are global. A bucket that does not exist has no account, and has to be found absent, not denied. */
function ownedBy({ accounts }: Allow): Conditions {
  return { StringEqualsIfExists: { 'aws:ResourceAccount': accounts } };
}

function bucketArns({ names, regions }: Allow, suffix: string): readonly string[] {
  const partitions = [...new Set(regions.map(arnPartition))];
  return partitions.flatMap((partition) => names.map((name) => `arn:${partition}:s3:::${name}${suffix}`));
}

/** Access points have names of their own, whatever the bucket's. */
function accessPointArns({ accounts, regions }: Allow): readonly string[] {
  return regions.flatMap((region) =>
    accounts.map((account) => `arn:${arnPartition(region)}:s3:${region}:${account}:accesspoint/*`),
  );
}
