/*
 * A target that a bridge may have asked for before it was killed, and that nobody knows (trap V10): when that has to be
 * assumed, how it outlives every restart, and what ends it. What is decided then is in decide-traps.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { decide } from '../../bridge/decide.ts';
import { factsOf, observe, recall } from '../../bridge/observe.ts';
import { learn, type Pending } from '../../bridge/pending.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { type Record, recordKey } from '../../bridge/record.ts';
import type { Rule } from '../../bridge/rule.ts';
import { CLUSTER_UID, deletingMeta, pendingOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { START, settled, stamp } from '../support/manual-clock.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const RULED = 'c'.repeat(64);
const asked = (target: string) => ({ target, rule: RULED, requested: true, started: false });
const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };

/** What is observed in the next look at an object with such a spec. */
function look(pending: Pending, spec: object, rule: Rule | undefined = ruleOf()) {
  const object = { apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata: pending.meta, spec };
  recall(pending, rule, START);
  return observe(pending, factsOf({ object, name: RULE, rule, clusterUid: CLUSTER_UID, readAt: 0 }), { rule });
}

function recorded(changes: Partial<Record> = {}): ObjectMeta {
  const record: Record = {
    ...{ uid: 'uid-logs', ruleUid: `uid-of-${RULE}`, phase: 'Held', reason: 'TargetMissing', message: 'no such key' },
    ...{ since: stamp(START - 60_000), targets: [], ...changes },
  };
  return deletingMeta({ annotations: { [recordKey(RULE)]: JSON.stringify(record) } });
}

const newcomer = (changes: Partial<Pending> = {}) => pendingOf({ knowsAllSent: false, ...changes });

describe('that somebody may have asked for a target that nobody knows', () => {
  it.each([
    ['missing', {}],
    ['invalid', { bucket: '' }],
  ])(
    'is assumed where it is %s in the first look of a bridge that has not seen the deletion begin (V10)',
    (_how, spec) => {
      const pending = newcomer();
      expect(look(pending, spec)).toMatchObject({ unknownTarget: true, seen: [] });
      expect(look(pending, { bucket: 'another' })).toMatchObject({ unknownTarget: true, seen: [{ requested: false }] });
    },
  );

  it.each([
    ['has watched the deletion from its beginning', pendingOf(), {}],
    ['finds a target, which then is the one that was asked for', newcomer(), { bucket: 'b' }],
    ['finds a record that says nothing of it', newcomer({ meta: recorded() }), {}],
    ['has an answer that tells of one', newcomer({ seen: [asked(A)] }), {}],
  ])('is not assumed by one that %s', (_why, pending, spec) => {
    expect(look(pending, spec).unknownTarget).toBe(false);
    expect(look(pending, {}).unknownTarget).toBe(false);
  });

  it('is not assumed where the target is there and only its proof cannot be computed: that one was asked for (V10)', () => {
    const rule = ruleOf({ ownership: { tags: { owner: 'object.metadata.uid + object.spec.owner' } } });
    const pending = newcomer();
    const first = look(pending, { bucket: 'b' }, rule);
    expect(first).toMatchObject({ unknownTarget: false, seen: [{ requested: true }] });
    expect(decide(first, START)).toMatchObject({ act: 'hold', reason: 'OwnershipInvalid' });
    expect(decide(look(pending, { bucket: 'b', owner: 'me' }, rule), START)).toMatchObject({ act: 'publish' });
    expect(decide(look(pending, { bucket: 'c', owner: 'me' }, rule), START)).toMatchObject({ reason: 'TargetChanged' });
  });

  it('nor is a target passed over that was there while nothing could be proven: cleared it is not missing only (V11)', () => {
    const tags = { owner: 'object.metadata.uid + object.spec.owner' };
    const rule = ruleOf({ ownership: { tags }, whenTargetMissing: 'Release' });
    const pending = pendingOf();
    look(pending, { bucket: 'b' }, rule);
    expect(decide(look(pending, {}, rule), START)).toMatchObject({ act: 'hold', reason: 'TargetMissing' });
  });

  it('is not assumed without a rule, and is asked when there is one', () => {
    const pending = newcomer();
    expect(observe(pending, factsOf(readingOf(pending)), { rule: undefined }).unknownTarget).toBe(false);
    expect(look(pending, {}).unknownTarget).toBe(true);
  });

  it('is read back from the record, by a bridge that believes to know all as well', () => {
    const meta = recorded({ unknownTarget: true });
    expect(look(newcomer({ meta }), { bucket: 'another' })).toMatchObject({
      unknownTarget: true,
      seen: [{ requested: false }],
    });
    expect(look(pendingOf({ meta }), {}).unknownTarget).toBe(true);
    expect(look(newcomer({ meta: recorded({ unknownTarget: false }) }), {}).unknownTarget).toBe(false);
  });

  it('ends when an answer tells of one that was not known to be asked for, and by no other', () => {
    const pending = newcomer();
    look(pending, {});
    pending.seen = [asked(B)];
    learn(pending, { target: B, rule: 'd'.repeat(64) });
    expect(look(pending, {}).unknownTarget).toBe(true);
    learn(pending, { target: A, rule: RULED });
    expect(look(pending, {})).toMatchObject({ unknownTarget: false });
    expect(pending.seen).toContainEqual(asked(A));
  });

  it('has ended when the answer came before the record was read', () => {
    const meta = recorded({ unknownTarget: true, targets: [asked(B), { ...asked(A), requested: false }] });
    const learnt = (target: string) => {
      const pending = newcomer({ meta });
      learn(pending, { target, rule: RULED });
      return look(pending, {}).unknownTarget;
    };
    expect(learnt(A)).toBe(false);
    expect(learnt(B)).toBe(true);
  });
});

