/*
 * The gauges of what is pending: computed anew at each reading, by rule and reason.
 * Read back from the metrics themselves, as a scrape would.
 */
import { expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Standing } from '../../bridge/pending.ts';
import { NO_RULE } from '../../bridge/rule-book.ts';
import { measure } from '../../bridge/standing-metrics.ts';
import { BUCKETS, counts, deletingMeta, pendingOf, RULE } from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';

const labelOf = (name: string) => (['a', 'b', RULE].includes(name) ? name : NO_RULE);
const standing: Standing = { phase: 'Held', reason: 'NotOwned', message: 'another owner', since: START };

it('counts what is pending and held by rule, and shows the age of the oldest', async () => {
  const metrics = createMetrics();
  const pendings = [
    pendingOf({ rule: 'a', standing }),
    pendingOf({ rule: 'a', meta: deletingMeta({ deletionTimestamp: stamp(START - 60_000) }) }),
    pendingOf({ rule: 'b', standing: { ...standing, phase: 'Pending', reason: 'Requested' } }),
  ];
  measure({ pendings: pendings, unclaimed: new Map(), strays: [], labelOf }, metrics, START + 5_000);
  expect(await counts(metrics.pending)).toEqual({ a: 2, b: 1 });
  expect(await counts(metrics.held)).toEqual({ 'a/NotOwned': 1 });
  expect(await counts(metrics.oldestPending)).toEqual({ a: 65, b: 5 });
});

it('names no entries of rules that are not there: anybody may invent them', async () => {
  const metrics = createMetrics();
  const pendings = ['a', 'invented-1', 'invented-2'].map((rule) => pendingOf({ rule, standing }));
  measure({ pendings, unclaimed: new Map(), strays: [], labelOf }, metrics, START + 5_000);
  expect(await counts(metrics.pending)).toEqual({ a: 1, [NO_RULE]: 2 });
  expect(await counts(metrics.held)).toEqual({ 'a/NotOwned': 1, [`${NO_RULE}/NotOwned`]: 2 });
  expect(await counts(metrics.oldestPending)).toEqual({ a: 5, [NO_RULE]: 5 });
});

it('forgets what is over', async () => {
  const metrics = createMetrics();
  measure({ pendings: [pendingOf({ standing })], unclaimed: new Map(), strays: [], labelOf }, metrics, START);
  measure({ pendings: [], unclaimed: new Map(), strays: [], labelOf }, metrics, START);
  expect(await counts(metrics.pending)).toEqual({});
  expect(await counts(metrics.held)).toEqual({});
  expect(await counts(metrics.oldestPending)).toEqual({});
});

it('counts live objects whose rule is not there by its name and their kind', async () => {
  const metrics = createMetrics();
  const strays = [
    { kind: BUCKETS, rule: 'a', name: 'a', count: 3, examples: [] },
    // The same kind in another version, as long as two rules name two.
    { kind: { ...BUCKETS, version: 'v2' }, rule: 'a', name: 'a', count: 1, examples: [] },
    { kind: { ...BUCKETS, group: '' }, rule: '(others)', name: undefined, count: 2, examples: [] },
  ];
  measure({ pendings: [], unclaimed: new Map(), strays, labelOf }, metrics, START);
  const { group, resource } = BUCKETS;
  expect(await counts(metrics.strays)).toEqual({ [`a/${group}/${resource}`]: 4, [`(others)//${resource}`]: 2 });
  measure({ pendings: [], unclaimed: new Map(), strays: [], labelOf }, metrics, START);
  expect(await counts(metrics.strays)).toEqual({});
});

it('counts ages from the request of the deletion, and never below zero (K31)', async () => {
  const metrics = createMetrics();
  const grace = { deletionTimestamp: stamp(START + 30_000), deletionGracePeriodSeconds: 30 };
  measure(
    { pendings: [pendingOf({ meta: deletingMeta(grace) })], unclaimed: new Map(), strays: [], labelOf },
    metrics,
    START + 10_000,
  );
  expect(Object.values(await counts(metrics.oldestPending))).toEqual([10]);
  measure(
    { pendings: [pendingOf({ meta: deletingMeta(grace) })], unclaimed: new Map(), strays: [], labelOf },
    metrics,
    START - 10_000,
  );
  expect(Object.values(await counts(metrics.oldestPending))).toEqual([0]);
});
