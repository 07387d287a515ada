/*
 * Entries that somebody else takes off as often as the bridge puts them on, or the other way round: a controller that writes
 * the list as it knows it, or a second bridge that serves other namespaces. What was undone is done again at once the first time
 * (K27), and then ever less often, so that two that see each other's writes do not answer each without end. Asked by claims.ts,
 * by rule-taking.ts for the finalizer of a rule, and by noted-namespaces.ts for the namespaces that its status names no more.
 */
import { doubled } from './doubling.ts';
import type { Clock } from './ports.ts';

/** After so long a peace it is no contest any more. */
const PEACE_MS = 10 * 60_000;
const WAIT_FIRST_MS = 1_000;
const WAIT_MAX_MS = 60_000;
/** Changes that are remembered, the latest. */
const KNOWN_MAX = 4_096;

/** What was written last on one object for one rule; monotonic ms. */
interface Written {
  readonly change: string;
  readonly at: number;
  /** How often that had been undone before. */
  readonly undone: number;
}

/** The changes that were written last. */
export class Contests {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waitMaxMs: number;
  readonly #written = new Map<string, Written>();

  /** `waitMaxMs` is the longest that something stays undone. */
  constructor(clock: Pick<Clock, 'monotonic'>, waitMaxMs = WAIT_MAX_MS) {
    this.#clock = clock;
    this.#waitMaxMs = waitMaxMs;
  }

  /** A change was written. */
  wrote(key: string, change: string): void {
    const last = this.#lastOf(key, change);
    const undone = last === undefined ? 0 : last.undone + 1;
    this.#written.delete(key);
    this.#written.set(key, { change, at: this.#clock.monotonic(), undone });
    const [oldest] = this.#written.keys();
    if (oldest !== undefined && this.#written.size > KNOWN_MAX) this.#written.delete(oldest);
  }

  /** How long a change that is wanted now has to wait, in ms. */
  waitFor(key: string, change: string): number {
    const last = this.#lastOf(key, change);
    if (last === undefined || last.undone === 0) return 0;
    const wait = doubled({ first: WAIT_FIRST_MS, most: this.#waitMaxMs }, last.undone - 1);
    return Math.max(0, last.at + wait - this.#clock.monotonic());
  }

  /** The same change, if it was the last and not long ago: who wants it again has seen it undone. */
  #lastOf(key: string, change: string): Written | undefined {
    const last = this.#written.get(key);
    return last?.change === change && this.#clock.monotonic() - last.at < PEACE_MS ? last : undefined;
  }
}
