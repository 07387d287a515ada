/*
 * The watches of all kinds: begun with the first rule of a kind, ended with the last, each by itself (P10). Over the fake
 * API server and virtual time; how one watch behaves is in watch.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import { ApiError, type KindRef, type ObjectMeta } from '../../bridge/ports.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import type { Sink } from '../../bridge/watch-sink.ts';
import { Watches } from '../../bridge/watches.ts';
import { BUCKETS, keptLog } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { bookmark, present, WatchBench } from '../support/watch-bench.ts';

/** Watches of no kind yet, and what they hand over. */
function bench(served = EVERYWHERE) {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  const seen: string[] = [];
  const note = (what: string) => (kind: KindRef, more?: ObjectMeta | string) => {
    const detail = typeof more === 'string' ? ` ${more}` : more === undefined ? '' : ` ${more.name}`;
    seen.push(`${kind.resource} ${what}${detail}`);
  };
  const sink: Sink = {
    ...{ listing: note('listing'), present: note('present'), deleted: note('deleted'), synced: note('synced') },
    ...{ blind: note('blind'), resumed: note('resumed') },
  };
  const metrics = createMetrics();
  const watches = new Watches({ cluster, clock, random: () => 0.5, sink, metrics, log: keptLog().log, served });
  return { clock, cluster, seen, watches };
}

describe('the watches', () => {
  it('begin with a kind, and end with it: nothing more is handed over, and the kind counts as not watched', async () => {
    const { cluster, seen, watches } = bench();
    watches.set([BUCKETS, VOLUMES]);
    await settled();
    expect(seen).toEqual(['buckets listing', 'volumes listing', 'buckets synced', 'volumes synced']);
    watches.set([VOLUMES]);
    await settled();
    cluster.create({ name: 'logs' });
    cluster.create({ name: 'disk', kind: VOLUMES });
    await settled();
    expect(seen.slice(4)).toEqual(['buckets blind Unneeded', 'volumes present disk']);
    expect([watches.has(BUCKETS), watches.has(VOLUMES)]).toEqual([false, true]);
  });

  it('leave a kind alone that stays, however often the kinds are set', async () => {
    const { cluster, seen, watches } = bench();
    watches.set([BUCKETS]);
    await settled();
    watches.set([BUCKETS, VOLUMES]);
    watches.set([BUCKETS, BUCKETS]);
    watches.set([BUCKETS]);
    await settled();
    expect(seen.filter((word) => word.startsWith('buckets'))).toEqual(['buckets listing', 'buckets synced']);
    expect(cluster.calls.filter(({ name }) => name === 'buckets')).toHaveLength(1);
  });

  it('list a kind anew that comes again', async () => {
    const { cluster, seen, watches } = bench();
    watches.set([BUCKETS]);
    await settled();
    watches.set([]);
    await settled();
    cluster.create({ name: 'logs' });
    watches.set([BUCKETS]);
    await settled();
    expect(seen.slice(2)).toEqual([
      'buckets blind Unneeded',
      'buckets listing',
      'buckets present logs',
      'buckets synced',
    ]);
  });

  it('of one kind that is refused do not disturb the others (K17)', async () => {
    const { clock, cluster, seen, watches } = bench();
    cluster.refused.set('storage.example.com/volumes', 403);
    watches.set([VOLUMES, BUCKETS]);
    await settled();
    cluster.create({ name: 'logs' });
    await clock.advance(60_000);
    expect(seen.filter((word) => word.startsWith('buckets'))).toEqual([
      ...['buckets listing', 'buckets synced', 'buckets present logs'],
    ]);
    expect(seen).toContain('volumes blind Http403');
  });

  it('list one kind again when asked to, and no other', async () => {
    const { cluster, seen, watches } = bench();
    cluster.create({ name: 'logs' });
    watches.set([BUCKETS, VOLUMES]);
    await settled();
    const before = seen.length;
    watches.relist(BUCKETS);
    watches.relist({ ...BUCKETS, resource: 'unknown' });
    await settled();
    expect(seen.slice(before)).toEqual(['buckets listing', 'buckets present logs', 'buckets synced']);
  });

  it('begin none after they were stopped, and leave nothing to fall due', async () => {
    const { clock, cluster, watches } = bench();
    watches.set([BUCKETS]);
    await settled();
    await watches.stop();
    watches.set([VOLUMES]);
    await settled();
    expect(cluster.count('watch')).toBe(1);
    expect(clock.due).toEqual([]);
  });
});

describe('a watch that is to list again', () => {
  it('brings a list that is under way to its end first, so that calls for more cannot starve it', async () => {
    const bench = new WatchBench();
    await bench.start();
    await bench.stream.say(present('a', '3'));
    bench.watcher.relist();
    await settled();
    bench.watcher.relist();
    await bench.stream.say(present('b', '4'), bookmark('5', true));
    expect(bench.seen).toEqual(['listing', 'present a@3', 'present b@4', 'synced', 'listing']);
    expect(bench.streams).toHaveLength(2);
    expect(bench.stream.from).toBeUndefined();
  });

  it('does so after the last page, where it was listing in pages', async () => {
    const bench = new WatchBench();
    bench.pages = [{ items: [], resourceVersion: '9' }];
    bench.paging = () => {
      if (bench.listed.length === 0) bench.watcher.relist();
    };
    await bench.start();
    bench.stream.end(new ApiError('watching', 422));
    await settled();
    expect(bench.listed).toHaveLength(2);
    expect(bench.seen.filter((word) => word === 'synced')).toHaveLength(2);
    expect(bench.stream.isOpen).toBe(true);
    expect(bench.seen.filter((word) => word.startsWith('blind'))).toEqual([]);
  });

  it('is no failure: it is not blind meanwhile, and pauses do not grow', async () => {
    const bench = await WatchBench.synced();
    for (let turn = 0; turn < 5; turn += 1) {
      bench.watcher.relist();
      await settled();
      await bench.stream.say(bookmark('6', true));
    }
    expect(bench.streams).toHaveLength(6);
    expect(bench.seen.filter((word) => word.startsWith('blind'))).toEqual([]);
  });

  it('waits for the pause to end after a failure, and lists then', async () => {
    const bench = await WatchBench.synced();
    await bench.endAfter(60_000, new ApiError('watching', 429, { retryAfter: 5_000 }));
    bench.watcher.relist();
    await bench.clock.advance(4_999);
    expect(bench.streams).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.stream.from).toBeUndefined();
  });
});
