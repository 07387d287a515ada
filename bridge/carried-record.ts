/*
 * What becomes of a record where the rule is not there, or is for a version in which the object was not read: who writes then knows
 * nothing under the rule, and leaves on the object whatever may matter when it is back (P5). Pure. Called by recording.ts.
 */
import type { ObjectMeta } from './ports.ts';
import { countsFor, type KnownTarget, NONE_NAMED, type Record, readRecordOfAnyRule, UNPROVEN } from './record.ts';

/** A deletion of which a record is written without the rule: `seen` is what is known of its targets beside the record. */
interface Unruled {
  readonly rule: string;
  readonly knowsAllSent: boolean;
  readonly seen: readonly KnownTarget[];
}

/**
 * What is written without the rule under which the record on an object was written, and its targets requested: it may come back.
 * What was requested since may have been under a younger one of its name, so that is to count under any.
 */
export function carriedOver(
  meta: ObjectMeta,
  of: Unruled,
): Pick<Record, 'uid' | 'ruleUid' | 'targets'> & Partial<Record> {
  const before = readRecordOfAnyRule(meta, of.rule);
  const kept = before !== undefined && countsFor(before, of) ? before : { ruleUid: NONE_NAMED, targets: [] };
  const known = merged(kept.targets);
  const targets = merged([...known, ...of.seen]);
  // Every rule has digests of its own. One that this process met without can be of a rule that is younger than the record's.
  const isUnproven = of.seen.some(({ requested, rule }) => requested && rule === UNPROVEN);
  const ruleUid = isUnproven || requestedOf(targets) > requestedOf(known) ? NONE_NAMED : kept.ruleUid;
  return { ...kept, uid: meta.uid, ruleUid, targets };
}

function requestedOf(targets: readonly KnownTarget[]): number {
  return targets.filter(({ requested }) => requested).length;
}

/** Each target once, with all that is said of it. */
function merged(targets: readonly KnownTarget[]): KnownTarget[] {
  const both = (one: KnownTarget, { requested, started }: KnownTarget) => ({
    ...one,
    ...{ requested: one.requested || requested, started: one.started || started },
  });
  const byPair = Map.groupBy(targets, ({ target, rule }) => `${target} ${rule}`);
  return [...byPair.values()].map((same) => same.reduce(both));
}
