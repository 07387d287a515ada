/*
 * Small stories for decide: answers, targets and requests of one deletion by their target, and what is decided of them in words.
 * The rest of an observation is that of decision-axes.ts. Used by the tests of decide that tell of one case each.
 */
import { decide } from '../../bridge/decide.ts';
import type { Gone, Observation, RuleView, Seen, Sent } from '../../bridge/observation.ts';
import { EXPIRES, NOW, observation, RULED, ruleView, UID } from './decision-axes.ts';
import { said } from './decision-table.ts';

export const MINUTE = 60_000;

/** A function said that this target is gone. */
export const gone = (target: string, changes: Partial<Gone> = {}): Gone => ({
  ...{ uid: UID, target, rule: RULED, expires: EXPIRES, evidence: 'deleted' },
  ...changes,
});

/** A target that was asked for. */
export const asked = (target: string): Seen => ({ target, rule: RULED, requested: true, started: false });

/** One that was only met. */
export const seen = (target: string): Seen => ({ ...asked(target), requested: false });

/** A request of this term for a target. */
export const sent = (target: string, changes: Partial<Sent> = {}): Sent => ({
  ...{ target, rule: RULED, attempt: 3, retry: 2, confirmed: true, at: NOW - MINUTE },
  ...changes,
});

/** The object names no target any more. */
export const cleared = { target: { kind: 'missing' as const, detail: 'no such key' } };

/** What is decided, as `said` puts it. */
export function decided(see: Partial<Observation>, rule: Partial<RuleView> = {}, now = NOW): string {
  return said(decide({ ...observation, rule: { ...ruleView, ...rule }, ...see }, now));
}
