/*
 * A watch on an older server, which knows no streaming list and is listed in pages; and how a watch is stopped.
 * How a watch ends otherwise, and goes on, is in watch.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { metaOf } from '../support/bridge-builders.ts';
import { settled } from '../support/manual-clock.ts';
import { WatchBench } from '../support/watch-bench.ts';

const MINUTE = 60_000;

describe('an older server', () => {
  const pages = [
    { items: [metaOf({ name: 'a', resourceVersion: '1' })], resourceVersion: '9', next: '1' },
    { items: [metaOf({ name: 'b', resourceVersion: '2' })], resourceVersion: '9' },
  ];

  async function older(): Promise<WatchBench> {
    const bench = new WatchBench();
    bench.pages = pages;
    await bench.start();
    bench.stream.end(new ApiError('watching', 422));
    await settled();
    return bench;
  }

  it.each([400, 422])(
    'that knows no streaming list, and says %d, is listed in pages and then watched',
    async (status) => {
      const bench = new WatchBench();
      bench.pages = pages;
      await bench.start();
      bench.stream.end(new ApiError('watching', status));
      await settled();
      expect(bench.listed).toEqual([
        { limit: 500, next: undefined },
        { limit: 500, next: '1' },
      ]);
      expect(bench.seen).toEqual(['listing', 'listing', 'present a@1', 'present b@2', 'synced', 'resumed']);
      expect(bench.stream.from).toBe('9');
    },
  );

  it('whose list fails on the way is listed from the start, after a pause', async () => {
    const bench = new WatchBench();
    bench.pages = pages.slice(0, 1);
    await bench.start();
    bench.stream.end(new ApiError('watching', 422));
    await settled();
    expect(bench.seen.slice(-2)).toEqual(['present a@1', 'blind Http500']);
    bench.pages = pages;
    await bench.clock.advance(1_000);
    expect(bench.seen.slice(-5)).toEqual(['listing', 'present a@1', 'present b@2', 'synced', 'resumed']);
  });

  it('that refuses a version it once gave is not taken for one', async () => {
    const bench = await WatchBench.synced();
    await bench.endAfter(MINUTE, new ApiError('watching', 400));
    await bench.clock.advance(1_000);
    expect(bench.listed).toEqual([]);
    expect(bench.stream.from).toBe('5');
  });

  it('is listed in pages again when its version is too old (K12)', async () => {
    const bench = await older();
    await bench.endAfter(MINUTE, new ApiError('watching', 410));
    expect(bench.listed).toHaveLength(4);
  });
});

describe('stopping', () => {
  it('cuts the watch and hands nothing more over', async () => {
    const bench = await WatchBench.synced();
    const stopped = bench.watcher.stop();
    await stopped;
    expect(bench.stream.isOpen).toBe(false);
    await bench.clock.advance(10 * MINUTE);
    expect(bench.streams).toHaveLength(1);
    expect(bench.seen.at(-1)).toBe('synced');
    expect(bench.clock.due).toEqual([]);
  });

  it('ends a pause', async () => {
    const bench = new WatchBench();
    await bench.start();
    bench.stream.end(new ApiError('watching', 500));
    await settled();
    await bench.watcher.stop();
    expect(bench.clock.due).toEqual([]);
    expect(bench.streams).toHaveLength(1);
  });

  it('between the pages of a list does not leave a watch open', async () => {
    const bench = new WatchBench();
    let stopped: Promise<void> | undefined;
    bench.pages = [{ items: [], resourceVersion: '9' }];
    bench.paging = () => {
      stopped = bench.watcher.stop();
    };
    await bench.start();
    bench.stream.end(new ApiError('watching', 422));
    await settled();
    expect(stopped).toBeDefined();
    await stopped;
    expect(bench.streams.filter(({ isOpen }) => isOpen)).toEqual([]);
  });
});
