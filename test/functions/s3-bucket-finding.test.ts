/*
 * The handler s3-bucket against scripted answers of S3, through the real SDK client: how it finds the bucket, and what forbids it to go on.
 * What no emulator shows: redirects, denials, locks, MFA delete.
 */
import { describe, expect, it } from 'vitest';
import { s3Bucket } from '../../functions/handlers/s3-bucket.ts';
import { deleteResult, noContent, s3Error, tagging, uploads, versions, xml } from '../support/scripted-aws.ts';
import { ACCOUNT, OWNER_TAG, REGION } from './fixtures.ts';
import { OWNED } from './runs.ts';
import { one, scriptedBucket, target } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();

describe('finding the bucket', () => {
  it('says gone, absent, when the first look finds no bucket', async () => {
    aws.on('s3:GetBucketTagging', s3Error(404, 'NoSuchBucket'));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
    expect(deletes()).toEqual([]);
  });

  it('refuses a bucket without tags: NoSuchTagSet is a 404 and yet never gone (C10)', async () => {
    aws.on('s3:GetBucketTagging', s3Error(404, 'NoSuchTagSet'));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    expect(deletes()).toEqual([]);
  });

  it('refuses a bucket whose tag names another object', async () => {
    aws.on('s3:GetBucketTagging', tagging({ [OWNER_TAG]: 'somebody-else' }));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    expect(JSON.stringify(outcome)).not.toContain('somebody-else');
    expect(deletes()).toEqual([]);
  });

  it('refuses a bucket with the keep tag, also where the rule asks for no ownership', async () => {
    aws.on('s3:GetBucketTagging', tagging({ ...OWNED, 'finalizer-bridge.dev/keep': '' }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(await run({ ownership: { none: true } })).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(deletes()).toEqual([]);
  });

  it.each(['AccessDenied', 'AllAccessDisabled', 'InvalidAccessKeyId', 'NoSuchBucket', 'NoSuchTagSet', 'Whatever'])(
    'takes a 403 with code %s for "again", never for gone (C5)',
    async (code) => {
      aws.on('s3:GetBucketTagging', s3Error(403, code));
      expect(await run()).toMatchObject({ outcome: 'pending' });
      expect(deletes()).toEqual([]);
    },
  );

  it('says that a 403 is a denial or a foreign bucket (C5)', async () => {
    aws.on('s3:GetBucketTagging', s3Error(403, 'AccessDenied'));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
  });

  it.each([
    ['a 301 with a body', s3Error(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-1' })],
    ['a 301 without a body', { status: 301, headers: { 'x-amz-bucket-region': 'eu-west-1' }, body: '' }],
    ['a 307', s3Error(307, 'TemporaryRedirect', { 'x-amz-bucket-region': 'eu-west-1' })],
    ['a 400', s3Error(400, 'AuthorizationHeaderMalformed', { 'x-amz-bucket-region': 'eu-west-1' })],
  ] as const)('follows %s to another region that is allowed too (C5)', async (_what, redirect) => {
    aws.on('s3:GetBucketTagging', redirect, tagging(OWNED));
    expect(await run({ regions: [REGION, 'eu-west-1'] })).toEqual({ outcome: 'gone', evidence: 'deleted' });
    const signed = aws.seen.map(({ headers }) => /\/([a-z0-9-]+)\/s3\//.exec(String(headers.authorization))?.[1]);
    expect(signed[0]).toBe(REGION);
    expect(new Set(signed.slice(1))).toEqual(new Set(['eu-west-1']));
  });

  it('refuses to follow a redirect to a region that is not allowed (C5)', async () => {
    aws.on('s3:GetBucketTagging', s3Error(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'us-west-2' }));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'RegionMismatch' });
    expect(aws.operations()).toEqual(['s3:GetBucketTagging']);
  });

  it('does not run in circles when redirects do', async () => {
    aws.on(
      's3:GetBucketTagging',
      s3Error(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-1' }),
      s3Error(301, 'PermanentRedirect', { 'x-amz-bucket-region': REGION }),
    );
    expect(await run({ regions: [REGION, 'eu-west-1'] })).toMatchObject({
      outcome: 'refused',
      reason: 'RegionMismatch',
    });
    expect(aws.operations()).toHaveLength(2);
  });

  it('names the expected owner in every call (C5, C11)', async () => {
    aws.on('s3:ListMultipartUploads', uploads([{ key: 'u', uploadId: '1' }]), uploads());
    aws.on('s3:AbortMultipartUpload', noContent);
    aws.on('s3:ListObjectVersions', versions([...one, { key: 'odd\u0001', versionId: 'v2' }]), versions([]));
    aws.on('s3:DeleteObject', noContent);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(new Set(deletes()).size).toBe(4);
    for (const { operation, headers } of aws.seen) {
      const named = headers['x-amz-expected-bucket-owner'] ?? headers['x-amz-account-id'];
      expect(named, operation).toBe(ACCOUNT);
    }
  });
});

describe('what forbids emptying', () => {
  it('refuses a bucket with MFA delete before it deletes anything', async () => {
    aws.on(
      's3:GetBucketVersioning',
      xml('<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>'),
    );
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'MfaDelete' });
    expect(deletes()).toEqual([]);
  });

  const locked = xml(
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
  );
  const denied = deleteResult([{ key: 'a', versionId: 'v1', code: 'AccessDenied' }]);

  it('refuses with the date until which object lock retains a version', async () => {
    aws.on('s3:ListObjectVersions', versions(one));
    aws.on('s3:DeleteObjects', denied);
    aws.on('s3:GetObjectLockConfiguration', locked);
    aws.on('s3:GetObjectLegalHold', s3Error(404, 'NoSuchObjectLockConfiguration'));
    aws.on(
      's3:GetObjectRetention',
      xml('<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>2031-05-06T07:08:09Z</RetainUntilDate></Retention>'),
    );
    expect(await run()).toMatchObject({
      outcome: 'refused',
      reason: 'ObjectLocked',
      retryAt: '2031-05-06T07:08:09.000Z',
    });
  });

  it('refuses when a legal hold is on a version', async () => {
    aws.on('s3:ListObjectVersions', versions(one));
    aws.on('s3:DeleteObjects', denied);
    aws.on('s3:GetObjectLockConfiguration', locked);
    aws.on('s3:GetObjectLegalHold', xml('<LegalHold><Status>ON</Status></LegalHold>'));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'LegalHold' });
  });

  it('says pending when versions are denied without a lock, since a policy can change', async () => {
    aws.on('s3:ListObjectVersions', versions(one));
    aws.on('s3:DeleteObjects', denied);
    aws.on('s3:GetObjectLockConfiguration', s3Error(404, 'ObjectLockConfigurationNotFoundError'));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'AccessDeniedOrForeign' });
    expect(aws.operations()).not.toContain('s3:DeleteBucket');
  });
});

