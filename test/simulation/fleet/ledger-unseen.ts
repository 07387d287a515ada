/*
 * What nobody can see (docs/promises.md): a target that was asked for by bridges that died before anything on the object named
 * it, and about which no bridge that lives has read an answer. Kept so that a run tells it from a broken promise, and counts
 * it. Part of ledger.ts.
 */
import type { Hold } from './ledger.ts';

type Asked = Pick<Hold, 'unseen' | 'requested'>;

/** A target that only its senders know of. */
export interface Unseen {
  readonly digest: string;
  /** The bridges that asked for it, or have read an answer about it. */
  readonly knowers: Set<string>;
}

interface Asking {
  readonly name: string;
  readonly digest: string;
  readonly by: string;
  /** The record that the object carries. */
  readonly record: string | undefined;
}

/** Takes note of a request. */
export function noteAsked(hold: Asked, { name, digest, by, record = '' }: Asking): void {
  const { unseen, requested } = hold;
  const isNew = !requested.has(name) && !record.includes(digest);
  if (isNew) unseen.set(name, { digest, knowers: new Set([by]) });
  else unseen.get(name)?.knowers.add(by);
}

/** Who lives always: an answer that was let go is known to whoever comes. */
export const ANYBODY = 'anybody';

/** Takes note of who has read an answer about a target. */
export function noteRead(hold: Asked, digest: string, by: string): void {
  for (const one of hold.unseen.values()) if (one.digest === digest) one.knowers.add(by);
}

/**
 * Takes note of what an object says of itself. One that names no target, or none that can be used, is something that the next
 * bridge can see: it has to hold what follows.
 */
export function noteWritten(hold: Asked, record: string | undefined, target: string | undefined): void {
  if (target === undefined || target === '') hold.unseen.clear();
  for (const [name, { digest }] of hold.unseen) if (record?.includes(digest) === true) hold.unseen.delete(name);
}

/** Whether nobody that lives can know that a target was asked for. */
export function isBeyondSight(hold: Asked, name: string, isAlive: (bridge: string) => boolean): boolean {
  const knowers = hold.unseen.get(name)?.knowers;
  return knowers !== undefined && ![...knowers].some((knower) => knower === ANYBODY || isAlive(knower));
}
