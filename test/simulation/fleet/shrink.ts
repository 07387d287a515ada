/*
 * Makes a failing world small: leaves out objects, acts, words and weather as long as the same promise is still broken and there is
 * time, then runs what is left once more and keeps the trace of the object concerned. Called by explain.ts for a seed that fails.
 */
import { type FleetOutcome, runFleet } from './fleet.ts';
import type { FleetProduct } from './fleet-bridges.ts';
import { type FleetPlan, nameOf, type Weather } from './plan.ts';

/** A failing world made small. */
export interface Shrunk {
  readonly plan: FleetPlan;
  readonly outcome: FleetOutcome;
  /** Worlds that were run for it. */
  readonly runs: number;
  /** Everything was tried. Otherwise there was no time left for the rest, and it may go smaller. */
  readonly isSmallest: boolean;
}

/** What is to be made small, and for how long. */
export interface Shrinking {
  readonly promise: string;
  /** How the promise was broken, as far as it was told already. */
  readonly said?: readonly string[];
  readonly product?: Partial<FleetProduct>;
  /** Asked before each attempt: whether that was enough. A large world may take a minute for one. */
  isOver?(): boolean;
  /** Told of each plan that is smaller and still fails. */
  onSmaller?(plan: FleetPlan): void;
}

const RUNS_MAX = 150;
/** The trace of more objects is not read by anybody. */
const TRACED_MAX = 3;

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
export async function shrink(plan: FleetPlan, shrinking: Shrinking): Promise<Shrunk> {
  const search = new Search(plan, shrinking);
  await search.fewer(plan.objects, (objects) => ({ ...search.best, objects }));
  for (const part of FAIRER) await search.keep({ ...search.best, weather: { ...search.best.weather, ...part } });
  await search.fewer(search.best.acts, (acts) => ({ ...search.best, acts }));
  for (const fault of search.best.weather.faults) {
    const { weather } = search.best;
    const faults = weather.faults.filter((other) => other !== fault);
    await search.keep({ ...search.best, weather: { ...weather, faults } });
  }
  const wordless = search.best.objects.map((object) => ({ ...object, doings: [] }));
  if (search.best.objects.some(({ doings }) => doings.length > 0)) {
    await search.keep({ ...search.best, objects: wordless });
  }
  const outcome = await search.trace();
  return { plan: search.best, outcome, runs: search.runs, isSmallest: search.isSmallest };
}

class Search {
  best: FleetPlan;
  runs = 0;
  isSmallest = true;
  /** How the best plan breaks the promise. */
  #said: readonly string[];
  readonly #shrinking: Shrinking;

  constructor(plan: FleetPlan, shrinking: Shrinking) {
    this.best = plan;
    this.#said = shrinking.said ?? [];
    this.#shrinking = shrinking;
  }

  /** Takes a plan for the best one if it fails as well. */
  async keep(smaller: FleetPlan): Promise<boolean> {
    const { promise, isOver, onSmaller } = this.#shrinking;
    if (this.runs >= RUNS_MAX || isOver?.() === true) {
      this.isSmallest = false;
      return false;
    }
    const { broken } = await this.#run(smaller);
    const said = broken.filter((one) => one.promise === promise).map(({ what }) => what);
    if (said.length === 0) return false;
    this.best = smaller;
    this.#said = said;
    onSmaller?.(smaller);
    return true;
  }

  /** Leaves out halves, then quarters, down to single items. */
  async fewer<T>(items: readonly T[], planOf: (items: readonly T[]) => FleetPlan): Promise<void> {
    let left = items;
    for (
      let size = Math.ceil(left.length / 2);
      size >= 1 && left.length > 0;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      for (let from = 0; from < left.length; ) {
        const rest = [...left.slice(0, from), ...left.slice(from + size)];
        if (await this.keep(planOf(rest))) left = rest;
        else from += size;
      }
    }
  }

  /** Runs the best plan once more, with the trace of the objects of which the promise is broken, or else of the first ones. */
  async trace(): Promise<FleetOutcome> {
    const names = this.best.objects.map(nameOf);
    const meant = names.filter((name) => this.#said.some((text) => text.split(/[^\w-]+/).includes(name)));
    const about = (meant.length > 0 ? meant : names).slice(0, TRACED_MAX);
    return await this.#run(this.best, about);
  }

  async #run(plan: FleetPlan, about: readonly string[] = []): Promise<FleetOutcome> {
    const { product } = this.#shrinking;
    this.runs += 1;
    return await runFleet(plan, product === undefined ? { about } : { product, about });
  }
}
