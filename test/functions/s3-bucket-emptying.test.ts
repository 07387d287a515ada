/*
 * The handler s3-bucket against scripted answers of S3, through the real SDK client: how it empties a bucket and deletes it.
 * What no emulator shows: per-key errors, throttling, changes while it works.
 */
import { describe, expect, it } from 'vitest';
import { isExpressible } from '../../functions/handlers/s3-bucket/delete-versions.ts';
import { deleteResult, noContent, s3Error, tagging, versions } from '../support/scripted-aws.ts';
import { OWNER_TAG } from './fixtures.ts';
import { OWNED, realClock } from './runs.ts';
import { one, scriptedBucket } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();

describe('emptying', () => {
  it('proves by a fresh look that nothing is left, then reads ownership again, then deletes the bucket (V13)', async () => {
    aws.on('s3:ListObjectVersions', versions(one), versions([]));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(aws.operations().slice(-4)).toEqual([
      's3:ListMultipartUploads',
      's3:ListObjectVersions',
      's3:GetBucketTagging',
      's3:DeleteBucket',
    ]);
  });

  it('pages by both markers, decodes keys, and sends no empty batch (C1, C3)', async () => {
    const key = 'a b+c/ü&<>%2F';
    aws.on(
      's3:ListObjectVersions',
      versions(
        [
          { key, versionId: 'null' },
          { key, versionId: 'm', isMarker: true },
        ],
        { key, versionId: 'm' },
      ),
      versions([]),
    );
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    const lists = aws.seen.filter(({ operation }) => operation === 's3:ListObjectVersions');
    expect(lists[1]?.query.get('key-marker')).toBe(key);
    expect(lists[1]?.query.get('version-id-marker')).toBe('m');
    expect(lists.every(({ query }) => query.get('encoding-type') === 'url')).toBe(true);
    const batches = aws.seen.filter(({ operation }) => operation === 's3:DeleteObjects');
    expect(batches).toHaveLength(1);
    expect(batches[0]?.body).toContain('<Key>a b+c/ü&amp;&lt;&gt;%2F</Key><VersionId>null</VersionId>');
    expect(batches[0]?.body).toContain('<VersionId>m</VersionId>');
  });

  it('takes per-key errors of a 200 for what they are, and looks again before it says gone (C3)', async () => {
    aws.on('s3:ListObjectVersions', versions([...one, { key: 'b', versionId: 'v2' }]), versions(one), versions([]));
    aws.on('s3:DeleteObjects', deleteResult([{ key: 'a', versionId: 'v1', code: 'InternalError' }]), deleteResult());
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(deletes()).toEqual(['s3:DeleteObjects', 's3:DeleteObjects', 's3:DeleteBucket']);
  });

  it('says pending when no key of a 200 was deleted, and never deletes the bucket (C3)', async () => {
    aws.on('s3:ListObjectVersions', versions(one));
    aws.on('s3:DeleteObjects', deleteResult([{ key: 'a', versionId: 'v1', code: 'InternalError' }]));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'NotEmptying' });
    expect(JSON.stringify(outcome)).toContain('InternalError');
    expect(deletes()).toEqual(['s3:DeleteObjects']);
  });

  it('deletes keys that XML cannot hold one by one (C3)', async () => {
    const odd = ['\u0000', 'bell\u0007', 'line\nfeed', 'carriage\rreturn', '\uffff', 'next\u0085line'];
    aws.on('s3:ListObjectVersions', versions(odd.map((key) => ({ key, versionId: 'v' }))), versions([]));
    aws.on('s3:DeleteObject', noContent);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    const single = aws.seen.filter(({ operation }) => operation === 's3:DeleteObject');
    expect(single.map(({ path }) => decodeURIComponent(path)).sort()).toEqual(
      odd.map((key) => `/team-a-logs/${key}`).sort(),
    );
    expect(single.every(({ query }) => query.get('versionId') === 'v')).toBe(true);
    expect(aws.operations()).not.toContain('s3:DeleteObjects');
  });

  it('never turns a dot segment of a key into a path (C3)', async () => {
    aws.on('s3:ListObjectVersions', versions([{ key: 'x\u0001/../../team-b-logs', versionId: 'v' }]));
    aws.on('s3:DeleteObject', noContent);
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'NotEmptying' });
    expect(deletes()).toEqual([]);
  });

  it('falls back to single deletes when S3 cannot read the batch (C3)', async () => {
    aws.on('s3:ListObjectVersions', versions(one), versions([]));
    aws.on('s3:DeleteObjects', s3Error(400, 'MalformedXML'));
    aws.on('s3:DeleteObject', noContent);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(deletes()).toEqual(['s3:DeleteObjects', 's3:DeleteObject', 's3:DeleteBucket']);
  });

  it('goes on after SlowDown and after a lost connection', async () => {
    aws.on(
      's3:ListObjectVersions',
      s3Error(503, 'SlowDown'),
      versions(one),
      versions(one),
      versions(one),
      versions([]),
    );
    aws.on('s3:DeleteObjects', s3Error(503, 'SlowDown'), 'hangUp', deleteResult());
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('empties again when the bucket was filled in between, and says so if that does not end', async () => {
    aws.on('s3:ListObjectVersions', versions([]), versions(one), versions([]));
    aws.on('s3:DeleteBucket', s3Error(409, 'BucketNotEmpty'), noContent);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    aws.on('s3:ListObjectVersions', versions([]));
    aws.on('s3:DeleteBucket', s3Error(409, 'BucketNotEmpty'));
    expect(await run()).toMatchObject({ outcome: 'pending', reason: 'Refilled' });
  });

  it('says deleted when a duplicate was faster', async () => {
    aws.on('s3:DeleteBucket', s3Error(404, 'NoSuchBucket'));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    aws.on('s3:ListObjectVersions', s3Error(404, 'NoSuchBucket'));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    aws.on('s3:ListObjectVersions', versions(one));
    aws.on('s3:DeleteObjects', s3Error(404, 'NoSuchBucket'));
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
  });

  it('does not delete the bucket when its ownership changed while it was emptied (V13)', async () => {
    aws.on('s3:GetBucketTagging', tagging(OWNED), tagging({ [OWNER_TAG]: 'successor' }));
    aws.on('s3:ListObjectVersions', versions(one), versions([]));
    expect(await run()).toMatchObject({ outcome: 'refused', reason: 'NotOwned' });
    expect(deletes()).toEqual(['s3:DeleteObjects']);
  });

  it('reads ownership again within 5 s of each page of deletes (V13)', async () => {
    let skew = 0;
    const clock = { ...realClock, monotonic: () => performance.now() + skew };
    let page = 0;
    aws.on('s3:ListObjectVersions', async () => {
      page += 1;
      if (page > 1) await expect.poll(deletes).toHaveLength(1);
      skew += 4000;
      return page < 4 ? versions(one, { key: `a${page}`, versionId: 'v1' }) : versions([]);
    });
    aws.on(
      's3:GetBucketTagging',
      tagging(OWNED),
      tagging(OWNED),
      tagging({ ...OWNED, 'finalizer-bridge.dev/keep': '' }),
    );
    expect(await run({ clock, time: 200_000 })).toMatchObject({ outcome: 'refused', reason: 'Kept' });
    expect(deletes()).toEqual(['s3:DeleteObjects']);
  });

  it('stops at the abort signal: no delete begins after it, and the answer is pending with progress (F6)', async () => {
    let page = 0;
    aws.on('s3:ListObjectVersions', () => {
      page += 1;
      return versions(one, { key: `a${page}`, versionId: 'v1' });
    });
    // With four in flight the sixth only begins when two have ended, so there is progress to tell of.
    const outcome = await run({ abortAt: { call: 's3:DeleteObjects', time: 6 } });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'OutOfTime' });
    expect(JSON.stringify(outcome)).toMatch(/"progress":"[\d,]+ versions deleted in this run, more remain"/);
    // A round trip: what was under way when the signal came has arrived by then.
    await fetch(aws.endpoint);
    expect(deletes().length).toBeGreaterThanOrEqual(2);
    expect(deletes().length).toBeLessThan(6);
    expect(aws.operations()).not.toContain('s3:DeleteBucket');
  });

  it('keeps a few delete calls in flight while listing goes on, at first four', async () => {
    let inFlight = 0;
    let most = 0;
    let page = 0;
    aws.on('s3:ListObjectVersions', () => {
      page += 1;
      return page <= 12 ? versions([{ key: `k${page}`, versionId: 'v' }], { key: `k${page}` }) : versions([]);
    });
    aws.on('s3:DeleteObjects', async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      // Held until the listing is further than the deletes may be.
      await expect.poll(() => page).toBeGreaterThan(4);
      inFlight -= 1;
      return deleteResult();
    });
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(6);
  });
});

it('knows which keys XML can hold', () => {
  expect(['a', 'ü', '😀', 'a b', '<&>"'].filter(isExpressible)).toHaveLength(5);
  expect(['\t', '\n', '\r', '\u0000', '\u001f', '\u007f', '\ufffe', '\ud800'].filter(isExpressible)).toEqual([]);
});
