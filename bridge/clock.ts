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
    // Longer delays than 2^31-1 ms would fire at once; of one below 0, what is overdue, Node.js warns on standard error.
    const timer = setTimeout(task, Math.min(Math.max(ms, 0), 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
