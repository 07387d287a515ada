/*
 * Whether an outside resource belongs to the object whose deletion asks for it. Pure.
 * Called through calls.prove by every handler before each irreversible step; the rule says which tags are required.
 */
import { CLOCK_SKEW_MS, type ObjectRef, type Ownership } from '../bridge/contract.ts';

/** A resource that carries this tag, whatever its value, is never deleted. */
export const KEEP_TAG = 'finalizer-bridge.dev/keep';

/** The condition of IAM under which an action is only allowed on what does not carry it: it binds even if code were wrong. */
export const notKept = () => ({ Null: { [`aws:ResourceTag/${KEEP_TAG}`]: 'true' } });

/** The mark that a deletion puts on what it has begun to take down; see `markOf`. */
export const MARK_TAG = 'finalizer-bridge.dev/deletion';

/** The tags of a resource. */
export type Tags = ReadonlyMap<string, string>;

/** Owned, or why a handler has to refuse. */
export type OwnershipVerdict =
  | { readonly owned: true }
  | { readonly owned: false; readonly reason: 'NotOwned' | 'Kept'; readonly message: string };

/** Judges a resource's tags. The keep tag wins over everything, also where the rule needs no proof. */
export function judgeOwnership(ownership: Ownership, tags: Tags): OwnershipVerdict {
  if (tags.has(KEEP_TAG)) return { owned: false, reason: 'Kept', message: `the tag ${KEEP_TAG} is set` };
  if ('none' in ownership) return { owned: true };
  const required = Object.entries(ownership.tags);
  // The contract never lets an empty set through; here it would prove everything, so it proves nothing.
  if (required.length === 0) return { owned: false, reason: 'NotOwned', message: 'the rule requires no tag at all' };
  const missing = required.filter(([key]) => !tags.has(key)).map(([key]) => key);
  const different = required.filter(([key, value]) => tags.has(key) && tags.get(key) !== value).map(([key]) => key);
  if (missing.length === 0 && different.length === 0) return { owned: true };
  // Values stay out of the message: they belong to whoever owns the resource.
  const parts = [
    ...missing.map((key) => `tag ${key} is missing`),
    ...different.map((key) => `tag ${key} has another value than the object's`),
  ];
  return { owned: false, reason: 'NotOwned', message: parts.join('; ') };
}

/** Whether the proof binds to this very object: a required tag holds its uid, which no successor can have. */
export function isStrong(ownership: Ownership, uid: string): boolean {
  return 'tags' in ownership && Object.values(ownership.tags).some((value) => value.includes(uid));
}

/** What of a request names its deletion. */
export interface Deletion {
  readonly object: ObjectRef;
  readonly rule: { readonly name: string };
}

/** The value of the mark: an object is deleted once, by each rule with an entry of its own. */
export function markOf({ object, rule }: Deletion): string {
  return `${object.uid}/${rule.name}`;
}

/**
 * Whether a resource can be the one that the deletion means, by its age (ms since the epoch; undefined if nobody knows).
 * - `sure`: the proof names the object's uid, or this deletion has marked the resource;
 * - `unmarked`: it was there when the deletion began; mark it before anything else, since its age may change;
 * - `younger`: it came later, so it may be a successor's that carries the same weak proof.
 */
export function judgeAge(
  { object, rule }: Deletion,
  ownership: Ownership,
  { tags, created }: { readonly tags: Tags; readonly created: number | undefined },
): 'sure' | 'unmarked' | 'younger' {
  if (isStrong(ownership, object.uid) || tags.get(MARK_TAG) === markOf({ object, rule })) return 'sure';
  // The cloud's clock and the cluster's may differ: what came within that of each other came later, to be careful.
  const latest = (created ?? Number.POSITIVE_INFINITY) + CLOCK_SKEW_MS;
  return latest <= Date.parse(object.deletionTimestamp) ? 'unmarked' : 'younger';
}

/** Tags from the list shape that AWS services answer with; entries without a key are dropped. */
export function tagsFrom(
  list: readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[] = [],
): Tags {
  return new Map(list.flatMap(({ Key, Value }) => (Key === undefined ? [] : [[Key, Value ?? ''] as const])));
}
