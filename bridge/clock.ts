/*
 * The real clock port: the only file of the bridge that reads time or sets timers.
 * Plugged in by main.ts; everything else is given the port.
 */
import type { Clock } from './ports.ts';

/** The machine's clock. Timers do not keep the process alive by themselves. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    // Longer delays than 2^31-1 ms would fire at once.
    const timer = setTimeout(task, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
