/*
 * What is remembered of a deletion, and of one that is over: it may only make the bridge more careful (P1), stays small whatever
 * becomes of the object, and takes no late sight for a new one.
 */
import { describe, expect, it } from 'vitest';
import { Finished } from '../../bridge/finished.ts';
import type { Seen } from '../../bridge/observation.ts';
import { advance, beganAt, isUnder, learn, pendingKey, remember } from '../../bridge/pending.ts';
import { NOTHING_ANSWERED } from '../../bridge/slowness.ts';
import { BUCKETS, deletingMeta, metaOf, pendingOf, RULE } from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';

const met = (target: string, changes: Partial<Seen> = {}): Seen => ({
  ...{ target, rule: 'r', requested: false, started: false },
  ...changes,
});

describe('a target that is remembered', () => {
  it('stays requested and started, whatever is seen of it later (V10, V16)', () => {
    const pending = pendingOf();
    for (const seen of [met('a', { requested: true }), met('a'), met('a', { started: true }), met('a')]) {
      remember(pending, seen);
    }
    expect(pending.seen).toEqual([met('a', { requested: true, started: true })]);
  });

  it('is not taken for requested or started by being met again: its own gone would be waited for in vain (P4)', () => {
    const pending = pendingOf();
    for (const seen of [met('a'), met('a')]) remember(pending, seen);
    expect(pending.seen).toEqual([met('a')]);
  });

  it('is another one under another rule digest, since its teardown would be another', () => {
    const pending = pendingOf();
    for (const seen of [met('a'), met('a', { rule: 's', requested: true }), met('b', { started: true })]) {
      remember(pending, seen);
    }
    expect(pending.seen).toEqual([met('a'), met('a', { rule: 's', requested: true }), met('b', { started: true })]);
  });

  it('is forgotten only if it was merely met, the oldest first, four being enough to be careful', () => {
    const pending = pendingOf();
    remember(pending, met('asked', { requested: true }));
    remember(pending, met('begun', { started: true }));
    for (let number = 1; number <= 4; number += 1) remember(pending, met(`met ${number}`));
    const targets = () => pending.seen.map(({ target }) => target);
    expect(targets()).toEqual(['asked', 'begun', 'met 1', 'met 2', 'met 3', 'met 4']);
    remember(pending, met('met 5'));
    expect(targets()).toEqual(['asked', 'begun', 'met 2', 'met 3', 'met 4', 'met 5']);
    for (let number = 1; number <= 9; number += 1) remember(pending, met(`asked ${number}`, { requested: true }));
    expect(targets()).toHaveLength(15);
  });
});

describe('a target that an answer is about', () => {
  const learnt = (unknownTarget: boolean | undefined, ...seen: readonly Seen[]) => {
    const pending = pendingOf({ unknownTarget, seen: [...seen] });
    learn(pending, met('a'));
    return pending;
  };

  it('was asked for, by whomever (V1)', () => {
    expect(learnt(undefined).seen).toEqual([met('a', { requested: true })]);
    expect(learnt(undefined, met('b'), met('a')).seen).toEqual([met('b'), met('a', { requested: true })]);
  });

  it.each([
    ['was not remembered', []],
    ['was only met', [met('a')]],
    ['was not among those that were asked for', [met('b', { requested: true })]],
  ])('is the one that nobody knew, when it %s (V10)', (_what, seen) => {
    expect(learnt(true, ...seen).unknownTarget).toBe(false);
  });

  it('is not, when it was known to be asked for: then another may have been, still (V10, P1)', () => {
    for (const rule of ['r', 's']) {
      const known = [met('b'), met('a', { rule, requested: true })];
      expect(learnt(true, ...known).unknownTarget).toBe(true);
    }
  });

  it('says nothing of whether there is such a one where that is not known yet, or known not to be', () => {
    expect([learnt(undefined).unknownTarget, learnt(false).unknownTarget]).toEqual([undefined, false]);
  });
});

