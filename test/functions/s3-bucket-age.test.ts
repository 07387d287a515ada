/*
 * The handler s3-bucket under a proof that fits a successor's bucket as well: age guard and mark, and what it says when
 * another account has taken the name. Scripted, since the dates are what it is about.
 */
import { describe, expect, it } from 'vitest';
import { MARK_TAG } from '../../functions/ownership.ts';
import { noContent, s3Error, tagging, versions } from '../support/scripted-aws.ts';
import { buckets } from '../support/scripted-control.ts';
import { ACCOUNT, OWNER_TAG, UID } from './fixtures.ts';
import { OWNED, type RunChanges } from './runs.ts';
import { one, scriptedBucket, target } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();

const GONE = { outcome: 'gone', evidence: 'deleted' };
const MARK = { [MARK_TAG]: `${UID}/team-buckets` };
const name = { 'team.example.com/name': 'logs' };
const weak: RunChanges = { ownership: { tags: name } };
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const HOUR = 3_600_000;

/** Tags that a mark is put onto, and the bucket's date. */
function bucketOf(date: string | undefined, tags: Readonly<Record<string, string>> = name): void {
  let now = tags;
  aws.on('s3:GetBucketTagging', () => tagging(now));
  aws.on('s3:TagResource', () => {
    now = { ...now, ...MARK };
    return noContent;
  });
  aws.on(
    's3:ListBuckets',
    buckets({ 'team-a-logs-2': ago(HOUR), ...(date === undefined ? {} : { 'team-a-logs': date }) }),
  );
}

describe.each([
  ['a proof by name', weak],
  ['no proof', { ownership: { none: true } }],
] as const)('under %s', (_what, ownership: RunChanges) => {
  it('marks a bucket that is older than the deletion before it changes anything else (V12)', async () => {
    bucketOf(ago(HOUR));
    expect(await run(ownership)).toEqual(GONE);
    const changes = aws.operations().filter((operation) => /Put|Delete|Tag(Resource)/.test(operation));
    expect(changes).toEqual(['s3:TagResource', 's3:PutBucketPolicy', 's3:DeleteBucket']);
    const mark = aws.seen.find(({ operation }) => operation === 's3:TagResource');
    expect(decodeURIComponent(mark?.path ?? '')).toBe('/v20180820/tags/arn:aws:s3:::team-a-logs');
    expect(mark?.headers['x-amz-account-id']).toBe(ACCOUNT);
    expect(mark?.body).toContain(
      `<Tag><Key>finalizer-bridge.dev/deletion</Key><Value>${UID}/team-buckets</Value></Tag>`,
    );
  });

  it('refuses a bucket that was made after the deletion began, and leaves it (V12)', async () => {
    bucketOf(ago(1_000));
    expect(await run({ ...ownership, deletedAgo: HOUR })).toMatchObject({ reason: 'YoungerThanDeletion' });
    expect(deletes()).toEqual([]);
    expect(aws.operations()).not.toContain('s3:TagResource');
  });

  it('takes a bucket for younger as long as clocks that differ may hide it (V12)', async () => {
    bucketOf(ago(HOUR + 30_000));
    expect(await run({ ...ownership, deletedAgo: HOUR })).toMatchObject({ reason: 'YoungerThanDeletion' });
    bucketOf(ago(HOUR + 61_000));
    expect(await run({ ...ownership, deletedAgo: HOUR })).toEqual(GONE);
  });

  it('goes on with a bucket that carries its mark, whatever its date: S3 dates anew what is changed (V12)', async () => {
    bucketOf(ago(1_000), { ...name, ...MARK });
    expect(await run({ ...ownership, deletedAgo: HOUR })).toEqual(GONE);
    expect(aws.operations()).not.toContain('s3:ListBuckets');
  });

  it('takes the mark of another deletion for none (V12)', async () => {
    bucketOf(ago(1_000), { ...name, [MARK_TAG]: `another/team-buckets` });
    expect(await run({ ...ownership, deletedAgo: HOUR })).toMatchObject({ reason: 'YoungerThanDeletion' });
  });

  it('refuses a bucket whose age nobody says, such as one of another account (V12)', async () => {
    bucketOf(undefined);
    const outcome = await run(ownership);
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'AgeUnknown' });
    expect(JSON.stringify(outcome)).toContain(`finalizer-bridge.dev/deletion with the value ${UID}`);
  });

  it('stops when the bucket loses the mark while it is emptied: it is another one by then (V12, V13)', async () => {
    bucketOf(ago(HOUR));
    aws.on('s3:ListObjectVersions', versions(one), () => {
      aws.on('s3:GetBucketTagging', tagging(name));
      return versions([]);
    });
    expect(await run(ownership)).toMatchObject({ outcome: 'pending', reason: 'MarkNotSeen' });
    expect(deletes()).toEqual(['s3:DeleteObjects']);
  });

  it('reads ownership again before it marks: a keep tag that came meanwhile counts (V13)', async () => {
    bucketOf(ago(HOUR));
    aws.on('s3:GetBucketTagging', tagging(name), tagging({ ...name, 'finalizer-bridge.dev/keep': '' }));
    expect(await run(ownership)).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(aws.operations()).not.toContain('s3:TagResource');
  });

  it('deletes nothing when the mark cannot be put (V12)', async () => {
    bucketOf(ago(HOUR));
    aws.on('s3:TagResource', s3Error(404, 'NoSuchBucket'));
    expect(await run(ownership)).toMatchObject({ outcome: 'pending' });
    expect(deletes()).toEqual([]);
  });
});

it('asks neither for the age nor for a mark where the proof holds the uid', async () => {
  expect(await run()).toEqual(GONE);
  const asked = aws.operations().filter((operation) => ['s3:ListBuckets', 's3:TagResource'].includes(operation));
  expect(asked).toEqual([]);
});

describe('a name that another account has taken', () => {
  it('is not gone, and after two terms refused (C14)', async () => {
    aws.on('s3:GetBucketTagging', s3Error(403, 'AccessDenied'));
    const reason = 'AccessDeniedOrForeign';
    expect(await run({ attempt: 0 })).toMatchObject({ outcome: 'pending', reason });
    expect(await run({ attempt: 1 })).toMatchObject({ outcome: 'pending', reason });
    const last = await run({ attempt: 2 });
    expect(last).toMatchObject({ outcome: 'refused', reason });
    expect(JSON.stringify(last)).toContain(target.bucket);
    expect(deletes()).toEqual([]);
  });

  it('is not gone either when it is taken just before the bucket would be deleted (C14)', async () => {
    aws.on('s3:DeleteBucket', s3Error(403, 'AccessDenied'));
    expect(await run({ attempt: 0 })).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
    expect(await run({ attempt: 2 })).toMatchObject({ outcome: 'refused', reason: 'AccessDeniedOrForeign' });
  });

  it('waits out what is no denial, however many terms it takes', async () => {
    aws.on('s3:GetBucketTagging', s3Error(403, 'InvalidAccessKeyId'));
    expect(await run({ attempt: 9 })).toMatchObject({ outcome: 'pending', reason: 'CredentialsInvalid' });
  });

  it('does not take what other tags say for its own', async () => {
    aws.on('s3:GetBucketTagging', tagging({ ...OWNED, [OWNER_TAG]: 'another' }));
    expect(await run({ attempt: 2 })).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
  });
});
