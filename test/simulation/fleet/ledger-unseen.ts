/*
 * What nobody can see (docs/promises.md): a target that was asked for by bridges that died before anything on the object named
 * it, and that no function has answered. Kept so that a run tells it from a broken promise, and counts it. Part of ledger.ts.
 */
import type { Hold, Ledger } from './ledger.ts';

/** A target that only its senders know of. */
export interface Unseen {
  readonly digest: string;
  /** The bridges that asked for it. */
  readonly askers: Set<string>;
}

interface Asking {
  readonly name: string;
  readonly digest: string;
  readonly by: string;
  /** The record that the object carries. */
  readonly record: string | undefined;
}

/** Takes note of a request. */
export function noteAsked(hold: Hold, { name, digest, by, record = '' }: Asking): void {
  const { unseen, requested } = hold;
  const isNew = !requested.has(name) && !record.includes(digest);
  if (isNew) unseen.set(name, { digest, askers: new Set([by]) });
  else unseen.get(name)?.askers.add(by);
}

/** Takes note of an answer: whoever reads it knows. */
export function noteAnswered(hold: Hold, name: string): void {
  hold.unseen.delete(name);
}

/**
 * Takes note of what an object says of itself. One that names no target, or none that can be used, is something that the next
 * bridge can see: it has to hold what follows.
 */
export function noteWritten(hold: Hold, record: string | undefined, target: string | undefined): void {
  if (target === undefined || target === '') hold.unseen.clear();
  for (const [name, { digest }] of hold.unseen) if (record?.includes(digest) === true) hold.unseen.delete(name);
}

/** Whether nobody that lives can know that a target was asked for. */
export function isBeyondSight(ledger: Ledger, hold: Hold, name: string): boolean {
  const askers = hold.unseen.get(name)?.askers;
  return askers !== undefined && ![...askers].some((asker) => ledger.world.isBridgeAlive(asker));
}
