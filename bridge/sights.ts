/*
 * What the bridge sees of each kind, watch by watch: whether it was listed, is being watched, or is refused; a kind is seen when
 * every watch of it does. Kept by intake.ts, which the watches tell; asked by it for what readiness and results need.
 */
import { kindName } from './kind-key.ts';
import type { Metrics } from './metrics.ts';
import type { KindRef, Watched } from './ports.ts';
import { type Served, watchedKey, watchedOf } from './served.ts';

/** What one watch has shown. */
export interface Sight {
  /** A first complete list was seen: what begins to be deleted from now on, only we can have sent anything for. */
  everSynced: boolean;
  isWatching: boolean;
  /** It is not served, or may not be watched: nobody can say when it will be known. */
  isRefused: boolean;
  /** During a list: the keys of pending deletions that it has shown. */
  shown: Set<string> | undefined;
}

/** The sights of all kinds. */
export class Sights {
  readonly #served: Served;
  readonly #metrics: Pick<Metrics, 'watching'>;
  readonly #sights = new Map<string, Sight>();
  /** By what a kind is called, the versions in which it is needed: the metric names none. */
  readonly #needed = new Map<string, Map<string, KindRef>>();

  constructor({ served, metrics }: { readonly served: Served; readonly metrics: Pick<Metrics, 'watching'> }) {
    this.#served = served;
    this.#metrics = metrics;
  }

  /** Whether every one of these kinds is being watched and was listed completely once. */
  isReady(kinds: readonly KindRef[]): boolean {
    return this.#all(kinds).every(({ everSynced, isWatching }) => everSynced && isWatching);
  }

  /** Whether every kind is known, or is one that cannot be watched now and must not hold up the others (P10). */
  isSettled(kinds: readonly KindRef[]): boolean {
    return this.#all(kinds).every(({ everSynced, isRefused }) => everSynced || isRefused);
  }

  /** The namespaces in which a kind is not being watched; none where it is watched as a whole. */
  blindIn(kind: KindRef): readonly string[] {
    return watchedOf(this.#served, kind).flatMap((watched) => {
      const { everSynced, isWatching } = this.of(watched);
      return watched.namespace === undefined || (everSynced && isWatching) ? [] : [watched.namespace];
    });
  }

  /** The metric of a kind: 1 only while all of it is being watched, in every version in which it is needed. */
  measure({ group, version, resource }: KindRef): void {
    const versions = this.#needed.get(kindName({ group, resource })) ?? new Map<string, KindRef>();
    this.#needed.set(kindName({ group, resource }), versions.set(version, { group, version, resource }));
    const isWatching = this.#all([...versions.values()]).every((sight) => sight.isWatching);
    this.#metrics.watching.set({ group, resource }, isWatching ? 1 : 0);
  }

  /** What nobody needs is not what the bridge is blind to: nobody shall be woken for it. */
  forgo({ group, version, resource }: KindRef): void {
    const versions = this.#needed.get(kindName({ group, resource }));
    versions?.delete(version);
    const [other] = versions?.values() ?? [];
    if (other === undefined) this.#metrics.watching.remove({ group, resource });
    else this.measure(other);
  }

  of(watched: Watched): Sight {
    const key = watchedKey(watched);
    const known = this.#sights.get(key);
    if (known !== undefined) return known;
    const sight = { everSynced: false, isWatching: false, isRefused: false, shown: undefined };
    this.#sights.set(key, sight);
    return sight;
  }

  #all(kinds: readonly KindRef[]): readonly Sight[] {
    return kinds.flatMap((kind) => watchedOf(this.#served, kind)).map((watched) => this.of(watched));
  }
}
