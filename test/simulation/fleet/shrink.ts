/*
 * Makes a failing world small: leaves out objects, acts, words and weather as long as the same promise is still broken, then
 * runs what is left once more and keeps the trace of the object concerned. Called by simulate.ts for a seed that fails.
 */
import { type FleetOutcome, runFleet } from './fleet.ts';
import type { FleetProduct } from './fleet-bridges.ts';
import type { FleetPlan, Weather } from './plan.ts';

/** A failing world made small. */
export interface Shrunk {
  readonly plan: FleetPlan;
  readonly outcome: FleetOutcome;
  /** Worlds that were run for it. */
  readonly runs: number;
}

const RUNS_MAX = 150;

/** Weather, one part after the other taken away. */
const FAIRER: readonly Partial<Weather>[] = [
  { faultShare: 0 },
  { watchFaultShare: 0 },
  { watchLagMs: 0 },
  { refusedShare: 0 },
  { lostShare: 0 },
  { leaders: 'one' },
  { bridgeSkews: [0, 0] },
  { functionSkew: 0 },
  { queue: { copies: 0, delayMs: 0, shuffled: false } },
  { admission: false },
  { restartMs: 5_000 },
];

/** Shrinks a plan that breaks `promise`. */
export async function shrink(
  plan: FleetPlan,
  { promise, product }: { readonly promise: string; readonly product?: Partial<FleetProduct> },
): Promise<Shrunk> {
  const search = new Search(promise, product);
  let best = plan;
  const keep = async (smaller: FleetPlan) => {
    const fails = await search.fails(smaller);
    if (fails) best = smaller;
    return fails;
  };
  best = { ...best, objects: await search.fewer(best.objects, (objects) => ({ ...best, objects })) };
  for (const part of FAIRER) await keep({ ...best, weather: { ...best.weather, ...part } });
  best = { ...best, acts: await search.fewer(best.acts, (acts) => ({ ...best, acts })) };
  for (const fault of best.weather.faults) {
    const faults = best.weather.faults.filter((other) => other !== fault);
    await keep({ ...best, weather: { ...best.weather, faults } });
  }
  const wordless = best.objects.map((object) => ({ ...object, doings: [] }));
  if (best.objects.some(({ doings }) => doings.length > 0)) await keep({ ...best, objects: wordless });
  const about = await search.namesIn(best);
  const outcome = await runFleet(best, { ...(product === undefined ? {} : { product }), about });
  return { plan: best, outcome, runs: search.runs };
}

class Search {
  runs = 0;
  readonly #promise: string;
  readonly #product: Partial<FleetProduct> | undefined;

  constructor(promise: string, product: Partial<FleetProduct> | undefined) {
    this.#promise = promise;
    this.#product = product;
  }

  async fails(plan: FleetPlan): Promise<boolean> {
    if (this.runs >= RUNS_MAX) return false;
    const { broken } = await this.#run(plan);
    return broken.some(({ promise }) => promise === this.#promise);
  }

  /** Leaves out halves, then quarters, down to single items. */
  async fewer<T>(items: readonly T[], planOf: (items: readonly T[]) => FleetPlan): Promise<readonly T[]> {
    let left = items;
    for (
      let size = Math.ceil(left.length / 2);
      size >= 1 && left.length > 0;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      for (let from = 0; from < left.length; ) {
        const rest = [...left.slice(0, from), ...left.slice(from + size)];
        if (await this.fails(planOf(rest))) left = rest;
        else from += size;
      }
    }
    return left;
  }

  /** What the trace is to be about: the objects of which the promise is broken, or all that are left. */
  async namesIn(plan: FleetPlan): Promise<readonly string[]> {
    const { broken } = await this.#run(plan);
    const said = broken.filter(({ promise }) => promise === this.#promise).map(({ what }) => what);
    const names = plan.objects.map(({ kind, index }) => `${kind.slice(0, -1)}-${index}`);
    const meant = names.filter((name) => said.some((text) => text.includes(name)));
    return meant.length > 0 ? meant : names;
  }

  async #run(plan: FleetPlan): Promise<FleetOutcome> {
    this.runs += 1;
    return await runFleet(plan, this.#product === undefined ? {} : { product: this.#product });
  }
}
