/*
 * Lists a whole kind, or what of it is in one namespace, page by page: one consistent list of metadata, whatever its size.
 * Called by census.ts, and by the drain command, which looks through every kind. Nothing is kept of what the caller does not
 * keep.
 */
import { ApiError, type Cluster, type ObjectMeta, type Watched } from './ports.ts';

const PAGE = 500;

/** How a list ended: `unserved`, the kind is not there any more; `forbidden`, it may not be listed. */
export type Listed = 'listed' | 'unserved' | 'forbidden';

/** Hands over every object. Throws ApiError for what another try may mend; then not all were handed over. */
export async function listAll(
  cluster: Pick<Cluster, 'list'>,
  watched: Watched,
  each: (meta: ObjectMeta) => void,
): Promise<Listed> {
  let next: string | undefined;
  try {
    do {
      const page = await cluster.list(watched, { limit: PAGE, next });
      for (const meta of page.items) each(meta);
      ({ next } = page);
    } while (next !== undefined);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 'unserved';
    if (error instanceof ApiError && error.status === 403) return 'forbidden';
    throw error;
  }
  return 'listed';
}
