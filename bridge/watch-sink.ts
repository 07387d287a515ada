/*
 * What a watch tells of a kind, or of its part of one, in the order of its seeing. Types only: told by watch.ts, taken by
 * intake.ts, namespaces.ts and rule-keeper.ts.
 */
import type { ObjectMeta, Watched } from './ports.ts';

/** Where what is seen goes. */
export interface Sink {
  /** A new complete list begins. */
  listing(watched: Watched): void;
  /** `isNew`: it was created just now, and is shown as it was created; in a list nobody can tell. */
  present(watched: Watched, meta: ObjectMeta, isNew?: boolean): void;
  deleted(watched: Watched, meta: ObjectMeta): void;
  /** The list is complete: what was not present in it is gone. */
  synced(watched: Watched): void;
  /** The kind is not being watched any more, until `synced` comes again or the watch goes on. */
  blind(watched: Watched, cause: string): void;
  /** The watch is open again without a new list. */
  resumed(watched: Watched): void;
}
