/*
 * What a rule says, and what is sent under it, where the definition of rules in the cluster drops a field of their status: the
 * real bridge and keeper over a tiny API server that answers such writes with success, as real ones do.
 */
import { describe, expect, it } from 'vitest';
import { isKept, lostOf } from '../../bridge/kept-status.ts';
import { BrakeBench } from '../support/brake-bench.ts';
import { ENTRY, RULE } from '../support/bridge-builders.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene, type RuleSceneOptions } from '../support/rule-scene.ts';

const HOUR = 3_600_000;
const NAMES = Array.from({ length: 12 }, (_, index) => `n${index}`);

/** A cluster whose definition lacks these fields, and a bridge. */
async function lacking(fields: readonly string[], options: RuleSceneOptions = {}): Promise<RuleScene> {
  const prepare = (begun: RuleScene) => {
    begun.makeNamespaces('team-a');
    for (const field of fields) begun.cluster.dropped.add(field);
  };
  return await RuleScene.start({ prepare, ...options });
}

const told = ({ kept }: RuleScene, message: string) => kept.lines.filter((line) => line.message === message);

async function remove(scene: RuleScene, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await scene.create(name);
    await scene.delete(name);
  }
}

describe('a budget that the API server does not keep', () => {
  it('lets nothing go, and says why on the rule, on the objects and in the log (P5, P7)', async () => {
    const scene = await lacking(['budget']);
    await scene.apply({ budget: { limit: 3, window: '1h' } });
    expect(scene.said('Ready')).toBe('False StatusNotKept');
    expect(scene.condition('Ready')?.message).toContain('status.budget');
    expect(scene.condition('Ready')?.message).toContain('apply the definition of TeardownRule');
    expect(told(scene, 'writing the status of a rule: not stored')).toHaveLength(1);

    await remove(scene, NAMES);
    await scene.clock.advance(3 * HOUR);

    expect(scene.requested).toEqual([]);
    expect(scene.standing('n0')).toBe('Held BudgetNotKept');
    const record = scene.cluster.peek('n0')?.metadata.annotations?.[`status.finalizer-bridge.dev/${RULE}`];
    expect(record).toContain('does not keep status.budget');
    expect(scene.status()).toMatchObject({ pending: 12, held: 12 });
    expect(told(scene, 'writing the status of a rule: not stored')).toHaveLength(1);
  });

  it('is counted from the moment on that it is kept, by itself (P4)', async () => {
    const scene = await lacking(['budget']);
    await scene.apply({ budget: { limit: 3, window: '1h' } });
    await remove(scene, NAMES);
    await scene.clock.advance(120_000);
    scene.cluster.dropped.clear();
    await scene.clock.advance(30_000);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(new Set(scene.requested).size).toBe(3);
    expect(told(scene, 'writing the status of a rule: stored again')).toHaveLength(1);
  });

  it('forgets nothing of what was taken before the definition was edited, nor after it is mended (P5)', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ budget: { limit: 3, window: '1h' } });
    await remove(scene, NAMES.slice(0, 2));
    expect(scene.requested).toEqual(['n0', 'n1']);
    scene.cluster.dropped.add('budget');
    await remove(scene, NAMES.slice(2));
    await scene.clock.advance(60_000);
    expect(new Set(scene.requested).size).toBe(2);
    expect(scene.said('Ready')).toBe('False StatusNotKept');
    scene.cluster.dropped.clear();
    await scene.clock.advance(60_000);
    expect(new Set(scene.requested).size).toBe(3);
    expect(scene.status()).toMatchObject({ budget: { reservations: [{ size: 1 }, { size: 1 }, { size: 1 }] } });
  });

  it('holds up no rule without one, and nothing that a person approves', async () => {
    const scene = await lacking(['budget']);
    await scene.apply({ budget: { limit: 3, window: '1h' } });
    await scene.apply({}, 'free');
    expect(scene.said('Ready', 'free')).toBe('True Ready');
    await remove(scene, ['a']);
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual(['free']);
    scene.cluster.annotate('a', `approve.finalizer-bridge.dev/${RULE}`, 'uid-a');
    await settled();
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual(['free', RULE]);
  });

  it('is not taken for kept by a brake that has tokens in hand no more: it is asked for at most every few seconds', async () => {
    const bench = new BrakeBench(10);
    bench.cluster.dropped.add('budget');
    expect(await bench.brakes.take(bench.rule)).toMatchObject({ ok: false, until: bench.clock.now() + 15_000 });
    expect(await bench.granted(100)).toBe(0);
    expect(bench.cluster.count('patch')).toBe(1);
  });
});

describe('what else a later bridge goes by', () => {
  it('is missed on the rule where it is not kept: the generation that was accepted last', async () => {
    const scene = await lacking(['lastAccepted']);
    await scene.apply();
    expect(scene.said('Ready')).toBe('False StatusNotKept');
    expect(scene.condition('Ready')?.message).toContain('status.lastAccepted');
    await remove(scene, ['a']);
    expect(scene.requested).toEqual(['a']);
    scene.cluster.dropped.clear();
    await scene.clock.advance(30_000);
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('is missed where it is not kept: the namespaces. Entries go on, and no later bridge believes that there are none', async () => {
    const served = { namespaces: ['team-a'], leaving: [] };
    const scene = await lacking(['namespaces'], { served });
    await scene.apply();
    await scene.create('a');
    expect(scene.finalizers('a')).toEqual([ENTRY]);
    await scene.clock.advance(30_000);
    expect(scene.said('Ready')).toBe('False StatusNotKept');
    expect(scene.condition('Ready')?.message).toContain('status.namespaces');
    await scene.stop();

    const next = await RuleScene.start({ world: scene, served: { namespaces: ['team-b'], leaving: [] } });
    await next.deleteRule();
    await next.clock.advance(HOUR);

    expect(next.said('WithdrawalBlocked')).toBe('True NamespacesLeft');
    expect(next.finalizers('a')).toEqual([ENTRY]);
  });

  it.each(['pending', 'held', 'oldestPendingTime', 'heldObjects'])(
    'is not %s, which people read only',
    async (field) => {
      const scene = await lacking([field]);
      await scene.apply();
      await remove(scene, ['a']);
      await scene.clock.advance(60_000);
      expect(scene.said('Ready')).toBe('True Ready');
    },
  );
});

describe('a status', () => {
  it('is kept when all of it is stored, in whatever order, and whatever else is', () => {
    const written = { a: [{ b: 1, c: undefined }], d: 'e', f: null };
    expect(isKept(written, { f: null, d: 'e', more: true, a: [{ z: 0, b: 1 }] })).toBe(true);
  });

  it.each([
    ['a field', { d: 'e' }],
    ['a field of a member', { a: [{}], d: 'e' }],
    ['a member', { a: [], d: 'e' }],
    ['a list', { a: { 0: { b: 1 } }, d: 'e' }],
    ['a value', { a: [{ b: 2 }], d: 'e' }],
    ['all', undefined],
    ['all, but that it is there', null],
  ])('is not kept without %s', (_what, stored) => {
    expect(isKept({ a: [{ b: 1 }], d: 'e' }, stored)).toBe(false);
  });

  it('that was not written whole has lost only what was written', () => {
    expect(lostOf({ observedGeneration: 1, namespaces: undefined, pending: 2 }, {})).toEqual(['observedGeneration']);
    expect(lostOf({ budget: { reservations: [] }, lastAccepted: { spec: { a: 1 } } }, undefined)).toEqual([
      'lastAccepted',
      'budget',
    ]);
    expect(lostOf({ budget: { reservations: [] } }, { budget: {} })).toEqual(['budget']);
  });
});
