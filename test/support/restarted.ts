/*
 * A bridge of a test that is started again when it has lost its lease, as the kubelet does: on a machine that stands still for ten
 * seconds every leader ends, and all tests of its file would fail for that. Used by site.ts and chart-installation.ts; tests of how
 * a bridge ends do without.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT } from '../../bridge/stopping.ts';

/** A process that a test has started. */
interface Process {
  readonly exited: Promise<number>;
  signal(signal: NodeJS.Signals): void;
  stop(graceMs?: number): Promise<void>;
}

/** How long a call that failed waits to hear that the process has ended, in ms. */
const HEARD_WITHIN = 2_000;

/**
 * Starts a bridge, and another one in its place whenever it ends for want of its lease and the test has told it nothing. What is
 * asked of it is asked of the one that runs.
 */
export async function restarted<T extends Process>(
  start: () => Promise<T>,
  ready: (one: T) => Promise<void>,
): Promise<T> {
  let current = await start();
  let isTold = false;
  let replacing: Promise<void> | undefined;

  const replace = async (ended: T): Promise<void> => {
    console.warn('A bridge has lost its lease, as where a machine stands still, and is started again.');
    await ended.stop();
    current = await start();
    await ready(current);
  };
  const end = async (one: T): Promise<number> => {
    const code = await one.exited;
    if (isTold || code !== EXIT.lostLease) return code;
    replacing = replace(one).finally(() => {
      replacing = undefined;
    });
    await replacing;
    return await end(current);
  };
  const exited = end(current);
  exited.catch(() => undefined);

  const told = {
    exited,
    signal: (signal: NodeJS.Signals) => {
      isTold = true;
      current.signal(signal);
    },
    stop: async (graceMs?: number) => {
      isTold = true;
      await replacing?.catch(() => undefined);
      await current.stop(graceMs);
    },
  };
  /** Asks again of the one that came after, where the one that was asked has ended meanwhile. */
  const asking =
    (name: string | symbol) =>
    async (...given: readonly unknown[]): Promise<unknown> => {
      const asked = current;
      try {
        return await call(asked, name, given);
      } catch (error) {
        await Promise.race([asked.exited, wait(HEARD_WITHIN)]);
        await replacing;
        if (asked === current) throw error;
        return await call(current, name, given);
      }
    };
  return new Proxy(current, {
    get: (_first, name) => {
      if (name in told) return Reflect.get(told, name);
      return name === 'ready' || name === 'metrics' ? asking(name) : Reflect.get(current, name);
    },
  });
}

async function call(one: object, name: string | symbol, given: readonly unknown[]): Promise<unknown> {
  const method: unknown = Reflect.get(one, name);
  if (typeof method !== 'function') throw new Error(`calling ${String(name)}: there is no such method`);
  return await Reflect.apply(method, one, given);
}
