/*
 * The rights in a namespace are kept while rules may have entries there, whatever deletes them first, and are let go when none
 * has (P4, P9); what is said of that (P7). The real bridge and keeper over fakes, under rights that go with the RoleBinding;
 * the same on a real API server in e2e/chart-namespace-deleted.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { bindingIn, RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import type { Served } from '../../bridge/served.ts';
import { bindRights, boundIn, endNamespace, finishNamespace, unbind } from '../support/bound-rights.ts';
import { ENTRY, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const ONE: Served = { namespaces: ['team-a'], leaving: [] };
const LEAVING: Served = { namespaces: ['team-a'], leaving: ['team-b'] };

/** A bridge that serves both, and a rule with an object in each; unless told, with the label on the rule. */
async function serving(served = TWO): Promise<RuleScene> {
  const scene = await RuleScene.start({ served, prepare: (begun) => bindRights(begun, 'team-a', 'team-b') });
  await scene.apply();
  await scene.create('logs', { namespace: 'team-a' });
  await scene.create('maps', { namespace: 'team-b' });
  await scene.labelled();
  return scene;
}

function kept(scene: RuleScene, namespace = 'team-b'): readonly string[] | 'gone' {
  const binding = boundIn(scene, namespace);
  return binding === undefined ? 'gone' : (binding.metadata.finalizers ?? []);
}

const KEPT = [RIGHTS_FINALIZER];

