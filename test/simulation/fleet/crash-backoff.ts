/*
 * How long a bridge that ended waits to be started again: as a kubelet has a container wait, longer each time, and like the
 * first time once one has run for ten minutes. Used by fleet-bridges.ts: without it a world whose bridges crash often starts
 * bridges without end, each of which reads all that is pending.
 */
const SECOND = 1_000;
const FIRST_BACKOFF_MS = 10 * SECOND;
const MAX_BACKOFF_MS = 300 * SECOND;
const RUNS_WELL_MS = 600 * SECOND;

/** The restarts of one bridge; times in ms of the world's clock. */
export class CrashBackoff {
  readonly #restartMs: number;
  #startedAt = 0;
  #backoffMs = 0;

  /** `restartMs`: what a start takes when nothing has crashed lately. */
  constructor(restartMs: number) {
    this.#restartMs = restartMs;
  }

  /** A start at that time. */
  started(at: number): void {
    this.#startedAt = at;
  }

  /** How long to wait after an end at that time. */
  ended(at: number): number {
    const before = at - this.#startedAt >= RUNS_WELL_MS ? 0 : this.#backoffMs;
    this.#backoffMs = before === 0 ? FIRST_BACKOFF_MS : Math.min(before * 2, MAX_BACKOFF_MS);
    return this.#restartMs + before;
  }
}
