/*
 * The handler s3-bucket and what forbids emptying: MFA delete, object lock, legal holds, access points. Scripted with the
 * answers that AWS documents; that governance retention really yields to the option is shown on the emulator (test/e2e).
 */
import { describe, expect, it } from 'vitest';
import { deleteResult, noContent, type Reply, type Seen, s3Error, versions, xml } from '../support/scripted-aws.ts';
import { accessPoints } from '../support/scripted-control.ts';
import { one, scriptedBucket } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();

const GONE = { outcome: 'gone', evidence: 'deleted' };
const bypassing = { options: { retentionBypass: true } };
const two = [...one, { key: 'b', versionId: 'v2' }];
const denied = deleteResult([
  { key: 'a', versionId: 'v1', code: 'AccessDenied' },
  { key: 'b', versionId: 'v2', code: 'AccessDenied' },
]);
const notLocked = s3Error(404, 'NoSuchObjectLockConfiguration');
const retained = (mode: string, until: string) =>
  xml(`<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`);
const byKey = (replies: Readonly<Record<string, Reply>>) => (seen: Seen) => replies[seen.path.slice(-1)] ?? notLocked;

/** A bucket with object lock on, and what is asked of each version. */
function lockedBucket({
  hold = {},
  retention = {},
}: {
  hold?: Record<string, Reply>;
  retention?: Record<string, Reply>;
}) {
  aws.on(
    's3:GetObjectLockConfiguration',
    xml('<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>'),
  );
  aws.on('s3:ListObjectVersions', versions(two));
  aws.on('s3:GetObjectLegalHold', byKey(hold));
  aws.on('s3:GetObjectRetention', byKey(retention));
}

describe('object lock', () => {
  it('is refused before anything is deleted, with the latest date of what was looked at (C4)', async () => {
    lockedBucket({
      retention: {
        a: retained('COMPLIANCE', '2031-05-06T07:08:09Z'),
        b: retained('COMPLIANCE', '2032-01-01T00:00:00Z'),
      },
    });
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'ObjectLocked', retryAt: '2032-01-01T00:00:00.000Z' });
    expect(deletes()).toEqual([]);
    expect(aws.operations()).not.toContain('s3:PutBucketPolicy');
  });

  it('names a legal hold before any date, since it has none (C4)', async () => {
    lockedBucket({
      hold: { b: xml('<LegalHold><Status>ON</Status></LegalHold>') },
      retention: { a: retained('GOVERNANCE', '2031-05-06T07:08:09Z') },
    });
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'LegalHold' });
    expect(await run(bypassing)).toMatchObject({ outcome: 'refused', reason: 'LegalHold' });
    expect(deletes()).toEqual([]);
  });

  it('in governance mode yields to the option, and the refusal without says so (C4)', async () => {
    lockedBucket({ retention: { a: retained('GOVERNANCE', '2031-05-06T07:08:09Z') } });
    const refusal = await run();
    expect(refusal).toMatchObject({ outcome: 'refused', reason: 'ObjectLocked' });
    expect(JSON.stringify(refusal)).toContain('retentionBypass');
    aws.on(
      's3:ListObjectVersions',
      versions(two),
      versions([...two, { key: 'c\u0001', versionId: 'v3' }]),
      versions([]),
    );
    aws.on('s3:DeleteObject', noContent);
    expect(await run(bypassing)).toEqual(GONE);
    const sent = aws.seen.filter(({ operation }) => /DeleteObjects?$/.test(operation));
    expect(sent.map(({ headers }) => headers['x-amz-bypass-governance-retention'])).toEqual(['true', 'true']);
  });

  it('in compliance mode yields to nobody (C4)', async () => {
    lockedBucket({ retention: { a: retained('COMPLIANCE', '2031-05-06T07:08:09Z') } });
    expect(await run(bypassing)).toMatchObject({ outcome: 'refused', reason: 'ObjectLocked' });
    expect(deletes()).toEqual([]);
  });

  it('beyond the sample shows when a delete is denied, and is refused then (C4)', async () => {
    lockedBucket({});
    aws.on('s3:DeleteObjects', () => {
      aws.on('s3:GetObjectRetention', retained('COMPLIANCE', '2031-05-06T07:08:09Z'));
      return denied;
    });
    expect(await run()).toMatchObject({ outcome: 'refused', retryAt: '2031-05-06T07:08:09.000Z' });
  });

  it('is not bypassed where there is none: S3 refuses the wish then', async () => {
    aws.on('s3:ListObjectVersions', versions(one), versions([]));
    expect(await run(bypassing)).toEqual(GONE);
    const sent = aws.seen.find(({ operation }) => operation === 's3:DeleteObjects');
    expect(sent?.headers).not.toHaveProperty('x-amz-bypass-governance-retention');
  });

  it.each(['s3:GetObjectLockConfiguration', 's3:GetObjectLegalHold', 's3:GetObjectRetention'])(
    'is found out by trying where %s is denied',
    async (call) => {
      lockedBucket({});
      aws.on(call, s3Error(403, 'AccessDenied'));
      aws.on('s3:ListObjectVersions', versions(one), versions([]));
      expect(await run()).toEqual(GONE);
    },
  );
});

describe('access points', () => {
  it('are refused by name before anything is deleted', async () => {
    aws.on('s3:ListAccessPoints', accessPoints('reports', 'audit', '1', '2', '3', '4'));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'AccessPointsAttached' });
    expect(JSON.stringify(outcome)).toContain('reports, audit, 1, 2, 3 and 1 more');
    expect(deletes()).toEqual([]);
  });

  it('are deleted by option, page by page, before the bucket is emptied', async () => {
    aws.on('s3:ListAccessPoints', accessPoints('reports', 'audit'), accessPoints('last'), accessPoints());
    aws.on('s3:DeleteAccessPoint', noContent, s3Error(404, 'NoSuchAccessPoint'), noContent);
    expect(await run({ options: { detachAccessPoints: true } })).toEqual(GONE);
    const paths = aws.seen.filter(({ operation }) => operation === 's3:DeleteAccessPoint').map(({ path }) => path);
    expect(paths.map((path) => path.split('/').pop())).toEqual(['reports', 'audit', 'last']);
    const operations = aws.operations();
    expect(operations.lastIndexOf('s3:DeleteAccessPoint')).toBeLessThan(operations.indexOf('s3:ListMultipartUploads'));
  });

  it('of other accounts show when the bucket is to be deleted, and are refused then', async () => {
    aws.on('s3:DeleteBucket', s3Error(400, 'BucketHasAccessPointsAttached'));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'AccessPointsAttached' });
  });

  it.each([
    ['may not be listed', s3Error(403, 'AccessDenied')],
    ['are unknown to the server, which takes the path for a bucket', s3Error(404, 'NoSuchBucket')],
  ])('that %s are left to the deletion of the bucket', async (_what, answer) => {
    aws.on('s3:ListAccessPoints', answer);
    expect(await run()).toEqual(GONE);
  });
});

it('agrees to pay for requests in every call about objects, for a bucket whose requester pays', async () => {
  aws.on('s3:ListObjectVersions', versions([...one, { key: 'odd\u0001', versionId: 'v' }]), versions([]));
  aws.on('s3:DeleteObject', noContent);
  expect(await run()).toEqual(GONE);
  const about = aws.seen.filter(({ operation }) => /ListObjectVersions|DeleteObject|Multipart/.test(operation));
  expect(new Set(about.map(({ headers }) => headers['x-amz-request-payer']))).toEqual(new Set(['requester']));
});
