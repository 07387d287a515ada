/*
 * Worlds of many deletions under faults drawn by seeds (fleet/): every promise kept in a fixed set of seeds, the same run for
 * the same seed, and a failing one made small. More seeds: `npm run simulate`.
 */
import { describe, expect, it } from 'vitest';
import { runWorld, worldsOf } from './fleet/batch.ts';
import { drawPlan } from './fleet/draw.ts';
import { runFleet } from './fleet/fleet.ts';
import { shrink } from './fleet/shrink.ts';
import { loadMutant } from './mutant.ts';
import { type FleetMutation, fleetMutations } from './mutations-fleet.ts';

/** Together half a minute of a machine that has nothing else to do. */
const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const OBJECTS = 30;
/** A world without faults, quickly run again and again. */
const SMALL = 2;
const PATIENCE = { timeout: 600_000 };

/** How many worlds a mutant may survive. */
const WORLDS_MAX = 12;

/** The first promise of that id that a mutant breaks in a world, or in one of the next. */
async function breakage({ seed, ...mutation }: FleetMutation): Promise<string | undefined> {
  const { product, dispose } = await loadMutant(mutation);
  try {
    for (let next = seed; next < seed + WORLDS_MAX; next += 1) {
      const { broken } = await runFleet(drawPlan(next, OBJECTS), { product });
      const found = broken.find(({ promise }) => promise === mutation.caughtBy);
      if (found !== undefined) return found.what;
    }
    return undefined;
  } finally {
    await dispose();
  }
}

/** Worlds that have found something: what it was, seed and number of objects. */
const FOUND = [['an owner who points twice at another thing, which is gone when he does so again', 1222, 10]] as const;

describe('worlds of many deletions', () => {
  it.each(FOUND)('keep every promise to %s (seed %i)', PATIENCE, async (_what, seed, deletions) => {
    expect((await runWorld({ seed, deletions })).broken).toEqual([]);
  });

  it('P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 keep every promise under faults, and settle', PATIENCE, async () => {
    const broken: string[] = [];
    let deletions = 0;
    for (const seed of SEEDS) {
      const report = await runWorld({ seed, deletions: OBJECTS });
      deletions += report.deleted;
      broken.push(...report.broken.map((text) => `world ${seed} of ${OBJECTS}: ${text}`));
    }
    expect(broken.join('\n')).toBe('');
    expect(deletions).toBeGreaterThan((SEEDS.length * OBJECTS) / 2);
  });

  it('are the same run for the same seed and number, and another for another', PATIENCE, async () => {
    const [first, second, other] = [
      await runWorld({ seed: 3, deletions: 20 }),
      await runWorld({ seed: 3, deletions: 20 }),
      await runWorld({ seed: 5, deletions: 20 }),
    ];
    expect(second).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  });

  it('are as many as were asked for, each with a seed of its own', () => {
    const worlds = worldsOf(7, 5_000);
    expect(worlds.reduce((sum, { deletions }) => sum + deletions, 0)).toBe(5_000);
    expect(new Set(worlds.map(({ seed }) => seed)).size).toBe(worlds.length);
  });

  it.each(fleetMutations)('catch a product that $what ($caughtBy)', PATIENCE, async (mutation) => {
    expect(await breakage(mutation)).toEqual(expect.any(String));
  });

  it('come down to an object or two and their trace when a promise is broken', PATIENCE, async () => {
    const mutation = fleetMutations.find(({ what }) => what === 'reads every object twice');
    if (mutation === undefined) throw new Error('there is no such mutation');
    const mutant = await loadMutant(mutation);
    try {
      const { product } = mutant;
      const { plan, outcome } = await shrink(drawPlan(SMALL, 12), { promise: 'P8', product });
      expect(plan.objects.length).toBeLessThan(3);
      expect(outcome.broken[0]?.promise).toBe('P8');
      expect(outcome.lines.join('\n')).toMatch(/get (machines|buckets|volumes)\/\w+-\d+/);
    } finally {
      await mutant.dispose();
    }
  });
});
