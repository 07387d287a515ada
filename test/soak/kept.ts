/*
 * A process that is started again whenever it ends, as kubelet and Lambda do, until it is told to stop; with the signals
 * by which the soak's chaos ends and freezes it. Used by stage.ts.
 */
import { setTimeout as wait } from 'node:timers/promises';

const AGAIN_AFTER_MS = 500;

/** What can be kept running. */
export interface Runnable {
  readonly pid: number;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  stop(): Promise<unknown>;
}

/** The process that runs now, and how its lives before have ended. */
export interface Kept<T> {
  readonly name: string;
  now(): T;
  /** Exit codes of the lives that have ended, oldest first. */
  readonly ends: readonly number[];
  /** SIGKILL. */
  kill(): void;
  /** SIGSTOP, and SIGCONT after so many ms. */
  freeze(ms: number): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** Starts it, and again whenever it has ended. A start that fails is tried again, too, but for the first one. */
export async function keepRunning<T extends Runnable>(name: string, start: () => Promise<T>): Promise<Kept<T>> {
  let current = await start();
  let over = false;
  const ends: number[] = [];
  const signal = (which: NodeJS.Signals) => {
    try {
      process.kill(current.pid, which);
    } catch {
      // It has just ended: the loop below sees that.
    }
  };
  const loop = (async () => {
    while (!over) {
      ends.push(await current.exited.catch(() => 1));
      while (!over) {
        await wait(AGAIN_AFTER_MS);
        const next = await start().catch(() => undefined);
        if (next === undefined) continue;
        current = next;
        break;
      }
    }
  })();
  return {
    name,
    now: () => current,
    ends,
    kill: () => signal('SIGKILL'),
    freeze: async (ms) => {
      const frozen = current;
      signal('SIGSTOP');
      await wait(ms);
      if (frozen === current) signal('SIGCONT');
    },
    stop: async () => {
      over = true;
      signal('SIGCONT');
      await current.stop();
      await loop;
      // Started at the same moment as the stop: it would be nobody's.
      await current.stop();
    },
  };
}
