/*
 * Words of a person, read from an object's annotations: one key per rule, bound to one deletion by the object's uid.
 * Pure; called by observe.ts. A word for another uid (a restored or copied object) says nothing.
 */
import type { ObjectMeta } from './ports.ts';

/** Annotation key prefixes; the rule's name follows. */
export const RELEASE_PREFIX = 'release.finalizer-bridge.dev/';
export const RETRY_PREFIX = 'retry.finalizer-bridge.dev/';
export const APPROVE_PREFIX = 'approve.finalizer-bridge.dev/';
/** Why a person has spoken: `<uid>/<text>`. It decides nothing; Events and logs repeat it. */
export const REASON_PREFIX = 'reason.finalizer-bridge.dev/';

/** `wait`: take the entry off when no sent request can still run. `now`: at once; a teardown may still happen. */
export type Release = 'none' | 'wait' | 'now';

/** The release word on an object for a rule: `<uid>` or `<uid>/now`. */
export function releaseWord(meta: ObjectMeta, rule: string): Release {
  const word = meta.annotations?.[RELEASE_PREFIX + rule];
  if (word === meta.uid) return 'wait';
  return word === `${meta.uid}/now` ? 'now' : 'none';
}

/** Whether a person has approved a deletion that its rule's budget holds back: `<uid>`. */
export function isApproved(meta: ObjectMeta, rule: string): boolean {
  return meta.annotations?.[APPROVE_PREFIX + rule] === meta.uid;
}

/** Longest retry word after the uid, in characters: it is kept, in memory and in the record. */
const RETRY_MAX = 128;

/** The retry word on an object for a rule: `<uid>/<anything new>`; undefined when there is none for this uid. */
export function retryWord(meta: ObjectMeta, rule: string): string | undefined {
  const word = meta.annotations?.[RETRY_PREFIX + rule];
  const said = word?.startsWith(`${meta.uid}/`) ? word.slice(meta.uid.length + 1) : undefined;
  return said === undefined || said.length > RETRY_MAX ? undefined : said;
}

/** A word that is understood, as it stands on an object; `said` is what of it matters beyond the uid. */
export interface SpokenWord {
  readonly word: 'release' | 'retry' | 'approve';
  /** The annotation's key. */
  readonly key: string;
  readonly said: string;
}

/** The words on an object for a rule that are bound to this object. */
export function spokenWords(meta: ObjectMeta, rule: string): readonly SpokenWord[] {
  if (!hasWord(meta, rule)) return [];
  const release = releaseWord(meta, rule);
  const retry = retryWord(meta, rule);
  const spoken: SpokenWord[] = [];
  if (release !== 'none') spoken.push({ word: 'release', key: RELEASE_PREFIX + rule, said: release });
  if (retry !== undefined) spoken.push({ word: 'retry', key: RETRY_PREFIX + rule, said: retry });
  if (isApproved(meta, rule)) spoken.push({ word: 'approve', key: APPROVE_PREFIX + rule, said: '' });
  return spoken;
}

/** Longest reason that is taken and repeated, in characters; anybody could write a whole book there. */
export const REASON_MAX = 256;

/** Why a person has spoken, in their own words; undefined when they did not say. */
export function reasonGiven(meta: ObjectMeta, rule: string): string | undefined {
  const said = meta.annotations?.[REASON_PREFIX + rule];
  return said?.startsWith(`${meta.uid}/`)
    ? said.slice(meta.uid.length + 1, meta.uid.length + 1 + REASON_MAX)
    : undefined;
}

/** All that a person has said about this deletion, understood or not; empty when nothing was. */
export function wordsSaid(meta: ObjectMeta, rule: string): string {
  const words = [RELEASE_PREFIX, RETRY_PREFIX, APPROVE_PREFIX].map((prefix) => meta.annotations?.[prefix + rule]);
  return words.every((word) => word === undefined) ? '' : JSON.stringify(words);
}

/** Whether a person has said anything about this deletion: then somebody is looking. */
export function hasWord(meta: ObjectMeta, rule: string): boolean {
  return [RELEASE_PREFIX, RETRY_PREFIX, APPROVE_PREFIX].some(
    (prefix) => meta.annotations?.[prefix + rule] !== undefined,
  );
}

/** Words that say nothing here, mistyped or meant for another object, each with what was expected. */
export function unreadWords(meta: ObjectMeta, rule: string): readonly string[] {
  const isSaid = (prefix: string) => meta.annotations?.[prefix + rule] !== undefined;
  const { uid } = meta;
  return [
    isSaid(RELEASE_PREFIX) && releaseWord(meta, rule) === 'none' ? `release is not ${uid} or ${uid}/now` : '',
    isSaid(RETRY_PREFIX) && retryWord(meta, rule) === undefined
      ? `retry is not ${uid}/ and something new of at most ${RETRY_MAX} characters`
      : '',
    isSaid(APPROVE_PREFIX) && !isApproved(meta, rule) ? `approve is not ${uid}` : '',
  ].filter((fault) => fault !== '');
}