describe('a deletion', () => {
  it('that was just seen is one of which nothing is known, sent, told or owed', () => {
    const { key, rule, kind, shownIn, meta, knowsAllSent, firstLooked, answered, ...rest } = pendingOf();
    expect(shownIn).toEqual([BUCKETS.version]);
    expect(answered).toBe(NOTHING_ANSWERED);
    const known = Object.entries(rest).filter(([, value]) => {
      if (value === undefined || value === false || value === 0) return false;
      return Array.isArray(value)
        ? value.length > 0
        : !(value instanceof Map || value instanceof Set) || value.size > 0;
    });
    expect(known).toEqual([]);
    expect([key, rule, kind, meta, knowsAllSent, firstLooked]).toEqual([
      ...[`uid-logs/${RULE}`, RULE, BUCKETS, deletingMeta(), true, START],
    ]);
  });

  it('is known by its object and its rule', () => {
    expect(pendingOf().key).toBe(pendingKey('uid-logs', RULE));
    expect(pendingKey('uid-logs', RULE)).toBe(`uid-logs/${RULE}`);
  });

  it('began when it was asked for, before any grace period (K31)', () => {
    const meta = deletingMeta({ deletionTimestamp: stamp(START + 30_000), deletionGracePeriodSeconds: 30 });
    expect([beganAt({ meta }), beganAt({ meta: metaOf({ creationTimestamp: stamp(START - 1_000) }) })]).toEqual([
      ...[START, START - 1_000],
    ]);
  });

  it('is under the rule of its name for its kind, in whatever version, and under no other', () => {
    const pending = pendingOf();
    expect(isUnder(pending, RULE, { ...BUCKETS, version: 'v2' })).toBe(true);
    expect(isUnder(pending, 'other', BUCKETS)).toBe(false);
    expect(isUnder(pending, RULE, { ...BUCKETS, group: 'other.example.com' })).toBe(false);
    expect(isUnder(pending, RULE, { ...BUCKETS, resource: 'volumes' })).toBe(false);
  });

  it('takes newer metadata and what is not known to be older, and keeps what it has over older (P6)', () => {
    const pending = pendingOf({ meta: deletingMeta({ resourceVersion: '10' }) });
    expect([advance(pending, deletingMeta({ resourceVersion: '9' })), pending.meta.resourceVersion]).toEqual([
      false,
      '10',
    ]);
    expect([advance(pending, deletingMeta({ resourceVersion: '11' })), pending.meta.resourceVersion]).toEqual([
      true,
      '11',
    ]);
    expect([advance(pending, deletingMeta({ resourceVersion: 'x' })), pending.meta.resourceVersion]).toEqual([
      true,
      'x',
    ]);
  });
});

describe('a deletion that is over', () => {
  const over = (key: string, namespace = 'team-a') => ({ key, kind: BUCKETS, meta: { namespace } });

  it('is known until a complete list shows it again, once (P4)', () => {
    const finished = new Finished();
    finished.add(over('a'));
    expect([finished.has('a'), finished.has('b')]).toEqual([true, false]);
    expect([finished.take('a'), finished.has('a'), finished.take('a')]).toEqual([true, false, false]);
  });

  it('is still known after the watch has shown it off, for what comes out of order; also then until it is taken', () => {
    const finished = new Finished();
    finished.add(over('a'));
    finished.seenOff('a');
    expect(finished.has('a')).toBe(true);
    expect([finished.take('a'), finished.has('a')]).toEqual([true, false]);
  });

  it('is nothing that the watch can make known: what was not over is not', () => {
    const finished = new Finished();
    finished.seenOff('a');
    expect([finished.has('a'), finished.take('a')]).toEqual([false, false]);
  });

  it('is shown off by a list of where it was, and only by that', () => {
    const finished = new Finished();
    for (const [key, place] of [
      ['a', 'team-a'],
      ['b', 'team-b'],
    ] as const) {
      finished.add(over(key, place));
    }
    const asked: unknown[] = [];
    finished.seenAll(({ kind, meta }) => {
      asked.push({ kind, meta });
      return meta.namespace === 'team-a';
    });
    expect(asked).toEqual(['team-a', 'team-b'].map((namespace) => ({ kind: BUCKETS, meta: { namespace } })));
    // Of those that were shown off the latest thousand are kept, of the others all.
    for (let number = 0; number < 1_000; number += 1) {
      finished.add(over(`${number}`));
      finished.seenOff(`${number}`);
    }
    expect([finished.has('a'), finished.has('b'), finished.has('0'), finished.has('999')]).toEqual([
      ...[false, true, true, true],
    ]);
  });
});
