/*
 * The watches of all kinds that some rule selects: begun when the first rule needs a kind, ended with the last.
 * Called by bridge.ts when rules change; each kind has its own watcher, in each namespace where some are named, so that one
 * broken kind, or namespace, stops no other (P10).
 */
import type { KindRef } from './ports.ts';
import { type Served, watchedKey, watchedOf } from './served.ts';
import { Watcher, type WatcherOptions } from './watch.ts';

/** Why a kind is not watched any more that nobody needs. */
export const UNNEEDED = 'Unneeded';

/** The watchers in force. */
export class Watches {
  readonly #options: Omit<WatcherOptions, 'kind'>;
  readonly #served: Served;
  readonly #watchers = new Map<string, Watcher>();
  #isStopped = false;

  constructor({ served, ...options }: Omit<WatcherOptions, 'kind'> & { readonly served: Served }) {
    this.#options = options;
    this.#served = served;
  }

  /** Watches exactly these kinds. */
  set(kinds: readonly KindRef[]): void {
    if (this.#isStopped) return;
    const all = kinds.flatMap((kind) => watchedOf(this.#served, kind));
    const wanted = new Map(all.map((watched) => [watchedKey(watched), watched]));
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      this.#watchers.delete(key);
      void watcher.stop();
      this.#options.sink.blind(watcher.kind, UNNEEDED);
    }
    for (const [key, kind] of wanted) {
      if (this.#watchers.has(key)) continue;
      const watcher = new Watcher({ ...this.#options, kind });
      this.#watchers.set(key, watcher);
      watcher.start();
    }
  }

  /** Whether a kind is among those watched. */
  has(kind: KindRef): boolean {
    return watchedOf(this.#served, kind).some((watched) => this.#watchers.has(watchedKey(watched)));
  }

  /** Lists a kind again now: what its rules want of live objects has changed. */
  relist(kind: KindRef): void {
    for (const watched of watchedOf(this.#served, kind)) this.#watchers.get(watchedKey(watched))?.relist();
  }

  /** Ends all. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#watchers.values()].map((watcher) => watcher.stop()));
  }
}
