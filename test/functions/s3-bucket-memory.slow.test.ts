/*
 * What s3-bucket keeps in memory while it empties a bucket of 200,000 versions, all in one run, against scripted answers of
 * S3: a few pages, whatever the bucket holds. Keys are long, so that all of them together would be far more than that.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { deleteResult, type Scripted, versions } from '../support/scripted-aws.ts';
import { scriptedBucket } from './scripted-bucket.ts';

const VERSIONS = 200_000;
const DIGITS = 6;
const TAIL = 'k'.repeat(400);
/** What the keys take that a client has read: one byte for each of their letters. */
const KEYS_BYTES = VERSIONS * (DIGITS + TAIL.length);
const PAGES_A_LOOK = 10;
const RUN_MS = 600_000;

const { aws, run } = await scriptedBucket();

/** A bucket with so many versions, which are numbered: how it lists what is left, and deletes. */
function numberedBucket(): { readonly list: Scripted; readonly remove: Scripted; readonly left: () => number } {
  const here = new Uint8Array(VERSIONS).fill(1);
  const list: Scripted = ({ query }) => {
    const prefix = query.get('prefix') ?? '';
    const marker = query.get('key-marker')?.slice(0, DIGITS).replace(/\D.*$/u, '');
    const from = Math.max(
      Number(prefix.padEnd(DIGITS, '0')),
      marker === undefined ? 0 : Number(marker.padEnd(DIGITS, '9')) + 1,
    );
    const most = Number(query.get('max-keys'));
    const found: number[] = [];
    for (let at = from; at <= Number(prefix.padEnd(DIGITS, '9')) && at < VERSIONS && found.length < most; at += 1) {
      if (here[at] === 1) found.push(at);
    }
    const page = found.map((at) => ({ key: `${String(at).padStart(DIGITS, '0')}${TAIL}`, versionId: 'v' }));
    const last = page.at(-1);
    return versions(page, page.length === most && last !== undefined ? last : undefined);
  };
  const remove: Scripted = ({ body }) => {
    for (const [, at] of body.matchAll(/<Key>(\d+)/g)) here[Number(at)] = 0;
    aws.reset('requests');
    return deleteResult();
  };
  return { list, remove, left: () => here.filter((one) => one === 1).length };
}

it('keeps a few pages in memory, whatever the bucket holds', { timeout: RUN_MS }, async () => {
  const bucket = numberedBucket();
  aws.on('s3:ListObjectVersions', bucket.list);
  aws.on('s3:DeleteObjects', bucket.remove);
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const sizes: number[] = [];
  let pages = 0;
  const observe = (call: string) => {
    if (call !== 's3:DeleteObjects') return;
    pages += 1;
    if (pages % PAGES_A_LOOK !== 0) return;
    collect();
    sizes.push(process.memoryUsage().heapUsed);
  };
  expect(await run({ observe, time: RUN_MS })).toEqual({ outcome: 'gone', evidence: 'deleted' });
  expect(bucket.left()).toBe(0);
  const [first = 0] = sizes;
  expect(sizes.length).toBeGreaterThanOrEqual(VERSIONS / 1000 / PAGES_A_LOOK);
  expect(Math.max(...sizes) - first, `bytes, of ${KEYS_BYTES}: ${sizes.join()}`).toBeLessThan(KEYS_BYTES / 2);
});
