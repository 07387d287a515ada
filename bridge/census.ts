/*
 * Counts who carries an entry, by a consistent list of the whole kind, or of it in each namespace that is served. Called by
 * withdrawal.ts: what a watch has shown is not proof that nobody is left, since entries may have been put on by an admission
 * policy a moment ago (K25).
 */
import { hasEntry } from './finalizer.ts';
import { listPart } from './namespace-existence.ts';
import type { Cluster, KindRef, ObjectMeta, Watched } from './ports.ts';
import { EVERYWHERE, type Served, watchedOf } from './served.ts';

/**
 * Who carries an entry. `unserved`: the kind is not there any more, so nobody does. `otherVersion`: it is, in a version that
 * was not listed. `forbidden`: it may not be listed, in these namespaces where only some are served; `live` are those elsewhere.
 */
export type Count =
  | { readonly kind: 'counted'; readonly live: readonly ObjectMeta[]; readonly deleting: number }
  | { readonly kind: 'forbidden'; readonly live: readonly ObjectMeta[]; readonly places: readonly string[] }
  | { readonly kind: 'unserved' }
  | { readonly kind: 'otherVersion' };

/**
 * Counts the objects of a kind that carry an entry; `named`: nothing outside of these namespaces can. Throws ApiError for what
 * another try may mend.
 */
export type Census = (kind: KindRef, entry: string, named?: readonly string[]) => Promise<Count>;

type Counting = Pick<Cluster, 'list' | 'get'>;

/** Creates the census over a cluster. */
export function createCensus(cluster: Counting, served: Served = EVERYWHERE): Census {
  return async (kind, entry, named) => {
    const isNamed = ({ namespace }: Watched) => namespace === undefined || (named?.includes(namespace) ?? true);
    const live: ObjectMeta[] = [];
    const closed: Watched[] = [];
    let deleting = 0;
    for (const watched of watchedOf(served, kind)) {
      const listed = await listPart(cluster, watched, (meta) => {
        if (!hasEntry(meta, entry)) return;
        if (meta.deletionTimestamp === undefined) live.push(meta);
        else deleting += 1;
      });
      if (listed === 'unserved') return { kind: listed };
      if (listed === 'forbidden' && isNamed(watched)) closed.push(watched);
    }
    if (closed.length === 0) return { kind: 'counted', live, deleting };
    return { kind: 'forbidden', live, places: closed.flatMap(({ namespace }) => namespace ?? []) };
  };
}
