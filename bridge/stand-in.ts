/*
 * A rule that stands in for one whose spec cannot be read, as far as withdrawing it needs: name, entry and kind. Pure.
 * Called by withdrawal.ts, so that live objects are let go and pending ones say why they are held (P9). It is not accepted,
 * so nothing is ever sent under it, and no result counts; a person's release does.
 */
import { TERM_MAX_MS } from './contract.ts';
import { entryOf } from './finalizer.ts';
import type { KindRef, ObjectMeta } from './ports.ts';
import type { Evaluation, Invalid, Rule } from './rule.ts';
import { DURATIONS } from './rule-facts.ts';

/** What stands in for a rule; `why` says what is wrong with it. */
export function standInFor({ name, uid }: ObjectMeta, match: KindRef, why: string): Rule {
  const invalid: Invalid = { kind: 'invalid', key: 'spec', detail: why };
  const evaluation: Evaluation = { target: invalid, ownership: invalid, policy: invalid };
  return {
    ...{ name, uid, match, entry: entryOf(name) },
    matches: () => false,
    evaluate: () => evaluation,
    notAccepted: why,
    handler: '',
    options: {},
    binding: 'none',
    term: TERM_MAX_MS,
    deadline: DURATIONS.deadline.default,
    whenTargetMissing: 'Hold',
    whenAbsent: 'Hold',
    unmatched: 'Keep',
    paused: true,
  };
}
