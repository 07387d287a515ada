/*
 * Who still carries the entry of a rule that is being withdrawn, by a list that is not had more often than it says something new.
 * Called by withdrawal.ts at each look.
 */
import type { Census, Count } from './census.ts';
import { entryOf } from './finalizer.ts';
import { isUnder, type Pending } from './pending.ts';
import type { Clock, KindRef, Kinds } from './ports.ts';
import type { Rule } from './rule.ts';
import type { Served } from './served.ts';
import type { Settling } from './settling.ts';

/** How often the kind is listed: often while entries are coming off, seldom while what is pending is known to hold up. */
export const LOOK_EVERY_MS = 5_000;
const LOOK_SELDOM_MS = 60_000;

/** Where a withdrawal stands; times are monotonic ms. */
export interface Withdrawal extends Settling {
  readonly uid: string;
  /** The last list, and from when it was. */
  counted: { readonly count: Count; readonly at: number } | undefined;
  /** The accepted generation that was put in force last, if any. */
  accepted: Rule | undefined;
}

/** What counting needs. */
export interface CountingOptions {
  readonly clock: Clock;
  readonly census: Census;
  readonly kinds: Kinds;
  readonly served: Served;
  pendings(rule: string): readonly Pending[];
}

/** The rule, and the namespaces that its entries may be in; undefined: any. */
export interface Counted {
  readonly rule: Rule;
  readonly named: readonly string[] | undefined;
}

/** Counts anew when the last count is old: a list of a large kind is not cheap, and every status written wakes us. */
export async function countCarriers(
  options: CountingOptions,
  { rule, named }: Counted,
  withdrawal: Withdrawal,
): Promise<{ readonly count: Count; readonly at: number; readonly isNew: boolean }> {
  const { clock, pendings } = options;
  const { name, match } = rule;
  const { counted } = withdrawal;
  const isHeldUp =
    counted !== undefined &&
    isQuiet(counted.count, () => pendings(name).some((pending) => isUnder(pending, name, match)));
  const every = isHeldUp ? LOOK_SELDOM_MS : LOOK_EVERY_MS;
  if (counted !== undefined && clock.monotonic() - counted.at < every) return { ...counted, isNew: false };
  const at = clock.monotonic();
  const count = await countNow(options, { name, match, named });
  withdrawal.counted = { count, at };
  return { count, at, isNew: true };
}

async function countNow(
  { census, kinds, served }: CountingOptions,
  { name, match, named }: Pick<Counted, 'named'> & { readonly name: string; readonly match: KindRef },
): Promise<Count> {
  const facts = await kinds.describe(match);
  // What is in no namespace is in none of those that are served (rule-namespaces.ts knows of a time before).
  if (facts?.namespaced === false && served.namespaces !== undefined) return NOBODY;
  const count: Count = facts === undefined ? { kind: 'unserved' } : await census(match, entryOf(name), named);
  // Discovery has the last word: a list that nobody answered, while the kind is served, is not an empty one (P9).
  return count.kind === 'unserved' && (await kinds.isServed(match)) ? { kind: 'otherVersion' } : count;
}

const NOBODY: Count = { kind: 'counted', live: [], deleting: 0 };

/** Whether nothing is coming off, and what holds the withdrawal up takes its time: a deletion, or a right that somebody gives. */
function isQuiet(count: Count, isPending: () => boolean): boolean {
  switch (count.kind) {
    case 'counted':
      return count.live.length === 0 && isPending();
    case 'forbidden':
      // Where nothing may be listed, asking costs nothing.
      return count.live.length === 0 && count.places.length > 0;
    case 'unserved':
    case 'otherVersion':
      return false;
  }
}
