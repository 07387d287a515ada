/*
 * Lists that are read page by page: all pages of one show the same moment, as long as that is not forgotten. A part of
 * api-server.ts.
 */
import { ApiError, type KubeObject, type ListPage, type PageWanted } from '../../bridge/ports.ts';

/** All that a list shows, by name, and the version that it is of. */
export interface Snapshot {
  readonly all: readonly KubeObject[];
  readonly version: number;
}

/** The lists of one server that are not read to their end. */
export class ListPages {
  readonly #lists = new Map<number, Snapshot>();
  #count = 0;

  /**
   * The first page, of what `take` gives, or the next one.
   * @throws ApiError 410 when the moment of the first page is forgotten.
   */
  read({ limit, next }: PageWanted, take: () => Snapshot): ListPage {
    const [list = this.#count, from = 0] = (next ?? '').split('/').filter(Boolean).map(Number);
    const snapshot = next === undefined ? take() : this.#lists.get(list);
    if (snapshot === undefined) throw new ApiError('listing on', 410);
    if (next === undefined) this.#count += 1;
    const items = snapshot.all.slice(from, from + limit).map(({ metadata }) => metadata);
    const isLast = from + limit >= snapshot.all.length;
    if (isLast) this.#lists.delete(list);
    else this.#lists.set(list, snapshot);
    return { items, resourceVersion: String(snapshot.version), ...(isLast ? {} : { next: `${list}/${from + limit}` }) };
  }

  /** Forgets what is older than a version. */
  forget(version: number): void {
    for (const [list, snapshot] of this.#lists) if (snapshot.version < version) this.#lists.delete(list);
  }
}
