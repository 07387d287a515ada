/*
 * A clock port whose time moves only when a test says so. Timers that fall due run in their order, and everything they
 * set free runs before the next one, so a test of hours takes microseconds and is the same every time.
 */
import type { Clock } from '../../bridge/ports.ts';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** When test time begins, in ms since the epoch. */
export const START = Date.parse('2026-03-02T09:30:00Z');

/** Virtual time. */
export class ManualClock implements Clock {
  #now = START;
  #elapsed = 1_000;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, ms), task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** In how many ms each timer falls due, soonest first. */
  get due(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#elapsed).sort((left, right) => left - right);
  }

  /** Moves the wall clock alone, as an operator or NTP does. */
  step(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass, timer by timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      const { at, task } = next;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#pass(at - this.#elapsed);
      task();
      await settled();
    }
    this.#pass(end - this.#elapsed);
  }

  #next(end: number): Timer | undefined {
    return this.#timers
      .filter(({ at }) => at <= end)
      .reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
        undefined,
      );
  }

  #pass(ms: number): void {
    this.#elapsed += ms;
    this.#now += ms;
  }
}

/** Resolves when everything that can go on without time passing has gone on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** RFC 3339 as the API server writes it, whole seconds. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
