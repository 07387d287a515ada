/*
 * What a rule's status keeps of the last generation that was accepted, and what that is good for when the bridge starts
 * anew while the latest one is broken, or cannot be judged. The real bridge and keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ApiError, type KubeObject } from '../../bridge/ports.ts';
import { REJUDGE_MS } from '../../bridge/rule-enforcing.ts';
import { lastAcceptedOf } from '../../bridge/rule-force.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ruleObject, ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const KIND = 'storage.example.com/v1/buckets';
const BROKEN = { target: { bucket: 'object.spec.' } };
const RETAIN = { policy: "object.metadata.annotations[?'on-delete'].orValue('Delete')" };
const unanswered = new ApiError('discovering storage.example.com/v1', 503);
const lastAccepted = z.object({ uid: z.string(), generation: z.number(), spec: z.record(z.string(), z.unknown()) });

/** A bridge that starts in the world of another one, which ends. */
async function restarted(scene: RuleScene, prepare: (scene: RuleScene) => void = () => {}): Promise<RuleScene> {
  await scene.stop();
  const next = await RuleScene.start({ world: scene, prepare });
  await next.clock.advance(2_000);
  return next;
}

/** Somebody edits a rule while no bridge runs. */
const breakRule = ({ cluster }: RuleScene) =>
  cluster.change(RULE, (object) => ({ ...object, spec: ruleSpec(BROKEN) }), TEARDOWN_RULES);

const keptOf = (scene: RuleScene) => lastAccepted.safeParse(scene.status().lastAccepted).data;

describe('the status of a rule', () => {
  it('keeps the generation that was accepted last, written with the acceptance', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    expect(keptOf(scene)).toEqual({ uid: `uid-of-${RULE}`, generation: 1, spec: ruleSpec() });
    const [first] = scene.cluster.calls.filter(({ subresource }) => subresource === 'status');
    for (const part of ['"reason":"Accepted"', '"lastAccepted":'])
      expect(JSON.stringify(first?.operations)).toContain(part);
    await scene.apply({ options: { a: 1 } });
    expect(keptOf(scene)).toMatchObject({ generation: 2, spec: { options: { a: 1 } } });
    await scene.apply(BROKEN);
    expect(scene.said('Accepted')).toBe('False Invalid');
    expect(keptOf(scene)).toMatchObject({ generation: 2, spec: { options: { a: 1 } } });
  });

  it('keeps nothing that is too large, says so, and forgets what was kept before', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    const long = `'${'x'.repeat(4_000)}' + object.spec.bucket`;
    await scene.apply({ target: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, long])) });
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.condition('Accepted')?.message).toContain('too large to be remembered over a restart');
    expect(keptOf(scene)).toBeUndefined();
  });
});

