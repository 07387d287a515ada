/*
 * Who carries one rule's entry now, by a consistent list of the kinds where that can be. Called by rule-drain.ts. Where a
 * kind is served in another version than the rule names, that one is listed: the objects are the same.
 */
import { kindName } from '../../kind-key.ts';
import type { KindRef } from '../../ports.ts';
import type { Discovery } from '../catalogue.ts';
import type { DrainWorld } from './api.ts';
import { type Carrier, lookThrough, type Unseen } from './sweep.ts';

/** What is to be counted. */
export interface Counting {
  readonly name: string;
  /** What the rule selects, as far as that is known. */
  readonly match: KindRef | undefined;
  /** Where the entry has been seen besides. */
  readonly kinds: readonly KindRef[];
  readonly discovery: Discovery;
  /** The namespaces that the entry may be in, as the rule's status has them; undefined: any. */
  readonly namespaces: readonly string[] | undefined;
}

/** Carriers; complete only when nothing is unseen. */
export interface Counted {
  readonly live: readonly Carrier[];
  readonly deleting: readonly Carrier[];
  readonly unseen: readonly Unseen[];
}

/** Counts. Throws ApiError when the API server cannot be asked what it serves. */
export async function count(
  world: DrainWorld,
  { name, match, kinds, discovery, namespaces }: Counting,
): Promise<Counted> {
  const own = match === undefined ? [] : await servedAs(world, match, discovery);
  const parts = namespaces === undefined ? undefined : { namespaces, isAll: true };
  const swept = await lookThrough(world, { kinds: [...kinds, ...own], else: parts });
  const carriers = swept.carriers.get(name) ?? [];
  const isAway = match !== undefined && own.length === 0 && discovery.unreachable.includes(match.group);
  return {
    live: carriers.filter(({ meta }) => meta.deletionTimestamp === undefined),
    deleting: carriers.filter(({ meta }) => meta.deletionTimestamp !== undefined),
    unseen: isAway
      ? [...swept.unseen, { what: kindName(match), why: 'is of an API group whose server does not answer' }]
      : swept.unseen,
  };
}

/** Nothing when the kind is not served in any version: then nobody can carry anything. */
async function servedAs({ kinds }: DrainWorld, match: KindRef, discovery: Discovery): Promise<readonly KindRef[]> {
  const known = discovery.kinds.find(({ group, resource }) => group === match.group && resource === match.resource);
  if (known !== undefined) return [known];
  if (discovery.unreachable.includes(match.group)) return [];
  return (await kinds.isServed(match)) ? [match] : [];
}
