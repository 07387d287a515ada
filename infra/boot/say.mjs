// @ts-check
/*
 * What the bootstrap says, always on stderr, and how it says that a long step is still going on.
 * Called by every other file of boot/.
 */

/** A failure that a person can do something about: printed as it is, without a stack. */
export class BootError extends Error {}

/** @param {string} line */
export function say(line) {
  process.stderr.write(`boot: ${line}\n`);
}

/**
 * Does a step and says how long it took; while it lasts, says so every ten seconds.
 * @template T
 * @param {string} step
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function timed(step, work) {
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
  say(step);
  const heartbeat = setInterval(() => say(`still at it after ${seconds()} s`), 10_000);
  try {
    const value = await work();
    say(`done in ${seconds()} s`);
    return value;
  } finally {
    clearInterval(heartbeat);
  }
}
