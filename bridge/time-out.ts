/*
 * A call that is given up when it takes too long, or when its caller stops. Used by leader.ts and stopping.ts.
 * Giving up means not to wait any more: what was asked may still come about.
 */
import type { Clock } from './ports.ts';

/** How long a call is waited for. */
export interface Patience {
  readonly clock: Clock;
  /** ms. */
  readonly ms: number;
  /** Gives up at once. */
  readonly stop?: AbortSignal;
}

/**
 * Waits for a call, whose own signal aborts when it is given up.
 * @throws Error when it was given up, or what the call throws.
 */
export async function within<T>({ clock, ms, stop }: Patience, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const cut = new AbortController();
  const late = Promise.withResolvers<never>();
  const giveUp = (why: string) => {
    cut.abort();
    late.reject(new Error(why));
  };
  const cancel = clock.after(ms, () => giveUp(`no answer within ${Math.round(ms)} ms`));
  const onStop = () => giveUp('stopping');
  stop?.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([make(cut.signal), late.promise]);
  } finally {
    cancel();
    stop?.removeEventListener('abort', onStop);
  }
}
