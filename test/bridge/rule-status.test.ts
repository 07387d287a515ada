/*
 * What a rule's status says, and how often it is written: over pendings and a rule given by hand, and with the keeper over
 * fakes.
 */
import { describe, expect, it } from 'vitest';
import type { Pending, Standing } from '../../bridge/pending.ts';
import { STATUS_EVERY_MS, updateStatus, type Written } from '../../bridge/rule-status.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { type Condition, statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, deletingMeta, pendingOf, RULE } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock, START, stamp } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const READY: Condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'all is well' };
const HELD: Standing = { phase: 'Held', reason: 'TargetMissing', message: 'no bucket', since: START };

/** A rule whose status is written by hand, and what is pending. */
function bench() {
  const clock = new ManualClock();
  const cluster = new FakeCluster(() => clock.now());
  cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: { match: BUCKETS } });
  const state: { pendings: Pending[] } = { pendings: [] };
  const written = new Map<string, Written>();
  const seen = { served: EVERYWHERE, isWatching: () => true, blindIn: () => [], pendings: () => state.pendings };
  const options = { cluster, clock, written, ...seen };
  const write = async (...conditions: readonly Condition[]) =>
    await updateStatus(options, { name: RULE, conditions: conditions });
  const status = () => {
    const rule = cluster.peek(RULE, TEARDOWN_RULES);
    if (rule === undefined) throw new Error('the rule is gone');
    return statusOf(rule);
  };
  return { clock, cluster, state, write, status };
}

/** A pending deletion that began `age` ms ago. */
function pending(name: string, age: number, standing?: Standing): Pending {
  const meta = deletingMeta({ name, uid: `uid-${name}`, deletionTimestamp: stamp(START - age) });
  return pendingOf({ meta, key: `uid-${name}/${RULE}`, standing });
}

describe('the conditions of a rule', () => {
  it('say of which generation they are, and when their status last changed', async () => {
    const { clock, cluster, write, status } = bench();
    await write(READY);
    expect(status().conditions).toEqual([{ ...READY, observedGeneration: 1, lastTransitionTime: stamp(START) }]);
    expect(status()).toMatchObject({ observedGeneration: 1 });
    cluster.change(RULE, (object) => ({ ...object, spec: { match: BUCKETS, a: 1 } }), TEARDOWN_RULES);
    await clock.advance(60_000);
    await write({ ...READY, reason: 'OwnershipWeak' });
    expect(status().conditions).toMatchObject([
      { reason: 'OwnershipWeak', observedGeneration: 2, lastTransitionTime: stamp(START) },
    ]);
    await write({ ...READY, status: 'False', reason: 'NoQueue' });
    expect(status().conditions).toMatchObject([
      { status: 'False', reason: 'NoQueue', lastTransitionTime: stamp(START + 60_000) },
    ]);
  });

  it('of another type stay as they were', async () => {
    const { write, status } = bench();
    await write(READY);
    const [ready] = status().conditions ?? [];
    await write({ ...READY, type: 'WithdrawalBlocked' });
    expect(status().conditions).toEqual([ready, { ...ready, type: 'WithdrawalBlocked' }]);
  });

  it('fit the length that the API takes, whatever a message says', async () => {
    const { write, status } = bench();
    await write({ ...READY, message: 'x'.repeat(40_000) });
    expect(status().conditions?.[0]?.message.length).toBeLessThanOrEqual(32_768);
  });
});

describe('the counts of a rule', () => {
  it('are of its own deletions, with the time when the oldest began', async () => {
    const { state, write, status } = bench();
    const grace = deletingMeta({ deletionTimestamp: stamp(START - 10_000), deletionGracePeriodSeconds: 600 });
    state.pendings = [
      pending('a', 60_000),
      pending('b', 0, HELD),
      { ...pending('c', 7_200_000), rule: 'another' },
      { ...pending('d', 7_200_000), kind: VOLUMES },
      pendingOf({ meta: grace }),
    ];
    await write(READY);
    const oldestPendingTime = new Date(START - 610_000).toISOString();
    expect(status()).toMatchObject({ pending: 3, held: 1, oldestPendingTime });
    state.pendings = [];
  });

  it('are zero, without a time, when nothing is pending', async () => {
    const { write, status } = bench();
    await write(READY);
    expect(status()).toMatchObject({ pending: 0, held: 0, heldObjects: [] });
    expect(status().oldestPendingTime).toBeUndefined();
  });

  it('name the twenty objects held longest, longest first', async () => {
    const { state, write, status } = bench();
    const order = Array.from({ length: 25 }, (_, index) => (index * 7) % 25);
    state.pendings = order.map((age) => pending(`b-${age}`, 0, { ...HELD, since: START - age * 1_000 }));
    await write(READY);
    const names = Array.from({ length: 20 }, (_, index) => ({ name: `b-${24 - index}`, uid: `uid-b-${24 - index}` }));
    expect(status()).toMatchObject({ pending: 25, held: 25, heldObjects: names });
    const since = new Date(START - 24_000).toISOString();
    const { reason, message } = HELD;
    const first = { namespace: 'team-a', name: 'b-24', uid: 'uid-b-24', reason, since, message };
    expect(status().heldObjects).toContainEqual(first);
  });
});

