/*
 * Counts who carries an entry, by a consistent list of the whole kind, or of it in each namespace that is served. Called by
 * withdrawal.ts: what a watch has shown is not proof that nobody is left, since entries may have been put on by an admission
 * policy a moment ago (K25).
 */
import { hasEntry } from './finalizer.ts';
import { listPart } from './namespace-existence.ts';
import type { Cluster, KindRef, ObjectMeta } from './ports.ts';
import { EVERYWHERE, type Served, watchedOf } from './served.ts';

/**
 * Who carries an entry. `unserved`: the kind is not there any more, so nobody does. `otherVersion`: it is, in a version that
 * the rule does not name.
 */
export type Count =
  | { readonly kind: 'counted'; readonly live: readonly ObjectMeta[]; readonly deleting: number }
  | { readonly kind: 'unserved' }
  | { readonly kind: 'otherVersion' }
  | { readonly kind: 'forbidden' };

/** Counts the objects of a kind that carry an entry; throws ApiError for what another try may mend. */
export type Census = (kind: KindRef, entry: string) => Promise<Count>;

type Counting = Pick<Cluster, 'list' | 'get'>;

/** Creates the census over a cluster. */
export function createCensus(cluster: Counting, served: Served = EVERYWHERE): Census {
  return async (kind, entry) => {
    const live: ObjectMeta[] = [];
    let deleting = 0;
    for (const watched of watchedOf(served, kind)) {
      const listed = await listPart(cluster, watched, (meta) => {
        if (!hasEntry(meta, entry)) return;
        if (meta.deletionTimestamp === undefined) live.push(meta);
        else deleting += 1;
      });
      if (listed !== 'listed') return { kind: listed };
    }
    return { kind: 'counted', live, deleting };
  };
}