describe('the rights in a namespace', () => {
  it('are kept from before the first entry there, and of nothing else is the binding changed', async () => {
    const scene = await serving();
    expect([kept(scene, 'team-a'), kept(scene)]).toEqual([KEPT, KEPT]);
    const patches = scene.cluster.calls.filter(({ verb }) => verb === 'patch');
    const at = (name: string) => patches.findIndex((call) => call.name === name);
    expect(at(RIGHTS_BINDING.name)).toBeLessThan(at('logs'));
    const ofBinding = patches.filter(({ name }) => name === RIGHTS_BINDING.name);
    expect(ofBinding.map(({ operations }) => operations?.filter(({ op }) => op !== 'test'))).toEqual(
      Array(2).fill([{ op: 'add', path: '/metadata/finalizers', value: KEPT }]),
    );
  });

  it('are not kept where no rule may have an entry', async () => {
    const scene = await RuleScene.start({ served: TWO, prepare: (begun) => bindRights(begun, 'team-a', 'team-b') });
    await scene.clock.advance(120_000);
    expect(kept(scene)).toEqual([]);
  });

  it('outlast the deletion of the namespace until what is held there is done, and the others stay protected (P4, P10)', async () => {
    const scene = await serving();
    await endNamespace(scene, 'team-b', ['maps']);
    await scene.clock.advance(300_000);
    expect(scene.requested).toEqual(['maps']);
    expect(kept(scene)).toEqual(KEPT);
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['True Permitted', 'True Ready']);
    expect(scene.condition('Watching')?.message).toContain('; being deleted: team-b (1 objects are not done)');
    expect(scene.rule()?.metadata.labels).toBeDefined();

    expect(await scene.answer('maps')).toBe(true);
    expect(scene.cluster.peek('maps')).toBeUndefined();
    await scene.clock.advance(240_000);
    expect(boundIn(scene, 'team-b')).toBeUndefined();
    expect(scene.status().namespaces).toEqual(['team-a']);
    expect(scene.rule()?.metadata.labels).toBeDefined();

    // Something of somebody else's may keep the namespace for long.
    await scene.clock.advance(120_000);
    expect(scene.said('Ready')).toBe('False NamespaceTerminating');
    finishNamespace(scene, 'team-b');
    await scene.clock.advance(120_000);
    expect(scene.said('Ready')).toBe('False NamespaceMissing');
    expect(scene.status().namespaces).toEqual(['team-a']);
    await scene.stop();
    const without = await RuleScene.start({ world: scene, served: ONE });
    await without.clock.advance(20_000);
    expect(without.said('Ready')).toBe('True Ready');
  });

  it('outlast it while the bridge is down, and are let go by the one that comes back (P5)', async () => {
    const scene = await serving();
    await scene.stop();
    await endNamespace(scene, 'team-b', ['maps']);
    await scene.clock.advance(3_600_000);
    const back = await RuleScene.start({ world: scene, served: TWO });
    await back.clock.advance(60_000);
    expect(await back.answer('maps')).toBe(true);
    await back.clock.advance(300_000);
    expect(boundIn(back, 'team-b')).toBeUndefined();
    expect(back.said('Permitted')).toBe('False NamespaceTerminating');
  });

  it('wait for a live object: it is claimed, and taken down like any other when it is deleted (P1)', async () => {
    const scene = await serving();
    await endNamespace(scene, 'team-b', []);
    await scene.clock.advance(400_000);
    expect(kept(scene)).toEqual(KEPT);
    scene.cluster.create({ name: 'late', namespace: 'team-b', spec: { bucket: 'late' } });
    await scene.clock.advance(1_000);
    expect(scene.finalizers('late')).toEqual([ENTRY]);
    for (const name of ['maps', 'late']) await scene.delete(name);
    await scene.clock.advance(2_000);
    for (const name of ['maps', 'late']) expect(await scene.answer(name)).toBe(true);
    await scene.clock.advance(300_000);
    expect(boundIn(scene, 'team-b')).toBeUndefined();
  });

  it('stay in force when somebody deletes the binding, which the rule says (P7)', async () => {
    const scene = await serving();
    unbind(scene, 'team-b');
    await scene.clock.advance(90_000);
    expect(kept(scene)).toEqual(KEPT);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.condition('Permitted')?.message).toContain(
      'in namespace team-b the RoleBinding finalizer-bridge was deleted, and stays until no rule needs it',
    );
    await scene.delete('maps');
    await scene.clock.advance(1_000);
    expect(await scene.answer('maps')).toBe(true);
    expect(kept(scene)).toEqual(KEPT);
  });

  it('are kept again when somebody has taken the finalizer off a binding that is there', async () => {
    const scene = await serving();
    const bare = { ...bindingIn('team-b') };
    scene.cluster.change(
      RIGHTS_BINDING.name,
      ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: ['example.com/other'] } }),
      bare,
    );
    await scene.clock.advance(90_000);
    expect(kept(scene)).toEqual(['example.com/other', RIGHTS_FINALIZER]);
  });

  it('are kept when the namespace is made again and they are given again', async () => {
    const scene = await serving();
    await endNamespace(scene, 'team-b', ['maps']);
    await scene.clock.advance(60_000);
    await scene.answer('maps');
    await scene.clock.advance(300_000);
    finishNamespace(scene, 'team-b');
    await scene.clock.advance(60_000);
    scene.cluster.create({ name: 'team-b', uid: 'again', kind: NAMESPACES, namespace: undefined });
    scene.cluster.create({ name: RIGHTS_BINDING.name, namespace: 'team-b', uid: 'anew', kind: RIGHTS_BINDING });
    // What the open watch shows gets no entry before the rule's status names the namespace again (P5).
    await scene.create('anew', { namespace: 'team-b' });
    expect([scene.status().namespaces, scene.finalizers('anew')]).toEqual([['team-a'], []]);
    await scene.clock.advance(120_000);
    expect(kept(scene)).toEqual(KEPT);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    expect(scene.finalizers('anew')).toEqual([ENTRY]);
    expect(scene.said('Ready')).toBe('True Ready');
  });
});

