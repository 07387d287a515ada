/*
 * Whether a namespace is there at all, or is being deleted. With a namespace the rights in it are deleted, so what the API server
 * answers about its objects is 403 and not an empty list. Asked by rule-rights.ts, and by whatever counts, before they take that
 * for a missing right; by rule-namespaces.ts of each that a rule is to name; and by status, of the one that is asked for.
 */
import { type Listed, listAll } from './listing.ts';
import { NAMESPACES } from './namespaces.ts';
import { ApiError, type Cluster, type ObjectMeta, type Watched } from './ports.ts';

/** `ending`: it is being deleted, and what is in it comes to its end, but nothing new can be made there. */
export type NamespaceState = 'there' | 'ending' | 'missing';

/** How it is; one of which that may not be asked counts as there. Throws ApiError for what another try may mend. */
export async function stateOfNamespace(cluster: Pick<Cluster, 'get'>, name: string): Promise<NamespaceState> {
  try {
    const namespace = await cluster.get({ ...NAMESPACES, name });
    if (namespace === undefined) return 'missing';
    return namespace.metadata.deletionTimestamp === undefined ? 'there' : 'ending';
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return 'there';
    throw error;
  }
}

/** As listAll; in a namespace that is not there nothing is, whatever may be listed. */
export async function listPart(
  cluster: Pick<Cluster, 'list' | 'get'>,
  watched: Watched,
  each: (meta: ObjectMeta) => void,
): Promise<Listed> {
  const listed = await listAll(cluster, watched, each);
  if (listed !== 'forbidden' || watched.namespace === undefined) return listed;
  return (await stateOfNamespace(cluster, watched.namespace)) === 'missing' ? 'listed' : 'forbidden';
}
