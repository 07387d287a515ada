/*
 * What a watch tells of a kind, in the order of its seeing. Types only: told by watch.ts, taken by intake.ts, namespaces.ts
 * and rule-keeper.ts.
 */
import type { KindRef, ObjectMeta } from './ports.ts';

/** Where what is seen goes. */
export interface Sink {
  /** A new complete list begins. */
  listing(kind: KindRef): void;
  /** `isNew`: it was created just now, and is shown as it was created; in a list nobody can tell. */
  present(kind: KindRef, meta: ObjectMeta, isNew?: boolean): void;
  deleted(kind: KindRef, meta: ObjectMeta): void;
  /** The list is complete: what was not present in it is gone. */
  synced(kind: KindRef): void;
  /** The kind is not being watched any more, until `synced` comes again or the watch goes on. */
  blind(kind: KindRef, cause: string): void;
  /** The watch is open again without a new list. */
  resumed(kind: KindRef): void;
}