describe('the rights in a namespace that is left', () => {
  it('stay while nobody looks there, as after a rollback that deletes the binding, and go once it was left in order', async () => {
    const before = await serving();
    await before.stop();
    unbind(before, 'team-b');
    const rolledBack = await RuleScene.start({ world: before, served: ONE });
    await rolledBack.clock.advance(300_000);
    expect(rolledBack.said('Ready')).toBe('False NamespacesLeft');
    expect(kept(rolledBack)).toEqual(KEPT);
    await rolledBack.stop();
    const scene = await RuleScene.start({ world: rolledBack, served: LEAVING });
    await scene.clock.advance(400_000);
    expect([scene.status().namespaces, scene.finalizers('maps'), kept(scene)]).toEqual([['team-a'], [], 'gone']);
    await scene.stop();
    const after = await RuleScene.start({ world: scene, served: ONE });
    await after.clock.advance(20_000);
    expect(after.said('Ready')).toBe('True Ready');
  });

  it('are let go before the status of the last rule names it no more, so that the binding can be deleted then', async () => {
    const before = await serving();
    await before.apply({}, 'younger');
    await before.stop();
    const scene = await RuleScene.start({ world: before, served: LEAVING });
    const seen = new Set<string>();
    const { before: call } = scene.cluster;
    scene.cluster.before = (one) => {
      call(one);
      const isNamed = [RULE, 'younger'].some((name) => scene.status(name).namespaces?.includes('team-b'));
      seen.add(`${kept(scene).includes(RIGHTS_FINALIZER) ? 'kept' : 'not kept'}, ${isNamed ? 'named' : 'not named'}`);
    };
    await scene.clock.advance(400_000);
    expect(scene.status('younger').namespaces).toEqual(['team-a']);
    expect(boundIn(scene, 'team-b')).toMatchObject({ metadata: { name: expect.any(String) } });
    expect(boundIn(scene, 'team-b')?.metadata.finalizers).toBeUndefined();
    expect(seen).toEqual(new Set(['kept, named', 'not kept, named', 'not kept, not named']));
    unbind(scene, 'team-b');
    expect(boundIn(scene, 'team-b')).toBeUndefined();
    expect(kept(scene, 'team-a')).toEqual(KEPT);
  });

  it('are let go before the last rule is, and not before another is', async () => {
    const scene = await serving();
    await scene.apply({}, 'younger');
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect(scene.rule()).toBeUndefined();
    expect(kept(scene)).toEqual(KEPT);
    await scene.deleteRule('younger');
    await scene.clock.advance(300_000);
    expect(scene.rule('younger')).toBeUndefined();
    expect(['team-a', 'team-b'].map((name) => kept(scene, name))).toEqual([[], []]);
  });

  it('are let go when nobody is left to answer for them', async () => {
    const scene = await serving();
    scene.forceDelete();
    await scene.clock.advance(120_000);
    expect(['team-a', 'team-b'].map((name) => kept(scene, name))).toEqual([[], []]);
  });

  it('hold up no namespace that is being deleted while a rule is withdrawn that waits elsewhere (P10)', async () => {
    const scene = await serving();
    await scene.delete('logs');
    await scene.deleteRule();
    await endNamespace(scene, 'team-b', ['maps']);
    await scene.clock.advance(60_000);
    expect(await scene.answer('maps')).toBe(true);
    await scene.clock.advance(400_000);
    expect(boundIn(scene, 'team-b')).toBeUndefined();
    expect(scene.said('WithdrawalBlocked')).toBe('True PendingObjects');
    expect(await scene.answer('logs')).toBe(true);
    await scene.clock.advance(300_000);
    // Nobody may list anything in team-b any more, nor can anything there carry an entry.
    expect(scene.rule()).toBeUndefined();
  });
});

describe('a bridge whose rights are given by other names', () => {
  it('works, and asks for the binding no more often than once a minute', async () => {
    const prepare = (begun: RuleScene) => begun.makeNamespaces('team-a', 'team-b');
    const scene = await RuleScene.start({ served: TWO, prepare });
    await scene.apply();
    await scene.create('logs');
    await scene.clock.advance(600_000);
    const asked = scene.cluster.calls.filter(({ name }) => name === RIGHTS_BINDING.name);
    expect(new Set(asked.map(({ verb }) => verb))).toEqual(new Set(['get']));
    expect(asked.length).toBeLessThanOrEqual(2 * 12);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
  });
});
