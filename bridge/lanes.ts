/*
 * Keys that are ready, in lanes: one lane a rule, taken in turn, each with a limited number of places, so that work that
 * hangs in one lane never holds up the others (P10). Used by work-queue.ts.
 */

interface Lane {
  /** Taken ahead of what is ready. */
  readonly urgent: Set<string>;
  readonly ready: Set<string>;
  running: number;
}

/** The lanes of one queue. */
export class Lanes {
  readonly #laneOf: (key: string) => string;
  readonly #places: number;
  readonly #lanes = new Map<string, Lane>();

  constructor({ laneOf, places }: { readonly laneOf: (key: string) => string; readonly places: number }) {
    this.#laneOf = laneOf;
    this.#places = places;
  }

  /** How many keys are ready. */
  get ready(): number {
    return [...this.#lanes.values()].reduce((sum, { urgent, ready }) => sum + urgent.size + ready.size, 0);
  }

  add(key: string, isUrgent = false): void {
    const name = this.#laneOf(key);
    const lane = this.#lanes.get(name) ?? { urgent: new Set(), ready: new Set(), running: 0 };
    if (isUrgent) lane.ready.delete(key);
    if (!lane.urgent.has(key)) lane[isUrgent ? 'urgent' : 'ready'].add(key);
    this.#lanes.set(name, lane);
  }

  /** Takes the next key of the next lane that has a place; undefined when there is none. */
  take(): string | undefined {
    for (const [name, lane] of this.#lanes) {
      const line = lane.urgent.size > 0 ? lane.urgent : lane.ready;
      const [key] = line;
      if (key === undefined || lane.running >= this.#places) continue;
      line.delete(key);
      lane.running += 1;
      // To the end of the line: the next turn is another lane's.
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
      return key;
    }
    return undefined;
  }

  /** Gives the place of a key back. */
  done(key: string): void {
    const name = this.#laneOf(key);
    const lane = this.#lanes.get(name);
    if (lane === undefined) return;
    lane.running -= 1;
    if (lane.running === 0 && lane.urgent.size === 0 && lane.ready.size === 0) this.#lanes.delete(name);
  }

  /** Forgets what is ready. */
  clear(): void {
    for (const { urgent, ready } of this.#lanes.values()) {
      urgent.clear();
      ready.clear();
    }
  }
}
