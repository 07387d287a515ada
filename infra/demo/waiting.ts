/*
 * Waiting for a condition, never for a time: asks again and again, and says what it waited for when it gives up.
 * Called wherever the demo needs something of the cloud or of the bridge's metrics; objects.ts waits for the watch itself.
 */
import { setTimeout as wait } from 'node:timers/promises';

/** Longest wait for anything in the demo, in ms. It takes far less; a machine that is busy may need more. */
export const PATIENCE_MS = 240_000;
const POLL_MS = 50;

/** Asks until there is an answer. @throws when there is none in time, naming what was waited for. */
export async function poll<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waiting for ${what}: not within ${PATIENCE_MS / 1000} s`);
    await wait(POLL_MS);
  }
}
