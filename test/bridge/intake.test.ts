/*
 * What the watches see becomes work: pending deletions, claims, doubts. And what is no work leaves no trace.
 * Called here as a watcher would call it; the watcher itself is in watch.test.ts, what claims do in claims.test.ts.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { Births } from '../../bridge/births.ts';
import { Claims } from '../../bridge/claims.ts';
import { Finished } from '../../bridge/finished.ts';
import { Intake } from '../../bridge/intake.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Pending } from '../../bridge/pending.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import type { Rule } from '../../bridge/rule.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { Serving } from '../../bridge/serving.ts';
import { Strays } from '../../bridge/strays.ts';
import { BUCKETS, counts, deletingMeta, ENTRY, keptLog, metaOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock, START } from '../support/manual-clock.ts';

const KEY = `uid-logs/${RULE}`;
const CLAIM = `claim:${KEY}`;
const rule = ruleOf();

/** Intake over nothing but memory. */
function bench(rules = [rule]) {
  const [clock, metrics, finished] = [new ManualClock(), createMetrics(), new Finished()];
  const pendings = new Map<string, Pending>();
  const work: string[] = [];
  const add = (key: string) => void work.push(key);
  const ruleNamed = (name: string) => rules.find((each) => each.name === name);
  const cluster = new FakeCluster();
  const isMatched = (ruled: Rule, { labels = {} }: ObjectMeta) => ruled.matches(labels);
  const lease = { holds: () => true };
  const claims = new Claims({ cluster, clock, lease, metrics, log: keptLog().log, ruleOf: ruleNamed, isMatched, add });
  const strays = new Strays({
    clock,
    areRulesKnown: () => true,
    hasRule: (name) => ruleNamed(name) !== undefined,
    release: () => {},
    ...{ isWatching: () => true, misread: () => {} },
    tell: () => {},
  });
  const newcomers = { births: new Births(clock), serving: new Serving(clock), served: EVERYWHERE };
  const options = { clock, pendings, finished, claims, strays, metrics, isMatched, add, ...newcomers };
  const intake = new Intake({
    ...options,
    rulesOf: (kind) => rules.filter(({ match }) => kindKey(match) === kindKey(kind)),
  });
  return { intake, pendings, finished, strays, work, metrics, clock };
}

let of: ReturnType<typeof bench>;
const sees = (meta: ObjectMeta) => of.intake.present(BUCKETS, meta);
const listed = (...metas: readonly ObjectMeta[]) => {
  of.intake.listing(BUCKETS);
  for (const meta of metas) sees(meta);
  of.intake.synced(BUCKETS);
  of.work.length = 0;
};
beforeEach(() => {
  of = bench();
});

describe('a live object', () => {
  it('that has what it needs leaves nothing behind (P8)', () => {
    listed();
    sees(metaOf());
    expect(of.work).toEqual([]);
    expect(of.pendings.size).toBe(0);
  });

  it('that a rule selects and that lacks the entry is claimed', () => {
    sees(metaOf({ finalizers: ['a/b'] }));
    expect(of.work).toEqual([CLAIM]);
  });

  it('that no rule selects is left alone', () => {
    of = bench([ruleOf({ match: { ...BUCKETS, labelSelector: { matchLabels: { app: 'logs' } } } })]);
    sees(metaOf({ finalizers: [], labels: { app: 'other' } }));
    expect(of.work).toEqual([]);
    sees(metaOf({ finalizers: [], labels: { app: 'logs' } }));
    expect(of.work).toEqual([CLAIM]);
  });

  it.each([
    ['Keep', []],
    ['Release', [CLAIM]],
  ])('that stops matching keeps its entry unless the rule releases it: unmatched: %s', (unmatched, work) => {
    of = bench([ruleOf({ unmatched, match: { ...BUCKETS, labelSelector: { matchLabels: { app: 'logs' } } } })]);
    sees(metaOf());
    expect(of.work).toEqual(work);
  });
});

describe('a deleting object', () => {
  it('with our entry is pending, under each rule that holds it, whatever the rules select now (K28)', () => {
    sees(deletingMeta({ finalizers: ['a/b', ENTRY, 'finalizer-bridge.dev/removed-rule'], labels: {} }));
    expect([...of.pendings.keys()]).toEqual([KEY, 'uid-logs/removed-rule']);
    expect(of.work).toEqual([KEY, 'uid-logs/removed-rule']);
  });

  it('without an entry is none of our business', () => {
    sees(deletingMeta({ finalizers: ['a/b'] }));
    expect(of.work).toEqual([]);
    expect(of.pendings.size).toBe(0);
  });

  it('is known from its beginning only when it began after the first complete list (V1)', () => {
    of.intake.listing(BUCKETS);
    sees(deletingMeta());
    of.intake.synced(BUCKETS);
    sees(deletingMeta({ uid: 'uid-2' }));
    of.intake.listing(BUCKETS);
    sees(deletingMeta({ uid: 'uid-3' }));
    const known = [...of.pendings.values()].map(({ meta, knowsAllSent, firstLooked }) => [
      meta.uid,
      knowsAllSent,
      firstLooked,
    ]);
    expect(known).toEqual([
      ['uid-logs', false, START],
      ['uid-2', true, START],
      ['uid-3', true, START],
    ]);
  });

  it('that a result named first is not known from its beginning (V1)', () => {
    listed();
    expect(of.intake.admit(BUCKETS, deletingMeta(), RULE)).toMatchObject({ key: KEY, knowsAllSent: false });
    expect(of.work).toEqual([KEY]);
  });

  it('seen again keeps its memory and takes the newer metadata, never the older', () => {
    sees(deletingMeta({ resourceVersion: '9' }));
    const [pending] = of.pendings.values();
    sees(deletingMeta({ resourceVersion: '10' }));
    sees(deletingMeta({ resourceVersion: '8' }));
    expect([...of.pendings.values()]).toEqual([pending]);
    expect(pending?.meta.resourceVersion).toBe('10');
    expect(of.work).toEqual([KEY, KEY]);
  });

  it('keeps of its metadata only what a deletion needs (P8)', () => {
    sees(deletingMeta({ labels: { a: 'b' }, annotations: { 'team.example.com/a': 'long' } }));
    expect(of.pendings.get(KEY)?.meta).toMatchObject({ annotations: {}, finalizers: [ENTRY] });
    expect(of.pendings.get(KEY)?.meta.labels).toBeUndefined();
  });
});

