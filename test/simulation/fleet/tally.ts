/*
 * How often what went wrong in a world, by name.
 * Kept by fleet-world.ts, added up over worlds by ../simulate.ts.
 */

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  /** Counts, and says so: for use in a condition. */
  count(name: string, times = 1): true {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
    return true;
  }

  /** Adds what was counted elsewhere. */
  add(counts: Readonly<Record<string, number>>): void {
    for (const [name, times] of Object.entries(counts)) this.count(name, times);
  }

  /** All counts, names in order. */
  get byName(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
