/*
 * What the soak has made and what it has asked for, object by object, and what must have become of it in the end. Kept by
 * world.ts, judged by audit.ts. No I/O here.
 */

/** What sort of object it is, by what it stands for. */
export const SORTS = ['plain', 'braked', 'foreign', 'kept', 'retained', 'absent', 'live'] as const;
export type Sort = (typeof SORTS)[number];

/** One object, its bucket, and what was done to them by the soak itself. */
export interface Made {
  readonly name: string;
  readonly uid: string;
  readonly sort: Sort;
  readonly bucket: string;
  /** Versions put into the bucket; 0 for a bucket that was never made. */
  readonly versions: number;
  /** ms since the epoch. */
  deletedAt?: number;
  /** A person gave the bucket its proof and asked again. */
  mended?: boolean;
  /** A person let the object go without teardown. */
  released?: boolean;
}

/** What must be so when everything has settled. */
export interface Expected {
  /** Whether the object is still there; `either` where waiting for an hour is right as well. */
  readonly object: 'gone' | 'there' | 'either';
  /** Why it is held, if it is there and was deleted. */
  readonly reason?: string;
  readonly bucket: 'gone' | 'there';
}

/** By the promises: what was asked for is gone, what was not ours to delete is there (P1, P2, P4). */
export function expectedOf({ sort, deletedAt, mended = false, released = false, versions }: Made): Expected {
  const bucket = versions > 0 ? 'there' : 'gone';
  if (deletedAt === undefined) return { object: 'there', bucket };
  if (released) return { object: 'gone', bucket };
  switch (sort) {
    case 'plain':
    case 'braked':
    case 'absent':
      return { object: 'gone', bucket: 'gone' };
    case 'foreign':
      return mended ? { object: 'gone', bucket: 'gone' } : { object: 'there', reason: 'NotOwned', bucket };
    case 'kept':
      return { object: 'there', reason: 'Kept', bucket };
    case 'retained':
      // Which bridge knows that nothing was sent depends on who led when; one that does not waits two terms.
      return { object: 'either', reason: 'RetainWaiting', bucket };
    case 'live':
      return { object: 'there', bucket };
    default:
      return sort satisfies never;
  }
}
