/*
 * What the status of a rule says of its deletions: how many, how many of them held, the oldest, and the first held ones.
 * Written by rule-status.ts; rule-moves.ts looks for what has changed of it since.
 */
import { beganAt, FAILING, isUnder, type Pending, type Standing } from './pending.ts';
import type { KindRef, ObjectMeta } from './ports.ts';
import { clipUtf8, readRecordOfAnyRule } from './record.ts';
import { HELD_MESSAGE_MAX_BYTES, HELD_OBJECTS_MAX } from './rule-facts.ts';

/** What a rule's status says of its deletions. */
export interface RuleCounts {
  readonly pending: number;
  readonly held: number;
  readonly oldestPendingTime: string | undefined;
  /** Those that are held longest. */
  readonly heldObjects: readonly object[];
}

/** The same, as it is counted. */
export interface RuleTally {
  readonly pending: number;
  readonly held: number;
  /** When the oldest began, in ms since the epoch; infinite where none is pending. */
  readonly oldest: number;
  /** Those that are held longest, in order. */
  readonly first: readonly Pending[];
}

/** One pass, as there may be tens of thousands, and this is asked at every look at a rule. */
export function tallyOf(pendings: Iterable<Pending>, name: string, match: KindRef): RuleTally {
  let [pending, held, oldest] = [0, 0, Number.POSITIVE_INFINITY];
  const first: Pending[] = [];
  for (const one of pendings) {
    if (!isUnder(one, name, match)) continue;
    pending += 1;
    oldest = Math.min(oldest, beganAt(one));
    if (one.standing?.phase !== 'Held') continue;
    held += 1;
    insert(first, one);
  }
  return { pending, held, oldest, first };
}

/** What a status says of them. */
export function countsOf(pendings: Iterable<Pending>, name: string, match: KindRef): RuleCounts {
  const { pending, held, oldest, first } = tallyOf(pendings, name, match);
  return {
    pending,
    held,
    oldestPendingTime: Number.isFinite(oldest) ? new Date(oldest).toISOString() : undefined,
    heldObjects: first.map(heldObjectOf),
  };
}

function heldObjectOf(one: Pending): object {
  const { meta, standing } = one;
  return {
    ...(meta.namespace === undefined ? {} : { namespace: meta.namespace }),
    name: meta.name,
    uid: meta.uid,
    reason: standing?.reason ?? 'Unknown',
    since: new Date(standing?.since ?? 0).toISOString(),
    ...saidOf(one),
  };
}

/** What is said of one that fails, or that does not say it itself, as one that nobody can write on (P7). */
function saidOf({ meta, rule, standing }: Pending): { readonly message?: string } {
  if (standing === undefined || (standing.reason !== FAILING && isRecorded(meta, rule, standing))) return {};
  return { message: clipUtf8(standing.message, HELD_MESSAGE_MAX_BYTES) };
}

function isRecorded(meta: ObjectMeta, rule: string, { phase, reason }: Standing): boolean {
  const record = readRecordOfAnyRule(meta, rule);
  return record?.phase === phase && record.reason === reason;
}

/** Keeps those that are held longest, in order; of equals those that came first. */
function insert(first: Pending[], one: Pending): void {
  const since = heldSince(one);
  let place = first.length;
  for (; place > 0; place -= 1) {
    const before = first[place - 1];
    if (before === undefined || heldSince(before) <= since) break;
  }
  if (place === HELD_OBJECTS_MAX) return;
  first.splice(place, 0, one);
  if (first.length > HELD_OBJECTS_MAX) first.pop();
}

function heldSince({ standing }: Pending): number {
  return standing?.since ?? 0;
}