describe('a bridge that starts while the latest generation is broken', () => {
  it('P5 lets a valid gone count for what was sent before (row 1), and sends nothing', async () => {
    const before = await RuleScene.start();
    await before.apply();
    await before.create('logs');
    await before.delete('logs');
    await before.apply(BROKEN);
    const scene = await restarted(before);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(scene.requests).toHaveLength(1);
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('P5 does so also for an edit that no bridge has seen', async () => {
    const before = await RuleScene.start();
    await before.apply();
    await before.create('logs');
    await before.delete('logs');
    await before.stop();
    breakRule(before);
    const scene = await RuleScene.start({ world: before });
    await scene.clock.advance(2_000);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('retains what the last accepted policy says is to be retained (row 6)', async () => {
    const before = await RuleScene.start();
    await before.apply(RETAIN);
    await before.create('kept', { annotations: { 'on-delete': 'Retain' } });
    await before.create('lost');
    await before.apply({ ...RETAIN, ...BROKEN });
    const scene = await restarted(before);
    await scene.delete('kept');
    await scene.delete('lost');
    expect(scene.cluster.peek('kept')).toBeUndefined();
    expect(scene.standing('lost')).toBe('Held RuleNotAccepted');
    expect(scene.requests).toEqual([]);
  });

  it('claims by the last accepted generation, and goes on with the rule when it is mended', async () => {
    const before = await RuleScene.start();
    await before.apply();
    await before.apply(BROKEN);
    const scene = await restarted(before);
    await scene.create('logs');
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.book.named(RULE)).toMatchObject({ generation: 1, notAccepted: expect.stringContaining('bucket') });
    await scene.apply();
    await scene.delete('logs');
    expect(scene.requested).toEqual(['logs']);
    expect(await scene.answer('logs')).toBe(true);
  });

  it('withdraws a rule by the generation that was accepted last', async () => {
    const before = await RuleScene.start();
    await before.apply();
    await before.create('logs');
    await before.delete('logs');
    await before.apply(BROKEN);
    await before.deleteRule();
    const scene = await restarted(before);
    await scene.clock.advance(90_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True HeldObjects');
    expect(await scene.answer('logs')).toBe(true);
    await scene.clock.advance(5 * 60_000);
    expect(scene.rule()).toBeUndefined();
  });
});

describe('what a status keeps', () => {
  const kept = { uid: `uid-of-${RULE}`, generation: 3, spec: ruleSpec({ paused: true }) };
  const of = (changes: object): KubeObject => ({
    ...ruleObject(BROKEN, { generation: 4 }),
    status: { lastAccepted: { ...kept, ...changes } },
  });

  it('is the rule as it was then', () => {
    expect(lastAcceptedOf(of({}))).toMatchObject({ name: RULE, generation: 3, paused: true, match: BUCKETS });
  });

  it.each<[string, object]>([
    ['of a rule that went and had the same name', { uid: 'another' }],
    ['for another kind', { spec: ruleSpec({ match: { ...VOLUMES } }) }],
    ['that does not read', { spec: ruleSpec(BROKEN) }],
    ['without a spec', { spec: undefined }],
    ['without a generation', { generation: 'three' }],
  ])('%s is not used', (_what, changes) => {
    expect(lastAcceptedOf(of(changes))).toBeUndefined();
  });

  it('is nothing in a status of before', () => {
    expect(lastAcceptedOf({ ...ruleObject(), status: { pending: 0 } })).toBeUndefined();
    expect(lastAcceptedOf(ruleObject())).toBeUndefined();
  });
});

describe('a rule that cannot be judged', () => {
  it('says so once that lasts, with the cause, and recovers by itself (P7)', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.fails.set(KIND, unanswered) });
    await scene.apply();
    await scene.clock.advance(10_000);
    expect([scene.said('Accepted'), scene.said('Ready')]).toEqual(['Unknown NotJudged', 'Unknown NotJudged']);
    expect(scene.condition('Accepted')).toMatchObject({ observedGeneration: 1 });
    expect(scene.condition('Ready')?.message).toContain('HTTP 503; nothing is published');
    scene.kinds.fails.clear();
    await scene.clock.advance(40_000);
    expect([scene.said('Accepted'), scene.said('Ready')]).toEqual(['True Accepted', 'True Ready']);
  });

  it('is not written to again and again while nothing changes (P8)', async () => {
    const scene = await RuleScene.start({ prepare: ({ kinds }) => void kinds.fails.set(KIND, unanswered) });
    await scene.apply();
    await scene.clock.advance(3_600_000);
    expect(scene.said('Accepted')).toBe('Unknown NotJudged');
    expect(scene.cluster.calls.filter(({ subresource }) => subresource === 'status')).toHaveLength(1);
  });

  it('keeps the acceptance that stands: after a restart nothing is published, and a valid gone counts', async () => {
    const before = await RuleScene.start();
    await before.apply();
    await before.create('logs');
    await before.delete('logs');
    const scene = await restarted(before, ({ kinds }) => void kinds.fails.set(KIND, unanswered));
    await scene.clock.advance(3 * 3_600_000);
    expect([scene.said('Accepted'), scene.condition('Accepted')?.observedGeneration]).toEqual(['True Accepted', 1]);
    expect(scene.standing('logs')).toBe('Held RuleNotAccepted');
    expect(scene.bridge.pendings()[0]?.standing?.message).toContain('not judged yet');
    expect(scene.requests).toHaveLength(1);
    scene.kinds.fails.clear();
    await scene.clock.advance(REJUDGE_MS * 3);
    expect(scene.requests).toHaveLength(2);
    expect(await scene.answer('logs')).toBe(true);
  });

  it('after an edit says that the edit is not judged, and goes on as it was', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    scene.kinds.fails.set(KIND, unanswered);
    await scene.apply({ options: { a: 1 } });
    await scene.clock.advance(10_000);
    expect(scene.said('Accepted')).toBe('Unknown NotJudged');
    expect(scene.condition('Accepted')).toMatchObject({
      observedGeneration: 2,
      message: expect.stringContaining('generation 1 stays in force'),
    });
    expect([scene.said('Ready'), scene.condition('Ready')?.observedGeneration]).toEqual(['True Ready', 1]);
    await scene.create('logs');
    await scene.delete('logs');
    expect(scene.requested).toEqual(['logs']);
  });

  it('is left to the leader to be spoken of, and a status that cannot be written stops nothing', async () => {
    const scene = await RuleScene.start({
      prepare: (starting) => {
        starting.kinds.fails.set(KIND, unanswered);
        starting.holdsLease = false;
      },
    });
    await scene.apply();
    await scene.clock.advance(60_000);
    expect(scene.said('Accepted')).toBeUndefined();
    expect(scene.book.whyNotAccepted(RULE, BUCKETS)).toContain('HTTP 503');
    scene.holdsLease = true;
    scene.cluster.refused.set('/teardownrules', 403);
    await scene.clock.advance(60_000);
    scene.cluster.refused.clear();
    scene.kinds.fails.clear();
    await scene.clock.advance(60_000);
    expect(scene.said('Ready')).toBe('True Ready');
  });
});
