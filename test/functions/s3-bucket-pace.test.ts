/*
 * How the handler s3-bucket goes about a large bucket: the number of deletes in flight follows what S3 says, and a long
 * listing is split into parts. Against virtual time, and a scripted S3 whose listing answers as S3's does.
 */
import { describe, expect, it } from 'vitest';
import { createPace } from '../../functions/handlers/s3-bucket/pace.ts';
import { deleteResult, type Seen, s3Error, versions } from '../support/scripted-aws.ts';
import { virtualClock } from './fixtures.ts';
import { one, scriptedBucket } from './scripted-bucket.ts';

const { aws, run, deletes } = await scriptedBucket();
const GONE = { outcome: 'gone', evidence: 'deleted' };

describe('the pace', () => {
  const newPace = () => {
    const clock = virtualClock();
    return { clock, pace: createPace(clock, new AbortController().signal) };
  };

  it('gains one slot for each round that went well, up to twelve', () => {
    const { pace } = newPace();
    const slots = Array.from({ length: 200 }, () => {
      pace.wentWell();
      return Math.floor(pace.slots);
    });
    expect(slots.slice(0, 5)).toEqual([4, 4, 4, 4, 5]);
    expect(slots.at(-1)).toBe(12);
  });

  it('halves its slots once for all that are told to slow down together, and begins nothing for a while', async () => {
    const { clock, pace } = newPace();
    for (let told = 0; told < 4; told += 1) pace.slowDown();
    expect(pace.slots).toBe(2);
    let began = false;
    const beginning = pace.begin(async () => {
      began = true;
    });
    await clock.advance(499);
    expect(began).toBe(false);
    await clock.advance(1);
    await beginning;
    expect(began).toBe(true);
  });

  it('waits longer each time in a row, and keeps one slot', async () => {
    const { clock, pace } = newPace();
    const waits: number[] = [];
    for (let told = 0; told < 7; told += 1) {
      const before = clock.now();
      pace.slowDown();
      const over = pace.paused().then(() => waits.push(clock.now() - before));
      await clock.advance(16_000);
      await over;
    }
    expect(waits).toHaveLength(7);
    expect(pace.slots).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it('never has more in flight than slots', async () => {
    const { pace } = newPace();
    let inFlight = 0;
    let most = 0;
    for (let begun = 0; begun < 50; begun += 1) {
      await pace.begin(async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
      });
    }
    await pace.rest();
    expect([inFlight, most]).toEqual([0, 4]);
  });
});

it('slows down for a SlowDown of one key among others, and deletes it in the next pass (C3)', async () => {
  aws.on('s3:ListObjectVersions', versions([...one, { key: 'b', versionId: 'v2' }]), versions(one), versions([]));
  aws.on('s3:DeleteObjects', deleteResult([{ key: 'a', versionId: 'v1', code: 'SlowDown' }]), deleteResult());
  expect(await run()).toEqual(GONE);
  expect(deletes()).toEqual(['s3:DeleteObjects', 's3:DeleteObjects', 's3:DeleteBucket']);
});

it('gives up for this run when S3 has no room for a delete again and again', async () => {
  aws.on('s3:ListObjectVersions', versions(one));
  aws.on('s3:DeleteObjects', s3Error(503, 'SlowDown'));
  expect(await run({ time: 4_000 })).toMatchObject({ outcome: 'pending' });
  expect(deletes()).not.toContain('s3:DeleteBucket');
});

describe('a long listing', () => {
  /** S3 as far as it lists: a page holds `size` keys, in the order of their bytes. */
  function listing(keys: readonly string[], size: number) {
    const left = new Set(keys);
    const order = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
    const answer = ({ query }: Seen) => {
      const prefix = query.get('prefix') ?? '';
      const marker = query.get('key-marker') ?? '';
      const room = Math.min(size, Number(query.get('max-keys')));
      const found = [...left].filter((key) => key.startsWith(prefix) && order(key, marker) > 0).sort(order);
      const page = found.slice(0, room);
      const last = page.at(-1);
      return versions(
        page.map((key) => ({ key, versionId: 'v' })),
        found.length > room && last !== undefined ? { key: last, versionId: 'v' } : undefined,
      );
    };
    aws.on('s3:ListObjectVersions', answer);
    aws.on('s3:DeleteObjects', ({ body }) => {
      for (const [, key = ''] of body.matchAll(/<Key>([^<]*)<\/Key>/g)) left.delete(key);
      return deleteResult();
    });
    return left;
  }
  const range = (count: number, name: (index: number) => string) => Array.from({ length: count }, (_, at) => name(at));
  const prefixes = () => new Set(aws.seen.map(({ query }) => query.get('prefix')).filter((one) => one !== null));
  const number = (index: number) => String(index).padStart(4, '0');

  it.each([
    ['folders', range(400, (at) => `logs/${'abcdefgh'[at % 8]}/${number(at)}`), 'logs/h'],
    ['no slash at all', range(400, (at) => `${(at * 7919) % 1000}-${number(at)}`), '9'],
    [
      'one folder of nearly all',
      [...range(390, (at) => `a/${'xyz'[at % 3]}${number(at)}`), ...range(10, (at) => `b/${at}`)],
      'a/z',
    ],
    ['letters beyond the alphabet', range(400, (at) => `${['ä', 'é', '😀', '\uffee'][at % 4]}/${number(at)}`), '😀'],
    [
      'more beginnings than parts',
      range(400, (at) => `${String.fromCodePoint(0x4e00 + (at % 100))}${number(at)}`),
      '专',
    ],
    ['keys one of which begins the other', range(400, (at) => 'k'.repeat(at + 1)), undefined],
  ])('of keys with %s is split, several parts are listed, and nothing is left', async (_what, keys, prefix) => {
    const left = listing(keys, 10);
    expect(await run()).toEqual(GONE);
    expect(left.size).toBe(0);
    if (prefix !== undefined) expect(prefixes()).toContain(prefix);
    expect(aws.operations().slice(-3)).toEqual(['s3:ListObjectVersions', 's3:GetBucketTagging', 's3:DeleteBucket']);
  });
});
