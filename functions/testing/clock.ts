/*
 * Time that only moves when told, for tests of what waits. Part of `finalizer-bridge/testing`.
 * The conformance suite and runs against servers take real time, since HTTP does: systemClock.
 */
import type { Clock } from '../ports.ts';

export { systemClock } from '../clock.ts';

/** A clock whose hands a test moves. */
export interface ManualClock extends Clock {
  /** Moves on, calling back whatever is due in order of time, with all that follows from it. */
  advance(ms: number): Promise<void>;
  /** Number of timers that still wait. */
  pending(): number;
}

/** A clock that stands at a time, in ms since the epoch. */
export function manualClock(start: number): ManualClock {
  let now = start;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    monotonic: () => now - start,
    after(delay, callback) {
      const timer = { at: now + delay, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settled();
        const next = timers.filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at)[0];
        if (next === undefined) break;
        now = Math.max(now, next.at);
        timers = timers.filter((one) => one !== next);
        next.callback();
      }
      now = end;
      await settled();
    },
    pending: () => timers.length,
  };
}

/** Lets everything that can go on without time go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>(setImmediate);
}
