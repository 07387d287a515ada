/*
 * Calls to the API server under fire and virtual time: every fault that the fault proxy knows, at every call of a deletion, a
 * few times in a row, and in mixtures drawn by seeds; connections that are all lost at once. Every promise is kept, and calls stay
 * few. The same faults on a real API server: test/e2e/fire-calls.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ALL_CALL_FAULTS, nameOf, STREAM_FAULTS } from './call-faults.ts';
import { seededRandom } from './clock.ts';
import { createWorld, type DeletionOptions, finish, HOUR, MACHINE, MINUTE } from './deletion.ts';
import { hasOurEntry } from './installation.ts';
import type { Kind } from './process.ts';
import { drawnFaults, WATCH_FAULTS } from './watch-faults.ts';
import type { World } from './world.ts';

const PATIENCE = { timeout: 480_000 };
/** What the bridge asks of the API server. */
const POINTS = ['get', 'patch', 'watch', 'event'] as const;
const faults = ALL_CALL_FAULTS.map((fault) => ({ fault, name: nameOf(fault) }));

/** One deletion under these options, to its end; what is wrong with it, replayable. */
async function brokenOf(options: DeletionOptions): Promise<readonly string[]> {
  const world = await createWorld(options);
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  if (world.bypassed > 0) world.promises.note('P1', 'it was taken for bypassed');
  if (world.server.get(MACHINE) !== undefined) world.promises.note('P4', 'it is not gone');
  return world.promises.broken.length === 0 ? [] : [world.report()];
}

const isOfApi = (point: string) => /^(get|patch|watch|event|list)/.test(point);
const callsOf = (world: World, from: number) => world.calls.slice(from).filter(({ point }) => isOfApi(point)).length;

it('every fault of watches that the fault proxy knows is one of these, and the other way round', () => {
  expect(Object.values(STREAM_FAULTS).flat().toSorted()).toEqual([...WATCH_FAULTS].toSorted());
});

describe.each(faults)('a call that meets "$name"', ({ fault }) => {
  it.each(POINTS)('once, or a few times in a row, is made again: %s (K5, K13)', async (verb) => {
    const broken: string[] = [];
    for (const times of [1, 2, 6]) {
      for (const deletionMs of [0, 25_000]) {
        let left = times;
        const strike = (point: string): Kind | undefined => {
          if (!point.startsWith(verb) || left === 0) return undefined;
          left -= 1;
          return fault;
        };
        broken.push(...(await brokenOf({ seed: 21, deletionMs, strike })));
      }
    }
    expect(broken.join('\n\n')).toBe('');
  });

  it('each time for an hour is no storm, and is over soon after it (K11, K13)', async () => {
    let isStriking = false;
    const strike = (point: string) => (isStriking && isOfApi(point) ? fault : undefined);
    const world = await createWorld({ seed: 22, strike });
    isStriking = true;
    const from = world.calls.length;
    world.server.delete(MACHINE, 'owner');
    await world.run(HOUR);
    expect(callsOf(world, from)).toBeLessThan(4 * 60 * 2);
    isStriking = false;
    await world.run(6 * MINUTE, () => !hasOurEntry(world.server.get(MACHINE)));
    expect(hasOurEntry(world.server.get(MACHINE))).toBe(false);
    await finish(world);
    expect(world.promises.broken).toEqual([]);
  });
});

it('K10 connections that are all lost at once, at any call, lose no deletion', PATIENCE, async () => {
  const sweep = async (at: number) => {
    const open = new Set<() => void>();
    const sever = (world: World) => {
      for (const strike of [...open]) strike();
      open.clear();
      for (const process of world.processes) process.sever();
    };
    const world = await createWorld({
      ...{ seed: 23, deletionMs: 25_000 },
      watchFaults: () => ({ kind: 'cut', afterMs: 0, severedBy: (strike) => open.add(strike) }),
      onCall: (current, call) => call === at && current.time.after(1, () => sever(current)),
    });
    world.server.delete(MACHINE, 'owner');
    await finish(world);
    return world;
  };
  const { length } = (await sweep(-1)).calls;
  const broken: string[] = [];
  for (let at = 0; at < length; at += 1) {
    const world = await sweep(at);
    if (world.promises.broken.length > 0) broken.push(world.report());
  }
  expect(broken.join('\n\n')).toBe('');
  expect(length).toBeGreaterThan(10);
});

it('P6 whatever mixture of faults its calls and watches meet, a deletion ends as it should', PATIENCE, async () => {
  const broken: string[] = [];
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = seededRandom(seed);
    const [share, deletionMs] = [0.1 + 0.5 * random(), random() < 0.5 ? 0 : 25_000];
    const strike = (point: string) => {
      const [chance, choice] = [random(), random()];
      return isOfApi(point) && chance < share
        ? ALL_CALL_FAULTS[Math.floor(choice * ALL_CALL_FAULTS.length)]
        : undefined;
    };
    const watchFaults = drawnFaults(random, 0.3, WATCH_FAULTS);
    broken.push(...(await brokenOf({ seed, deletionMs, strike, watchFaults })));
  }
  expect(broken.slice(0, 3).join('\n\n')).toBe('');
});