describe('the target', () => {
  it.each(['', '*', 'team-a-', 'team-a/', '/', 'a', 'Team-A', 'team_a', 'a..b', '1.2.3.4', 'x'.repeat(64)])(
    'refuses %j as the name of a bucket (C12)',
    (bucket) => {
      expect(s3Bucket.prepare({ ...target, bucket }, {})).toMatchObject({ ok: false, reason: 'InvalidTarget' });
    },
  );

  it('says of a directory bucket what it is', () => {
    const said = s3Bucket.prepare({ ...target, bucket: 'logs--euw1-az1--x-s3' }, {});
    expect(said).toMatchObject({ ok: false, reason: 'InvalidTarget' });
    expect(JSON.stringify(said)).toContain('a directory bucket');
  });

  it('refuses targets with a missing or an unknown value, and unknown options (C12)', () => {
    expect(s3Bucket.prepare({ bucket: 'team-a-logs', region: REGION }, {})).toMatchObject({
      reason: 'InvalidTarget',
      message: 'target.account: Invalid input: expected string',
    });
    expect(s3Bucket.prepare({ ...target, prefix: 'x/' }, {})).toMatchObject({ reason: 'InvalidTarget' });
    expect(s3Bucket.prepare(target, { force: true })).toMatchObject({
      reason: 'InvalidOptions',
      message: 'options: Unrecognized key: "force"',
    });
  });
});