const readingOf = (pending: Pending) => ({
  object: { apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata: pending.meta, spec: {} },
  ...{ name: RULE, rule: undefined, clusterUid: CLUSTER_UID, readAt: 0 },
});

/** A person's or an owner's edit, and what the bridge makes of it. */
async function retarget(scene: Scene, bucket: string | undefined): Promise<void> {
  scene.retarget(bucket);
  await scene.clock.advance(3_000);
}

/** A bridge asks and is killed; the target is cleared; another bridge looks, and is killed as soon as it has written. */
async function cleared(): Promise<Scene> {
  const first = await Scene.start();
  await first.deleted();
  await first.bridge.stop();
  await retarget(first, undefined);
  expect(first.record()).toBeUndefined();
  const second = await Scene.start({ after: first });
  expect(second.record()).toMatchObject({ reason: 'TargetMissing', targets: [], unknownTarget: true });
  await second.bridge.stop();
  return second;
}

describe('a target that follows one that nobody knows', () => {
  it('is held after any restart; retried it is taken down, and only a release frees the object (V10, P1, P5)', async () => {
    const third = await Scene.start({ after: await cleared() });
    await retarget(third, 'another-bucket');
    expect(third.standing()).toBe('Held TargetChanged');
    expect(third.record()).toMatchObject({ reason: 'TargetChanged', unknownTarget: true });
    expect(third.requests).toHaveLength(1);
    await third.bridge.stop();

    const fourth = await Scene.start({ after: third });
    await fourth.clock.advance(60_000);
    expect(fourth.requests).toHaveLength(1);
    fourth.cluster.annotate('logs', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1');
    await settled();
    expect(fourth.request.data.target.bucket).toBe('another-bucket');
    expect(fourth.record()).toMatchObject({ targets: [{ requested: true }], unknownTarget: true });
    expect(await fourth.answer(gone)).toBe(true);
    expect(fourth.standing()).toBe('Held TargetChanged');
    await fourth.clock.advance(4 * 3_600_000);
    expect(fourth.finalizers()).not.toEqual([]);

    fourth.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs');
    await fourth.clock.advance(24 * 3_600_000);
    expect(fourth.cluster.peek('logs')).toBeUndefined();
  });

  it('needs no person where the first is answered late: both are gone then (V10)', async () => {
    const third = await Scene.start({ after: await cleared() });
    const late = third.request;
    await retarget(third, 'another-bucket');
    third.cluster.annotate('logs', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1');
    await settled();
    await third.answer(gone);
    expect(third.standing()).toBe('Held TargetChanged');
    expect(await third.answer(gone, late)).toBe(true);
    expect(third.cluster.peek('logs')).toBeUndefined();
  });

  it('is not waited for where the first is answered while the object names none (K32)', async () => {
    const third = await Scene.start({ after: await cleared() });
    expect(await third.answer(gone)).toBe(true);
    expect(third.cluster.peek('logs')).toBeUndefined();
  });
});

it('a target whose proof could not be computed for a while needs no person, whatever restarts there were (V10, P5)', async () => {
  const rules = [ruleOf({ ownership: { tags: { owner: 'object.metadata.uid + object.spec.owner' } } })];
  const edit = async (scene: Scene, spec: object) => {
    scene.cluster.change('logs', (object) => ({ ...object, spec }));
    await scene.clock.advance(3_000);
  };
  const first = await Scene.start({ rules });
  await first.deleted({ spec: { bucket: 'b', owner: 'me' } });
  await first.bridge.stop();
  expect(first.requests).toHaveLength(1);
  await edit(first, { bucket: 'b' });

  const second = await Scene.start({ rules, after: first });
  expect(second.record()).toMatchObject({ reason: 'OwnershipInvalid', targets: [{ requested: true }] });
  expect(second.record()).not.toHaveProperty('unknownTarget');
  await second.bridge.stop();
  await edit(second, { bucket: 'b', owner: 'me' });

  const third = await Scene.start({ rules, after: second });
  expect(third.requests).toHaveLength(2);
  expect(await third.answer(gone)).toBe(true);
  expect(third.cluster.peek('logs')).toBeUndefined();
});

describe('a record that stands before the first request', () => {
  it.each([
    ['of a rule that was paused', { paused: true }],
    ['of an object that waited for others', { waitFor: { finalizers: ['a/b'], atMost: '10m' } }],
  ])('%s names the target before it is sent, so that no crash makes it unknown (V10)', async (_what, spec) => {
    const first = await Scene.start({ rules: [ruleOf(spec)] });
    await first.deleted({ finalizers: ['finalizer-bridge.dev/team-buckets', 'a/b'] });
    await first.clock.advance(31_000);
    expect(first.record()?.targets).toMatchObject([{ requested: false }]);
    await first.bridge.stop();
    first.cluster.change('logs', ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: ['finalizer-bridge.dev/team-buckets'] },
    }));

    let atSending: Record | undefined;
    const second = await Scene.start({
      after: first,
      prepare: (scene) => {
        scene.queue.sending = async () => {
          atSending ??= scene.record();
          return [];
        };
      },
    });
    expect(second.requests).toHaveLength(1);
    expect(atSending?.targets).toMatchObject([{ requested: true }]);

    await second.bridge.stop();
    await retarget(second, undefined);
    const third = await Scene.start({ after: second });
    await retarget(third, 'another-bucket');
    expect(third.standing()).toBe('Held TargetChanged');
  });
});
