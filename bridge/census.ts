/*
 * Counts who carries an entry, by a consistent list of the whole kind. Called by withdrawal.ts: what a watch has shown is
 * not proof that nobody is left, since entries may have been put on by an admission policy a moment ago (K25).
 */
import { hasEntry } from './finalizer.ts';
import { ApiError, type Cluster, type KindRef, type ObjectMeta } from './ports.ts';

const PAGE = 500;

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

/** Creates the census over a cluster. */
export function createCensus(cluster: Cluster): Census {
  return async (kind, entry) => {
    const live: ObjectMeta[] = [];
    let deleting = 0;
    let next: string | undefined;
    try {
      do {
        const page = await cluster.list(kind, { limit: PAGE, next });
        const carriers = page.items.filter((meta) => hasEntry(meta, entry));
        live.push(...carriers.filter(({ deletionTimestamp }) => deletionTimestamp === undefined));
        deleting += carriers.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined).length;
        ({ next } = page);
      } while (next !== undefined);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return { kind: 'unserved' };
      if (error instanceof ApiError && error.status === 403) return { kind: 'forbidden' };
      throw error;
    }
    return { kind: 'counted', live, deleting };
  };
}
