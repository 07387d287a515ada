/*
 * Whether a kubeconfig is to be looked at again because calls get no answer: it may have been written anew, or was read while it
 * was written, and names the wrong address. Ever less often while it says the same, as it may name a program that is asked for
 * credentials. Used by cluster-credentials.ts.
 */
import { doubled } from './doubling.ts';
import type { Clock } from './ports.ts';

const LOOK_EVERY_MS = { first: 1_000, most: 60_000 };

/** A kubeconfig, as far as it is compared. */
interface Said {
  readonly clusters: readonly unknown[];
  readonly users: readonly unknown[];
  readonly contexts: readonly unknown[];
  readonly currentContext: string;
}

/** What a kubeconfig says, before the library notes in it what it got. */
function wordsOf({ clusters, users, contexts, currentContext }: Said): string {
  return JSON.stringify([clusters, users, contexts, currentContext]);
}

/** When to look at a kubeconfig again, and whether that was in vain. */
export class Doubts {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #words: string;
  #vain = 0;
  #lookedAt: number;

  constructor(clock: Pick<Clock, 'monotonic'>, config: Said) {
    this.#clock = clock;
    this.#words = wordsOf(config);
    this.#lookedAt = clock.monotonic();
  }

  /**
   * What is to be used from now on; undefined: what is used already, or nothing new yet. `isRefused`: what it names was not taken,
   * so it is used anew also where it says the same.
   */
  look<Config extends Said>(load: () => Config, isRefused: boolean): Config | undefined {
    if (!this.#isDue()) return undefined;
    try {
      const config = load();
      return this.loaded(config) || isRefused ? config : undefined;
    } catch {
      // It is being written: the next look reads it.
      return undefined;
    }
  }

  /** It was loaded. Returns whether it says something else than before. */
  loaded(config: Said): boolean {
    const words = wordsOf(config);
    const isNew = words !== this.#words;
    this.#words = words;
    if (isNew) this.#vain = 0;
    return isNew;
  }

  #isDue(): boolean {
    const now = this.#clock.monotonic();
    const since = now - this.#lookedAt;
    // After so long calls were answered meanwhile.
    if (since > 2 * LOOK_EVERY_MS.most) this.#vain = 0;
    if (since < doubled(LOOK_EVERY_MS, this.#vain)) return false;
    this.#lookedAt = now;
    this.#vain += 1;
    return true;
  }
}
