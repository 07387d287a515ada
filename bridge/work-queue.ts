/*
 * The per-object queue: a key names one pending deletion (or one live object to claim); state is read fresh when its
 * turn comes, so any number of causes collapse into one run. A key never runs twice at once. Used by bridge.ts.
 */
import { doubled } from './doubling.ts';
import { Lanes } from './lanes.ts';
import { ApiError, type Clock, type Random } from './ports.ts';

const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 30_000;
/** Longest that a Retry-After is believed. */
export const RETRY_AFTER_MAX_MS = 60_000;

/** What the queue needs. `run` resolves to the time (ms since the epoch) to look again, if any. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly concurrency: number;
  /** Keys of one lane share its places; all are in one lane unless told. */
  readonly lanes?: { readonly laneOf: (key: string) => string; readonly places: number };
  /** Longest back-off in ms, 30 s unless told. */
  readonly backoffMax?: number;
  run(key: string): Promise<number | undefined>;
  /** Told of every failed run; the key is tried again with back-off. */
  onFailure(key: string, error: unknown, failures: number): Promise<void> | void;
}

/** A de-duplicating queue of keys with back-off per key. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #ready: Lanes;
  readonly #running = new Set<string>();
  /** Added while they run, and whether that is urgent. */
  readonly #again = new Map<string, boolean>();
  readonly #timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  #isStopped = false;
  #idle: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#ready = new Lanes(options.lanes ?? { laneOf: () => '', places: options.concurrency });
  }

  /** How many keys wait or run, timers not counted. */
  get depth(): number {
    return this.#ready.ready + this.#running.size;
  }

  /** Runs a key as soon as a place is free. */
  add(key: string): void {
    this.#add(key, false);
  }

  /**
   * Runs a key ahead of those that were only added: what ends work comes before what begins more, so that a backlog does
   * not begin everything before it ends anything.
   */
  hurry(key: string): void {
    this.#add(key, true);
  }

  #add(key: string, isUrgent: boolean): void {
    if (this.#isStopped) return;
    if (this.#running.has(key)) {
      this.#again.set(key, isUrgent || this.#again.get(key) === true);
    } else {
      this.#ready.add(key, isUrgent);
      this.#pump();
    }
  }

  /** Runs a key at `at` (ms since the epoch) at the latest; an earlier timer stands. */
  addAt(key: string, at: number): void {
    const timer = this.#timers.get(key);
    if (this.#isStopped || (timer !== undefined && timer.at <= at)) return;
    timer?.cancel();
    const due = () => {
      this.#timers.delete(key);
      this.add(key);
    };
    this.#timers.set(key, { at, cancel: this.#options.clock.after(Math.max(0, at - this.#options.clock.now()), due) });
  }

  /** Forgets timers and failures of a key whose work is over. */
  forget(key: string): void {
    this.#timers.get(key)?.cancel();
    this.#timers.delete(key);
    this.#failures.delete(key);
  }

  /** Takes nothing new and resolves when the runs in hand have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#ready.clear();
    this.#again.clear();
    for (const { cancel } of this.#timers.values()) cancel();
    this.#timers.clear();
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #pump(): void {
    while (this.#running.size < this.#options.concurrency) {
      const key = this.#ready.take();
      if (key === undefined) return;
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const wakeAt = await this.#options.run(key);
      this.#failures.delete(key);
      if (wakeAt !== undefined) this.addAt(key, wakeAt);
    } catch (error) {
      await this.#retryLater(key, error);
    } finally {
      this.#running.delete(key);
      this.#ready.done(key);
      const isUrgent = this.#again.get(key);
      this.#again.delete(key);
      if (isUrgent !== undefined) this.#add(key, isUrgent);
      if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      this.#pump();
    }
  }

  async #retryLater(key: string, error: unknown): Promise<void> {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    await this.#options.onFailure(key, error, failures);
    const { clock, random, backoffMax } = this.#options;
    const asked = error instanceof ApiError ? Math.min(error.retryAfter ?? 0, RETRY_AFTER_MAX_MS) : 0;
    this.addAt(key, clock.now() + Math.max(asked, backoff(failures, random, backoffMax)));
  }
}

/** Doubled with each failure, jittered between half and the whole. In ms. */
export function backoff(failures: number, random: Random, most = BACKOFF_MAX_MS): number {
  return doubled({ first: BACKOFF_FIRST_MS, most }, failures - 1) * (0.5 + random() / 2);
}
