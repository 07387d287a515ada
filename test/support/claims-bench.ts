/*
 * One live object and a claim on it, as a watch would have asked for it, over a tiny API server: whose rule, lease and labels a
 * test changes meanwhile. Used by the tests of claims.
 */
import { Claims } from '../../bridge/claims.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Rule } from '../../bridge/rule.ts';
import { BUCKETS, ENTRY, RULE, ruleOf } from './bridge-builders.ts';
import { FakeCluster, type NewObject } from './fake-cluster.ts';
import { ManualClock } from './manual-clock.ts';

/** The key of the claim. */
export const KEY = `claim:uid-logs/${RULE}`;
/** A rule that selects the object by its label. */
export const selecting = (unmatched: Rule['unmatched'] = 'Keep') =>
  ruleOf({ unmatched, match: { ...BUCKETS, labelSelector: { matchLabels: { app: 'logs' } } } });
export const labels = { app: 'logs' };

/** Begins with such an object; `inForce` is the rule as it is by now. */
export function bench(object: Partial<NewObject>, { rule = selecting(), inForce = rule as Rule | undefined } = {}) {
  const cluster = new FakeCluster();
  const metrics = createMetrics();
  const state = { holds: true, rule: inForce };
  const added: string[] = [];
  const warned: unknown[] = [];
  const claims = new Claims({
    ...{ cluster, metrics, clock: new ManualClock(), lease: { holds: () => state.holds } },
    log: { warn: (fields) => void warned.push(fields) },
    ruleOf: (name, { resource }) =>
      state.rule?.name === name && state.rule.match.resource === resource ? state.rule : undefined,
    isMatched: (ruled, { labels: worn = {} }) => ruled.matches(worn),
    add: (key) => void added.push(key),
  });
  const { metadata } = cluster.create({ name: 'logs', uid: 'uid-logs', labels, ...object });
  const want = (change: 'add' | 'remove') => claims.want({ kind: BUCKETS, meta: metadata, rule, change });
  const finalizers = () => cluster.peek('logs')?.metadata.finalizers ?? [];
  return { claims, cluster, metrics, added, warned, state, want, finalizers };
}

export type Bench = ReturnType<typeof bench>;

type Edit = Parameters<FakeCluster['change']>[1];
export const withoutLabels: Edit = ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels: {} } });
export const withLabels: Edit = ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels } });
export const withEntry: Edit = ({ metadata, ...rest }) => ({
  ...rest,
  metadata: { ...metadata, finalizers: ['a/b', ENTRY] },
});
