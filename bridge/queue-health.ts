/*
 * Whether the queue answers: told of every poll by sqs.ts, asked for readiness by main.ts. A poll may rightly be silent for
 * as long as a long poll lasts; several in a row, or nothing but errors, may not.
 */
import type { Clock } from './ports.ts';

/** Two long polls of 20 s, and some time to come and go. */
const SILENT_MS = 45_000;
/** One that fails is tried again after a second; a hiccup is no news. */
const FAILING_MS = 10_000;

/** What is known of the polls of one queue. Times are monotonic ms. */
export class QueueHealth {
  readonly #clock: Clock;
  #since: number | undefined;
  #answered = false;
  #failure: { readonly since: number; readonly detail: string } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The first poll goes out. */
  begins(): void {
    this.#since ??= this.#clock.monotonic();
  }

  /** A poll was answered, with messages or without. */
  answers(): void {
    this.#since = this.#clock.monotonic();
    this.#answered = true;
    this.#failure = undefined;
  }

  /** A poll failed. */
  fails(detail: string): void {
    this.#failure = { since: this.#failure?.since ?? this.#clock.monotonic(), detail };
  }

  /** What is wrong; undefined while nothing is, and before the first poll. */
  get trouble(): string | undefined {
    const now = this.#clock.monotonic();
    const isFailing = this.#failure !== undefined && (!this.#answered || now - this.#failure.since >= FAILING_MS);
    if (this.#failure !== undefined && isFailing) {
      return `the result queue cannot be polled for ${seconds(now - this.#failure.since)}: ${this.#failure.detail}`;
    }
    if (this.#since === undefined || now - this.#since < SILENT_MS) return undefined;
    return `the result queue has not answered for ${seconds(now - this.#since)}`;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
