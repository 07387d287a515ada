/*
 * Words of a person, read from an object's annotations: one key per rule, bound to one deletion by the object's uid.
 * Pure; called by observe.ts. A word for another uid (a restored or copied object) says nothing.
 */
import type { ObjectMeta } from './ports.ts';

/** Annotation key prefixes; the rule's name follows. */
export const RELEASE_PREFIX = 'release.finalizer-bridge.dev/';
export const RETRY_PREFIX = 'retry.finalizer-bridge.dev/';

/** `wait`: take the entry off when no sent request can still run. `now`: at once; a teardown may still happen. */
export type Release = 'none' | 'wait' | 'now';

/** The release word on an object for a rule: `<uid>` or `<uid>/now`. */
export function releaseWord(meta: ObjectMeta, rule: string): Release {
  const word = meta.annotations?.[RELEASE_PREFIX + rule];
  if (word === meta.uid) return 'wait';
  return word === `${meta.uid}/now` ? 'now' : 'none';
}

/** The retry word on an object for a rule: `<uid>/<anything new>`; undefined when there is none for this uid. */
export function retryWord(meta: ObjectMeta, rule: string): string | undefined {
  const word = meta.annotations?.[RETRY_PREFIX + rule];
  return word?.startsWith(`${meta.uid}/`) ? word.slice(meta.uid.length + 1) : undefined;
}
