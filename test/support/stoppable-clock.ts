/*
 * The clock of one process among several under a manual clock: the process can stand still, as under SIGSTOP, while time goes
 * on, and its wall clock can be set alone. Used by the tests of leader.ts.
 */
import type { Clock } from '../../bridge/ports.ts';
import type { ManualClock } from './manual-clock.ts';

/** A process that can stand still: its timers wait, time does not. */
export class StoppableClock implements Clock {
  readonly #clock: ManualClock;
  #skew = 0;
  #isStopped = false;
  #missed: (() => void)[] = [];

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#skew;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, task: () => void): () => void {
    let isCancelled = false;
    const run = () => {
      if (isCancelled) return;
      if (this.#isStopped) this.#missed.push(run);
      else task();
    };
    const cancel = this.#clock.after(ms, run);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  stop(): void {
    this.#isStopped = true;
  }

  goOn(): void {
    this.#isStopped = false;
    for (const task of this.#missed.splice(0)) task();
  }

  leap(ms: number): void {
    this.#skew += ms;
  }
}
