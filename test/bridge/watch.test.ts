/*
 * One kind, watched for ever: over streams written by hand and virtual time, every way a watch can end.
 * The streams are in support/watch-bench.ts; what is done with what is seen in intake.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { RELIST_MS, SHORT_LIVED_MS, STALL_MS } from '../../bridge/watch.ts';
import { counts, metaOf } from '../support/bridge-builders.ts';
import { settled } from '../support/manual-clock.ts';
import { added, bookmark, present, WatchBench } from '../support/watch-bench.ts';

const MINUTE = 60_000;

describe('a watch', () => {
  it('begins with a list that streams, and says when it is complete', async () => {
    const bench = new WatchBench();
    await bench.start();
    expect(bench.stream.from).toBeUndefined();
    await bench.stream.say(present('a', '3'), present('b', '2'));
    expect(bench.seen).toEqual(['listing', 'present a@3', 'present b@2']);
    await bench.stream.say(bookmark('5', true), present('c', '6'), { type: 'deleted', meta: metaOf({ name: 'a' }) });
    expect(bench.seen.slice(3)).toEqual(['synced', 'present c@6', 'deleted a']);
    expect(bench.listed).toEqual([]);
  });

  it('tells what is created while it goes on from what a list shows, and what is changed', async () => {
    const bench = new WatchBench();
    await bench.start();
    await bench.stream.say(added('a', '3'), bookmark('5', true), added('b', '6'), present('b', '7'));
    expect(bench.seen).toEqual(['listing', 'present a@3', 'synced', 'new b@6', 'present b@7']);
    await bench.endAfter(MINUTE);
    await bench.stream.say(added('c', '8'));
    expect(bench.seen.at(-1)).toBe('new c@8');
    await bench.endAfter(MINUTE, new ApiError('watching', 410));
    await bench.clock.advance(1_000);
    await bench.stream.say(added('c', '8'));
    expect(bench.seen.slice(-2)).toEqual(['listing', 'present c@8']);
  });

  it('that ends quietly after a while is opened again at once, where it stopped (K17)', async () => {
    const bench = await WatchBench.synced();
    await bench.stream.say(present('logs', '7'));
    await bench.endAfter(2 * MINUTE);
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBe('7');
    expect(bench.seen.slice(-2)).toEqual(['present logs@7', 'resumed']);
    expect(await counts(bench.metrics.watchRestarts)).toEqual({ 'storage.example.com/buckets/Ended': 1 });
  });

  it('moves on by bookmarks as well as by objects', async () => {
    const bench = await WatchBench.synced();
    await bench.stream.say(bookmark('50'));
    await bench.endAfter(MINUTE);
    expect(bench.stream.from).toBe('50');
  });

  it('that breaks inside the initial list begins a new list: its order is none to resume from', async () => {
    const bench = new WatchBench();
    await bench.start();
    await bench.stream.say(present('a', '9'));
    await bench.endAfter(MINUTE);
    expect(bench.seen.at(-1)).toBe('blind Ended');
    await bench.clock.advance(1_000);
    expect(bench.stream.from).toBeUndefined();
    expect(bench.seen.at(-1)).toBe('listing');
  });

  it('that is silent is cut and opened again, though nobody said that it ended (K10)', async () => {
    const bench = await WatchBench.synced();
    await bench.clock.advance(STALL_MS - 1);
    expect(bench.stream.isOpen).toBe(true);
    await bench.stream.say(bookmark('6'));
    await bench.clock.advance(STALL_MS - 1);
    expect(bench.stream.isOpen).toBe(true);
    await bench.clock.advance(1);
    expect(bench.stream.isOpen).toBe(false);
    expect(bench.seen.at(-1)).toBe('blind Stalled');
    await bench.clock.advance(1_000);
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBe('6');
    expect(bench.seen.at(-1)).toBe('resumed');
    expect(await counts(bench.metrics.watchRestarts)).toEqual({ 'storage.example.com/buckets/Stalled': 1 });
  });

  it('that is silent again where it was resumed lists anew, and counts as not watched until that is complete (K10)', async () => {
    const bench = await WatchBench.synced();
    await bench.clock.advance(STALL_MS + 1_000);
    expect([bench.stream.from, bench.seen.at(-1), bench.watcher.isWatching]).toEqual(['5', 'resumed', true]);
    await bench.clock.advance(STALL_MS + 1_000);
    expect(bench.stream.from).toBeUndefined();
    expect([bench.seen.at(-1), bench.watcher.isWatching]).toEqual(['listing', false]);
    await bench.stream.say(present('logs', '3'), bookmark('9', true));
    expect([bench.seen.at(-1), bench.watcher.isWatching]).toEqual(['synced', true]);
  });

  it('is listed anew every half hour or so, so that what was lost is found (K10)', async () => {
    const bench = await WatchBench.synced();
    for (let at = MINUTE; at <= RELIST_MS; at += MINUTE) {
      expect(bench.streams).toHaveLength(1);
      await bench.clock.advance(MINUTE);
      await bench.stream.say(bookmark(String(100 + at)));
    }
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBeUndefined();
    expect(bench.seen.filter((word) => word === 'listing')).toHaveLength(2);
    expect(await counts(bench.metrics.watchRestarts)).toEqual({ 'storage.example.com/buckets/Relist': 1 });
  });
});

describe('a watch that fails', () => {
  it('again and again is opened with growing pauses, and never in a storm (K11)', async () => {
    const bench = new WatchBench();
    await bench.start();
    const pauses: number[] = [];
    for (let failures = 0; failures < 10; failures += 1) {
      bench.stream.end(new ApiError('watching', 500));
      await settled();
      const [pause = 0] = bench.clock.due;
      pauses.push(pause);
      await bench.clock.advance(pause);
      expect(bench.streams).toHaveLength(failures + 2);
    }
    expect(pauses).toEqual([150, 300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 22_500, 22_500]);
    expect(bench.seen.filter((word) => word === 'blind Http500')).toHaveLength(10);
  });

  it.each([
    ['quietly', undefined],
    ['with an error', new ApiError('watching', 0)],
    ['with 410', new ApiError('watching', 410)],
  ])('%s right after each list is no storm either (K11, K12)', async (_how, error) => {
    const bench = await WatchBench.synced();
    const opened: number[] = [];
    const begun = bench.clock.monotonic();
    while (bench.clock.monotonic() - begun < MINUTE) {
      if (bench.stream.isOpen) {
        opened.push(bench.clock.monotonic());
        await bench.stream.say(present('logs', '7'), bookmark('8', bench.stream.from === undefined));
        bench.stream.end(error);
      }
      await bench.clock.advance(50);
    }
    expect(opened.length).toBeLessThan(12);
    expect(opened.length).toBeGreaterThan(5);
  });

  it('waits at least as long as the API server asked (K13)', async () => {
    const bench = await WatchBench.synced();
    await bench.endAfter(MINUTE, new ApiError('watching', 429, { retryAfter: 7_000 }));
    await bench.clock.advance(6_999);
    expect(bench.streams).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBe('5');
  });

  it('begins with short pauses again after it has held for a while', async () => {
    const bench = new WatchBench();
    await bench.start();
    for (let failures = 0; failures < 6; failures += 1) {
      bench.stream.end(new ApiError('watching', 500));
      await bench.clock.advance(30_000);
    }
    await bench.stream.say(bookmark('5', true));
    await bench.clock.advance(SHORT_LIVED_MS);
    await bench.stream.say(bookmark('6'));
    bench.stream.end(new ApiError('watching', 500));
    await settled();
    expect(bench.clock.due).toEqual([150]);
  });

  it('after it has held for a while begins with short pauses, though nothing happened meanwhile', async () => {
    const bench = await WatchBench.synced();
    for (let failures = 0; failures < 6; failures += 1) {
      bench.stream.end(new ApiError('watching', 0));
      await bench.clock.advance(30_000);
    }
    bench.stream.end(new ApiError('watching', 0));
    await settled();
    expect(bench.clock.due).toEqual([150]);
  });

  it('in the middle of a list, however slowly that came, is followed by ever longer pauses (K11)', async () => {
    const bench = new WatchBench();
    await bench.start();
    const pauses: number[] = [];
    for (let failures = 0; failures < 4; failures += 1) {
      await bench.clock.advance(SHORT_LIVED_MS);
      await bench.stream.say(present('logs', '3'));
      bench.stream.end(new ApiError('watching', 0));
      await settled();
      const [pause = 0] = bench.clock.due;
      pauses.push(pause);
      await bench.clock.advance(pause);
    }
    expect(pauses).toEqual([150, 300, 600, 1_200]);
  });

  it('because its version is too old lists anew at once, however often it could not be opened before (K12)', async () => {
    const bench = await WatchBench.synced();
    await bench.clock.advance(MINUTE);
    for (let failures = 0; failures < 6; failures += 1) {
      bench.stream.end(new ApiError('watching', 0));
      await settled();
      await bench.clock.advance(bench.clock.due[0] ?? 0);
    }
    const opened = bench.streams.length;
    expect([opened, bench.stream.from]).toEqual([7, '5']);
    bench.stream.end(new ApiError('watching', 410));
    await settled();
    expect([bench.streams.length, bench.stream.from]).toEqual([8, undefined]);
  });

  it('is not made to wait for those who did not answer by one who does, and says when to come again (K13)', async () => {
    const bench = await WatchBench.synced();
    for (let failures = 0; failures < 8; failures += 1) {
      bench.stream.end(new ApiError('watching', 0));
      await settled();
      await bench.clock.advance(bench.clock.due[0] ?? 0);
    }
    bench.stream.end(new ApiError('watching', 429, { retryAfter: 1_000 }));
    await settled();
    expect(bench.clock.due).toEqual([1_000]);
  });

  it('in every way in turn is tried ever more rarely all the same (K11)', async () => {
    const bench = await WatchBench.synced();
    const begun = bench.clock.monotonic();
    for (let turn = 0; bench.clock.monotonic() - begun < 10 * MINUTE; turn += 1) {
      bench.stream.end(new ApiError('watching', [0, 410, 429, 500, 503, 504][turn % 6] ?? 0));
      await settled();
      await bench.clock.advance(bench.clock.due.find((at) => at < STALL_MS) ?? 0);
    }
    // At a pause of 200 ms there would be 3,000.
    expect(bench.streams.length).toBeLessThan(80);
  });

  it('because its version is too old drops the version, lists anew at once, and is counted (K12)', async () => {
    const bench = await WatchBench.synced();
    await bench.endAfter(MINUTE, new ApiError('watching', 410));
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBeUndefined();
    expect(bench.seen.at(-1)).toBe('listing');
    expect(await counts(bench.metrics.watchRestarts)).toEqual({ 'storage.example.com/buckets/Expired': 1 });
  });
});
