/*
 * Waiting for something that real processes bring about: asked again and again until it is so, or until it is late.
 * Used by end-to-end tests and their support; a wait that fails says what was seen last.
 */
import { setTimeout as wait } from 'node:timers/promises';

const EVERY_MS = 15;

/** Resolves with the first answer of `probe` that is neither undefined nor false. `within` in ms, 20 s unless told. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  within = 20_000,
): Promise<T> {
  for (const until = performance.now() + within; ; await wait(EVERY_MS)) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > until) throw new Error(`waiting until ${what}: not so after ${within} ms`);
  }
}
