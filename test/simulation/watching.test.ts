/*
 * Watches under fire and virtual time: each fault that a watch can meet, again and again, and mixtures drawn by seeds. The
 * deletion that falls into it ends with every promise kept, nothing is taken for bypassed, and watches stay few. The same
 * faults on a real API server are in test/e2e/fire-watching.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { seededRandom } from './clock.ts';
import { createWorld, type DeletionOptions, finish, HOUR, MACHINE, MINUTE } from './deletion.ts';
import { hasOurEntry } from './installation.ts';
import { drawnFaults, WATCH_FAULTS, type WatchFault } from './watch-faults.ts';
import type { World } from './world.ts';

const PATIENCE = { timeout: 480_000 };

/** One deletion under these options, to its end; what is wrong with it, replayable. */
async function brokenOf(options: DeletionOptions): Promise<readonly string[]> {
  const world = await createWorld(options);
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  if (world.bypassed > 0) world.promises.note('P1', 'it was taken for bypassed');
  return world.promises.broken.length === 0 ? [] : [world.report()];
}

function watchesOf(world: World, from = 0): number {
  return world.calls.slice(from).filter(({ point }) => point.startsWith('watch')).length;
}

describe('a watch that is struck each time it is opened', () => {
  const always = (kind: WatchFault['kind'], afterMs: number) => () => ({ kind, afterMs });

  it.each(WATCH_FAULTS)('by "%s" at once starts no storm (K11, K12)', async (kind) => {
    const world = await createWorld({ seed: 1, watchFaults: always(kind, 0) });
    const from = world.calls.length;
    await world.run(HOUR);
    // A pause of 15 s at the least once it has failed often; a silent one is cut after 150 s.
    expect(watchesOf(world, from)).toBeLessThanOrEqual(4 * 60);
  });

  it.each(WATCH_FAULTS)('by "%s" shows every deletion all the same', PATIENCE, async (kind) => {
    const broken: string[] = [];
    for (const afterMs of [0, 1, 5, 50, 5_000, 40_000]) {
      broken.push(...(await brokenOf({ seed: 3, watchFaults: always(kind, afterMs) })));
    }
    expect(broken.join('\n\n')).toBe('');
  });
});

describe('a watch that is struck in the place of a line', () => {
  it.each(WATCH_FAULTS)(
    'by "%s" shows every deletion all the same, within the list and after it',
    PATIENCE,
    async (kind) => {
      const broken: string[] = [];
      for (const afterLines of [0, 1, 2, 3]) {
        for (const struck of [1, 2, 5]) {
          let left = struck;
          const watchFaults = (): WatchFault | undefined => {
            left -= 1;
            return left < 0 ? undefined : { kind, afterMs: 0, afterLines };
          };
          broken.push(...(await brokenOf({ seed: 5, watchFaults })));
        }
      }
      expect(broken.join('\n\n')).toBe('');
    },
  );
});

describe('a deletion that no watch shows', () => {
  it('since nobody answered for ten minutes and all history is gone, is found within a minute afterwards', async () => {
    let isUp = true;
    const strike = (point: string) =>
      !isUp && /^(get|patch|watch|event)/.test(point) ? ({ kind: 'error', side: 'before' } as const) : undefined;
    // The watch that is open when nobody answers any more ends with it.
    const watchFaults = (): WatchFault => ({ kind: 'cut', afterMs: 90_000 });
    const world = await createWorld({ seed: 1, strike, watchFaults });
    isUp = false;
    await world.run(2 * MINUTE);
    const from = world.calls.length;
    world.server.delete(MACHINE, 'owner');
    await world.run(10 * MINUTE);
    expect(hasOurEntry(world.server.get(MACHINE))).toBe(true);
    expect(watchesOf(world, from), 'tries in ten minutes').toBeLessThan(60);
    world.server.compact();
    isUp = true;
    expect(await world.run(MINUTE, () => world.server.get(MACHINE) === undefined)).toBe(true);
    await finish(world);
    expect(world.promises.broken).toEqual([]);
  });
});

it('P6 whatever mixture of faults its watches meet, a deletion ends as it should', PATIENCE, async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = seededRandom(seed);
    const [share, deletionMs] = [0.2 + 0.7 * random(), random() < 0.5 ? 0 : 25_000];
    broken.push(...(await brokenOf({ seed, deletionMs, watchFaults: drawnFaults(random, share, WATCH_FAULTS) })));
  }
  expect(broken.slice(0, 3).join('\n\n')).toBe('');
});