describe('the end of a deletion', () => {
  it('shown by DELETED, or by an entry that is off, is only a doubt: a GET decides', () => {
    sees(deletingMeta());
    of.work.length = 0;
    of.intake.deleted(BUCKETS, deletingMeta());
    expect(of.pendings.get(KEY)?.doubted).toBe(true);
    expect(of.work).toEqual([KEY]);
    const other = deletingMeta({ uid: 'uid-2' });
    sees(other);
    sees({ ...other, finalizers: ['a/b'] });
    expect(of.pendings.get(`uid-2/${RULE}`)?.doubted).toBe(true);
  });

  it('of another object changes nothing (K3)', () => {
    sees(deletingMeta());
    of.work.length = 0;
    of.intake.deleted(BUCKETS, deletingMeta({ uid: 'uid-2' }));
    expect(of.pendings.get(KEY)?.doubted).toBe(false);
    expect(of.work).toEqual([]);
  });

  it('that a watch missed is doubted when a complete list lacks it (K10)', () => {
    listed(deletingMeta(), deletingMeta({ uid: 'uid-2' }));
    of.intake.listing(BUCKETS);
    sees(deletingMeta({ uid: 'uid-2' }));
    of.work.length = 0;
    of.intake.synced(BUCKETS);
    expect(of.pendings.get(KEY)?.doubted).toBe(true);
    expect(of.pendings.get(`uid-2/${RULE}`)?.doubted).toBe(false);
    expect(of.work).toEqual([KEY]);
  });

  it('is not doubted by a list of another kind, or by a bookmark without a list', () => {
    listed(deletingMeta());
    of.intake.listing({ ...BUCKETS, resource: 'volumes' });
    of.intake.synced({ ...BUCKETS, resource: 'volumes' });
    of.intake.synced(BUCKETS);
    expect(of.pendings.get(KEY)?.doubted).toBe(false);
  });

  it('once known makes late sights of it say nothing, also when the watch has caught up', () => {
    listed();
    of.finished.add({ key: KEY, kind: BUCKETS, meta: {} });
    sees(deletingMeta({ resourceVersion: '9' }));
    expect(of.pendings.size).toBe(0);
    expect(of.work).toEqual([]);
    of.intake.deleted(BUCKETS, deletingMeta());
    sees(deletingMeta({ resourceVersion: '9' }));
    of.intake.synced(BUCKETS);
    sees(deletingMeta({ resourceVersion: '9' }));
    expect(of.pendings.size).toBe(0);
  });

  it('is looked at again when a complete list shows it, and nothing is known of what was sent', () => {
    listed();
    of.finished.add({ key: KEY, kind: BUCKETS, meta: {} });
    of.intake.deleted(BUCKETS, deletingMeta());
    of.intake.listing(BUCKETS);
    sees(deletingMeta());
    expect(of.pendings.get(KEY)).toMatchObject({ wasOver: true, knowsAllSent: false });
    expect(of.work).toEqual([KEY]);
  });
});

describe('what may hold up the results', () => {
  it('is a kind nobody has listed yet, not one that cannot be watched (P10)', () => {
    const { intake } = of;
    expect(intake.isSettled([BUCKETS])).toBe(false);
    intake.blind(BUCKETS, 'Http503');
    expect(intake.isSettled([BUCKETS])).toBe(false);
    intake.blind(BUCKETS, 'Http403');
    expect(intake.isSettled([BUCKETS])).toBe(true);
    const volumes = { ...BUCKETS, resource: 'volumes' };
    expect(intake.isSettled([BUCKETS, volumes])).toBe(false);
    intake.synced(volumes);
    expect(intake.isSettled([BUCKETS, volumes])).toBe(true);
  });
});

describe('readiness', () => {
  it('depends on every kind having been listed and being watched (K10)', async () => {
    const volumes = { ...BUCKETS, resource: 'volumes' };
    const { intake } = of;
    expect(intake.isReady([])).toBe(true);
    expect(intake.isReady([BUCKETS])).toBe(false);
    intake.listing(BUCKETS);
    expect(intake.isReady([BUCKETS])).toBe(false);
    intake.synced(BUCKETS);
    expect(intake.isReady([BUCKETS])).toBe(true);
    expect(intake.isReady([BUCKETS, volumes])).toBe(false);
    intake.blind(BUCKETS, 'Ended');
    expect(intake.isReady([BUCKETS])).toBe(false);
    expect(await counts(of.metrics.watching)).toEqual({ 'storage.example.com/buckets': 0 });
    intake.resumed(BUCKETS);
    expect(intake.isReady([BUCKETS])).toBe(true);
    expect(await counts(of.metrics.watching)).toEqual({ 'storage.example.com/buckets': 1 });
  });
});
