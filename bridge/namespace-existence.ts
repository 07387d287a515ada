/*
 * Whether a namespace is there at all. With a namespace the rights in it are deleted, so what the API server answers about its
 * objects is 403 and not an empty list. Asked by census.ts and rule-judge.ts before they take that for a missing right.
 */
import { NAMESPACES } from './namespaces.ts';
import { ApiError, type Cluster } from './ports.ts';

/** Whether it is there; one of which that may not be asked counts as there. Throws ApiError for what another try may mend. */
export async function doesNamespaceExist(cluster: Pick<Cluster, 'get'>, name: string): Promise<boolean> {
  try {
    return (await cluster.get({ ...NAMESPACES, name })) !== undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return true;
    throw error;
  }
}
