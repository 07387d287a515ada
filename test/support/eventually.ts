/*
 * Waiting for something that real processes bring about: asked again and again until it is so, or until it is late.
 * Used by end-to-end tests and their support; a wait that fails says what was seen last.
 */
import { setTimeout as wait } from 'node:timers/promises';

const EVERY_MS = 15;
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
  for (const until = performance.now() + patience; ; await wait(EVERY_MS)) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > until) throw new Error(`waiting until ${what}: not so after ${patience} ms`);
  }
}
