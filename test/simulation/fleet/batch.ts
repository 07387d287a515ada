/*
 * Many worlds one after the other: which seeds a run of so many deletions is made of, and what came out. Called by
 * simulate-worker.ts in each thread, and by the tests.
 */
import { drawPlan } from './draw.ts';
import { runFleet } from './fleet.ts';

/** Objects of one world; small ones are many weathers, large ones many neighbours. */
const SIZES = [40, 200, 1_000] as const;

/** One world of a run. */
export interface WorldOrder {
  readonly seed: number;
  readonly deletions: number;
}

/** What came out of one world. */
export interface WorldReport extends WorldOrder {
  readonly deleted: number;
  readonly hash: string;
  readonly virtualMs: number;
  readonly broken: readonly string[];
}

/** The worlds of a run: the same for the same seed and number, whoever runs them. */
export function worldsOf(seed: number, deletions: number): readonly WorldOrder[] {
  const worlds: WorldOrder[] = [];
  for (let left = deletions, index = 0; left > 0; index += 1) {
    const size = Math.min(left, SIZES[(seed + index) % SIZES.length] ?? left);
    worlds.push({ seed: seed + index, deletions: size });
    left -= size;
  }
  return worlds;
}

/** Runs one world. */
export async function runWorld(order: WorldOrder): Promise<WorldReport> {
  const { broken, deletions, hash, virtualMs } = await runFleet(drawPlan(order.seed, order.deletions));
  return {
    ...order,
    ...{ deleted: deletions, hash, virtualMs },
    broken: broken.map(({ promise, what }) => `${promise}: ${what}`),
  };
}
