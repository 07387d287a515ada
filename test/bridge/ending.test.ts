/*
 * The end of a deletion, seen late, twice or in another order: told once, whatever lists and watches show of it afterwards.
 * The real bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { Finished } from '../../bridge/finished.ts';
import { ApiError, type WatchFrame } from '../../bridge/ports.ts';
import { BUCKETS, counts, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };

/** A deletion that came to its end, and the last sight of the object with its entry. */
async function ended(): Promise<{ readonly scene: Scene; readonly late: WatchFrame }> {
  const scene = await Scene.start();
  await scene.deleted();
  const object = scene.cluster.peek('logs');
  if (object === undefined) throw new Error('it waits for its result');
  expect(await scene.answer(gone)).toBe(true);
  await settled();
  expect(scene.cluster.peek('logs')).toBeUndefined();
  return { scene, late: { type: 'present', meta: object.metadata } };
}

/** Every list has these frames in front, and these after its end. */
function listing({ cluster }: Scene, before: readonly WatchFrame[], after: readonly WatchFrame[]): void {
  const watch = cluster.watch.bind(cluster);
  cluster.watch = async function* (kind, from, signal) {
    if (from === undefined) yield* before;
    for await (const frame of watch(kind, from, signal)) {
      yield frame;
      if (frame.type === 'bookmark' && frame.synced) yield* after;
    }
  };
}

async function expectToldOnce(scene: Scene): Promise<void> {
  expect(scene.bridge.pendings()).toEqual([]);
  expect(scene.events).toEqual([]);
  expect(await counts(scene.metrics.bypassed)).toEqual({});
  expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Gone`]: 1 });
}

describe('a deletion that is over', () => {
  it('is not bypassed when a list still shows it that was read before: it is looked at, and counted once', async () => {
    const { scene, late } = await ended();
    listing(scene, [late], []);
    const before = scene.cluster.count('get');
    scene.cluster.endWatches(new ApiError('watching', 410));
    await scene.clock.advance(60_000);
    expect(scene.cluster.count('get')).toBe(before + 1);
    await expectToldOnce(scene);
  });

  it('is not bypassed when a sight of it comes again after the list, and is not even looked at', async () => {
    const { scene, late } = await ended();
    listing(scene, [], [late, late]);
    const before = scene.cluster.count('get');
    scene.cluster.endWatches(new ApiError('watching', 410));
    await scene.clock.advance(60_000);
    expect(scene.cluster.count('get')).toBe(before);
    await expectToldOnce(scene);
  });

  it('and is there again, as after a restored backup, goes through teardown anew', async () => {
    const { scene } = await ended();
    await scene.deleted();
    scene.cluster.endWatches(new ApiError('watching', 410));
    await scene.clock.advance(60_000);
    expect(scene.requests).toHaveLength(2);
    expect(await scene.answer(gone)).toBe(true);
    expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Gone`]: 2 });
  });

  it('is remembered for the latest thousand that the watch has shown over', () => {
    const finished = new Finished();
    for (let count = 0; count < 1_500; count += 1) {
      finished.add({ key: `${count}`, kind: BUCKETS, meta: {} });
      finished.seenOff(`${count}`);
    }
    const known = Array.from({ length: 1_500 }, (_, count) => finished.has(`${count}`));
    expect([known.indexOf(true), known.filter(Boolean).length]).toEqual([500, 1_000]);
    finished.seenOff('never known');
    expect(finished.has('never known')).toBe(false);
  });
});
