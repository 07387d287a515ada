/*
 * Waiting for something that real processes bring about: asked again and again until it is so, or until it is late.
 * Used by end-to-end tests and their support; a wait that fails says what was seen last.
 */
import { setTimeout as wait } from 'node:timers/promises';

/**
 * The pause after a probe grows with the time that has passed: what is asked for costs the API server as much as it costs this
 * process, and dozens of tests that ask sixty times a second for a minute are what a machine is then busy with.
 */
const PAUSE_MS = { least: 15, most: 250, part: 1 / 20 } as const;
/** A machine that does other things as well may take so many times what it takes alone. */
const PATIENCE = 4;

/**
 * Resolves with the first answer of `probe` that is neither undefined nor false.
 * @param within in ms, on a quiet machine; 20 s unless told. A busy one may take four times as long.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  within = 20_000,
): Promise<T> {
  const patience = within * PATIENCE;
  const began = performance.now();
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    const passed = performance.now() - began;
    if (passed > patience) throw new Error(`waiting until ${what}: not so after ${patience} ms`);
    await wait(Math.min(Math.max(passed * PAUSE_MS.part, PAUSE_MS.least), PAUSE_MS.most));
  }
}