describe('a status', () => {
  it('is not written again when it says nothing new, in whatever order the server keeps its keys', async () => {
    const { clock, cluster, state, write } = bench();
    state.pendings = [pending('a', 60_000, HELD)];
    await write(READY);
    const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());
    cluster.change(RULE, (object) => ({ ...object, status: reversed(statusOf(object)) }), TEARDOWN_RULES);
    await clock.advance(60_000);
    expect(await write(READY)).toBeUndefined();
    expect(cluster.count('patch')).toBe(1);
  });

  it('that merely counts is written once in a while, and says when it is due', async () => {
    const { clock, cluster, state, write, status } = bench();
    await write(READY);
    await clock.advance(4_000);
    state.pendings = [pending('a', 60_000)];
    expect(await write(READY)).toBe(START + STATUS_EVERY_MS);
    expect(cluster.count('patch')).toBe(1);
    await clock.advance(STATUS_EVERY_MS - 4_000);
    expect(await write(READY)).toBeUndefined();
    expect(status()).toMatchObject({ pending: 1 });
  });

  it('with a condition that changed is written at once', async () => {
    const { state, write, status } = bench();
    await write(READY);
    state.pendings = [pending('a', 60_000)];
    await write({ ...READY, status: 'False', reason: 'NotWatching' });
    expect(status()).toMatchObject({ pending: 1, conditions: [{ status: 'False' }] });
  });

  it('in which only the word on new objects changed is written once in a while: each of them may change it', async () => {
    const { clock, cluster, write } = bench();
    const seen = (reason: string): Condition => ({ ...READY, type: 'FinalizerAtAdmission', reason });
    await write(READY, seen('Observed'));
    await clock.advance(4_000);
    expect(await write(READY, seen('NotInjected'))).toBe(START + STATUS_EVERY_MS);
    expect(cluster.count('patch')).toBe(1);
    await clock.advance(STATUS_EVERY_MS - 4_000);
    expect(await write(READY, seen('NotInjected'))).toBeUndefined();
    expect(cluster.count('patch')).toBe(2);
  });

  it('keeps what is not ours to change here: the budget', async () => {
    const { cluster, write, status } = bench();
    const budget = { reservations: [{ time: stamp(START), size: 5 }] };
    cluster.change(RULE, (object) => ({ ...object, status: { budget } }), TEARDOWN_RULES);
    await write(READY);
    expect(status()).toMatchObject({ budget, pending: 0 });
  });

  it('that somebody else wrote meanwhile is an error, to be tried again from a new look', async () => {
    const { cluster, write, status } = bench();
    cluster.before = ({ verb }) => {
      if (verb !== 'patch') return;
      cluster.change(RULE, (object) => ({ ...object, status: { budget: {} } }), TEARDOWN_RULES);
    };
    await expect(write(READY)).rejects.toThrow(`writing the status of rule ${RULE}: it has changed`);
    cluster.before = () => {};
    await write(READY);
    expect(status()).toMatchObject({ budget: {}, conditions: [{ type: 'Ready' }] });
  });

  it('of a rule that is gone is no error', async () => {
    const { cluster, write } = bench();
    cluster.delete(RULE, {}, TEARDOWN_RULES);
    expect(await write(READY)).toBeUndefined();
  });
});

describe('with the keeper', () => {
  const statusWrites = ({ cluster }: RuleScene) =>
    cluster.calls.filter(({ verb, subresource }) => verb === 'patch' && subresource === 'status').length;

  it('a deletion shows within a minute, and that it is over as well (P7)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.clock.advance(120_000);
    await scene.delete('logs');
    await scene.clock.advance(STATUS_EVERY_MS);
    expect(scene.status()).toMatchObject({ pending: 1, held: 0 });
    await scene.answer('logs', { outcome: 'refused', reason: 'ObjectLock', message: 'locked' });
    await scene.clock.advance(2 * STATUS_EVERY_MS);
    expect(scene.status()).toMatchObject({
      pending: 1,
      held: 1,
      heldObjects: [{ name: 'logs', reason: 'ObjectLock' }],
    });
    await scene.answer('logs');
    await scene.clock.advance(2 * STATUS_EVERY_MS);
    expect(scene.status()).toMatchObject({ pending: 0, held: 0, heldObjects: [] });
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('a rule without pending deletions costs no write while it is as it is', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.labelled();
    const before = scene.cluster.count('patch');
    await scene.clock.advance(20 * 60_000);
    expect(scene.cluster.count('patch')).toBe(before);
  });

  it('many deletions cost few writes', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    const before = statusWrites(scene);
    for (let index = 0; index < 60; index += 1) {
      await scene.create(`b-${index}`);
      await scene.delete(`b-${index}`);
      await scene.clock.advance(1_000);
      if (index % 2 === 0) await scene.answer(`b-${index}`);
    }
    expect(statusWrites(scene) - before).toBeLessThanOrEqual(7);
    await scene.clock.advance(2 * STATUS_EVERY_MS);
    expect(scene.status()).toMatchObject({ pending: 30 });
  });

  it('a write that met another is made again by itself', async () => {
    const scene = await RuleScene.start();
    let met = 0;
    scene.cluster.before = ({ verb, subresource }) => {
      if (verb !== 'patch' || subresource !== 'status' || met === 3) return;
      met += 1;
      scene.cluster.annotate(RULE, 'by', `another ${met}`, TEARDOWN_RULES);
    };
    await scene.apply();
    await scene.clock.advance(5_000);
    expect(met).toBe(3);
    expect(scene.said('Ready')).toBe('True Ready');
  });
});
