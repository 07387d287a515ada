/*
 * Set-up of the tests that only compute: the machine does their work when it has nothing else to do. Those that run at the same
 * time in other lanes wait most of their time, and what they wait for then comes when it would. Named in vitest.config.ts.
 */
import { getPriority, setPriority } from 'node:os';

/** How much others come first; 19 is the most. */
const NICENESS = 5;

/** Called by vitest in its own process; those of the tests come after it, and inherit the priority. */
export function setup(): void {
  // Who was started behind others already may not come forward, unless by root.
  setPriority(Math.max(getPriority(), NICENESS));
}
