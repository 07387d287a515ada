/*
 * Many worlds one after the other: which seeds a run of so many deletions is made of, and what came out. Called by
 * simulate-worker.ts in each thread, and by the tests.
 */
import { drawPlan } from './draw.ts';
import { runFleet } from './fleet.ts';

/** Objects of one world, in turn; small ones are many weathers and cost more, large ones many neighbours. */
const SIZES = [4_000, 200, 4_000, 1_000, 4_000, 40, 2_000, 4_000, 4_000, 2_000, 4_000, 4_000] as const;

/** One world of a run. */
export interface WorldOrder {
  readonly seed: number;
  /** Objects. */
  readonly deletions: number;
}

/** What came out of one world; the same for the same order, whoever runs it. */
export interface WorldReport extends WorldOrder {
  /** Objects that were deleted indeed. */
  readonly deleted: number;
  readonly hash: string;
  readonly virtualMs: number;
  readonly steps: number;
  /** What went wrong by chance or by plan, and how often. */
  readonly faults: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

/** The worlds of a run without end, in the order in which they count. `most`: no world is larger. */
export function* worldsFrom(seed: number, most: number): Generator<WorldOrder, never> {
  for (let next = seed; ; next += 1) {
    yield { seed: next, deletions: Math.min(most, SIZES[next % SIZES.length] ?? most) };
  }
}

/**
 * The worlds that count for a run of so many deletions: of those that have ended the first ones without a gap, as many as
 * are needed. Undefined while they are too few. So nothing depends on who was faster.
 */
export function enough(reports: ReadonlyMap<number, WorldReport>, seed: number, deletions: number) {
  const counted: WorldReport[] = [];
  let deleted = 0;
  for (let next = seed; deleted < deletions; next += 1) {
    const report = reports.get(next);
    if (report === undefined) return undefined;
    counted.push(report);
    deleted += report.deleted;
  }
  return counted;
}

/** Runs one world. */
export async function runWorld(order: WorldOrder): Promise<WorldReport> {
  const { broken, deletions, ...rest } = await runFleet(drawPlan(order.seed, order.deletions));
  const { hash, virtualMs, steps, faults } = rest;
  return {
    ...order,
    ...{ deleted: deletions, hash, virtualMs, steps, faults },
    broken: broken.map(({ promise, what }) => `${promise}: ${what}`),
  };
}
