/*
 * Whether a namespace is there at all. With a namespace the rights in it are deleted, so what the API server answers about its
 * objects is 403 and not an empty list. Asked by rule-judge.ts, and by whatever counts, before they take that for a missing right.
 */
import { type Listed, listAll } from './listing.ts';
import { NAMESPACES } from './namespaces.ts';
import { ApiError, type Cluster, type ObjectMeta, type Watched } from './ports.ts';

/** Whether it is there; one of which that may not be asked counts as there. Throws ApiError for what another try may mend. */
export async function doesNamespaceExist(cluster: Pick<Cluster, 'get'>, name: string): Promise<boolean> {
  try {
    return (await cluster.get({ ...NAMESPACES, name })) !== undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return true;
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
  return (await doesNamespaceExist(cluster, watched.namespace)) ? 'forbidden' : 'listed';
}
