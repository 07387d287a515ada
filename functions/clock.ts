/*
 * The real time of a function. Made use of by entry.ts and dead-letter-entry.ts, which hand it on; everything else takes a
 * clock as an argument.
 */
import type { Clock } from './ports.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, callback) {
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  },
};
