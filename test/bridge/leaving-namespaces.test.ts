/*
 * A namespace that is served no more: what a rule's status keeps of it over a restart (P5), how loudly that is said (P7), that a
 * rule is not let go while objects there may carry its entry (P9, K33), and how a namespace is left in order.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { ApiError } from '../../bridge/ports.ts';
import type { Served } from '../../bridge/served.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { CommandLine } from '../support/command-line.ts';
import { RuleScene } from '../support/rule-scene.ts';

const BOTH: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const ONE: Served = { namespaces: ['team-a'], leaving: [] };
const LEAVING: Served = { namespaces: ['team-a'], leaving: ['team-b'] };

const bothThere = (begun: RuleScene) => begun.makeNamespaces('team-a', 'team-b');

/** A bridge that served this, with an object in each namespace, and has ended. */
async function served(before: Served | undefined): Promise<RuleScene> {
  const scene = await RuleScene.start({
    ...(before === undefined ? {} : { served: before }),
    prepare: bothThere,
  });
  await scene.apply();
  await scene.create('logs', { namespace: 'team-a' });
  await scene.create('maps', { namespace: 'team-b' });
  expect(scene.finalizers('maps')).toEqual([ENTRY]);
  await scene.stop();
  return scene;
}

/** The bridge after it, that serves that. */
async function then(world: RuleScene, after: Served | undefined): Promise<RuleScene> {
  const scene = await RuleScene.start({ world, ...(after === undefined ? {} : { served: after }) });
  await scene.clock.advance(20_000);
  return scene;
}

describe('a namespace that was taken off the list', () => {
  it('is named by every rule whose entries may be there, which is not ready; in the others it works', async () => {
    const scene = await then(await served(BOTH), ONE);
    expect([scene.said('Watching'), scene.said('Ready')]).toEqual(['False NamespacesLeft', 'False NamespacesLeft']);
    expect(scene.condition('Watching')?.message).toContain('objects in namespace team-b may still carry the entry');
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    await scene.create('cats', { namespace: 'team-a' });
    expect(scene.finalizers('cats')).toEqual([ENTRY]);
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('is what explain says of an object there, which hangs', async () => {
    const scene = await then(await served(BOTH), ONE);
    await scene.delete('maps');
    await scene.clock.advance(300_000);
    const { out } = await new CommandLine(scene).run('explain bucket/maps -n team-b');
    expect(out).toContain('NamespacesLeft: objects in namespace team-b may still carry the entry');
  });

  it('holds up the withdrawal of the rule, which would leave objects there that nothing ever frees (P9, K33)', async () => {
    const scene = await then(await served(BOTH), ONE);
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True NamespacesLeft');
    expect([scene.finalizers('logs'), scene.finalizers('maps')]).toEqual([[], [ENTRY]]);
    expect(scene.rule()).toBeDefined();
    await scene.stop();
    const again = await then(scene, LEAVING);
    await again.clock.advance(300_000);
    expect(again.finalizers('maps')).toEqual([]);
    expect(again.rule()).toBeUndefined();
  });

  it('is forgotten over no number of restarts (P5), and no more when it is served again', async () => {
    let scene = await then(await served(BOTH), ONE);
    await scene.stop();
    scene = await then(scene, ONE);
    expect(scene.said('Watching')).toBe('False NamespacesLeft');
    await scene.stop();
    scene = await then(scene, BOTH);
    expect([scene.said('Watching'), scene.said('Ready')]).toEqual(['True Watching', 'True Ready']);
  });

  it.each([
    ['is not accepted', (scene: RuleScene) => void scene.handlers.clear()],
    ['cannot be judged', ({ kinds }: RuleScene) => void kinds.fails.set(kindKey(BUCKETS), new ApiError('asking', 503))],
  ])(
    'is named as well by a rule that %s, whose last accepted generation goes on putting entries on (P5)',
    async (_, spoil) => {
      const before = await RuleScene.start({ served: ONE, prepare: bothThere });
      await before.apply();
      await before.stop();
      const scene = await RuleScene.start({ world: before, served: BOTH, prepare: spoil });
      await scene.clock.advance(30_000);
      await scene.create('maps', { namespace: 'team-b' });
      expect(scene.finalizers('maps')).toEqual([ENTRY]);
      expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    },
  );

  it('counts from before any entry is put on: the status names it first (P5)', async () => {
    const scene = await RuleScene.start({ served: BOTH, prepare: bothThere });
    await scene.apply();
    await scene.create('logs', { namespace: 'team-a' });
    const patches = scene.cluster.calls.filter(({ verb }) => verb === 'patch');
    const noted = patches.findIndex(({ operations }) =>
      JSON.stringify(operations).includes('"namespaces":["team-a","team-b"]'),
    );
    expect(noted).toBeGreaterThanOrEqual(0);
    expect(noted).toBeLessThan(patches.findIndex(({ name }) => name === 'logs'));
  });
});

describe('a namespace that is being left', () => {
  it('loses the entries of its live objects, gets no new ones, and is forgotten after two clean lists', async () => {
    const scene = await then(await served(BOTH), LEAVING);
    await scene.create('cats', { namespace: 'team-b' });
    expect([scene.finalizers('logs'), scene.finalizers('maps'), scene.finalizers('cats')]).toEqual([[ENTRY], [], []]);
    expect([scene.said('Watching'), scene.said('Ready')]).toEqual(['True Watching', 'True Ready']);
    expect(scene.condition('Watching')?.message).toContain('leaving team-b');
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    // One clean list is not enough: an entry may have come at birth a moment before.
    await scene.clock.advance(80_000);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    await scene.clock.advance(100_000);
    expect(scene.status().namespaces).toEqual(['team-a']);
    expect(scene.condition('Watching')?.message).toBe('the kind is being watched in namespaces team-a');
    await scene.stop();
    expect((await then(scene, ONE)).said('Ready')).toBe('True Ready');
  });

  it('has its deletions finished, and is not forgotten before', async () => {
    const scene = await then(await served(BOTH), LEAVING);
    await scene.create('pens', { namespace: 'team-b', finalizers: [ENTRY, 'example.com/other'] });
    scene.cluster.create({ name: 'late', namespace: 'team-b', finalizers: [ENTRY], spec: { bucket: 'late' } });
    await scene.delete('late');
    await scene.clock.advance(300_000);
    expect(scene.requested).toEqual(['late']);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    expect(scene.condition('Watching')?.message).toContain('leaving team-b (1 objects carry the entry)');
    await scene.answer('late');
    expect(scene.cluster.peek('late')).toBeUndefined();
    await scene.clock.advance(240_000);
    expect(scene.status().namespaces).toEqual(['team-a']);
    expect(scene.finalizers('pens')).toEqual(['example.com/other']);
  });

  it('is forgotten as well by a rule whose withdrawal waits for what is elsewhere (P10)', async () => {
    const scene = await then(await served(BOTH), LEAVING);
    await scene.delete('logs');
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True PendingObjects');
    expect(scene.status().namespaces).toEqual(['team-a']);
  });

  it('of which nothing may be listed any more is not taken for empty, unless it is not there', async () => {
    const world = await served(BOTH);
    world.cluster.refused.set(`${BUCKETS.group}/${BUCKETS.resource}@team-b`, 403);
    const scene = await then(world, LEAVING);
    await scene.clock.advance(300_000);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    scene.cluster.delete('team-b', {}, NAMESPACES);
    await scene.clock.advance(300_000);
    expect(scene.status().namespaces).toEqual(['team-a']);
  });
});

describe('a namespace that is being left while the kind cannot be listed there', () => {
  const KIND = `${BUCKETS.group}/${BUCKETS.resource}`;
  const OTHER = { ...BUCKETS, version: 'v2' };

  it('is not taken for empty where only another version of the kind is served: objects keep their entry (P9)', async () => {
    const world = await served(BOTH);
    world.kinds.served.delete(kindKey(BUCKETS));
    world.kinds.served.set(kindKey(OTHER), { kind: 'buckets', namespaced: true });
    for (const namespace of ['team-a', 'team-b']) world.cluster.refused.set(`${KIND}@${namespace}`, 404);
    const scene = await then(world, LEAVING);
    await scene.clock.advance(300_000);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    world.kinds.served.delete(kindKey(OTHER));
    await scene.clock.advance(300_000);
    expect(scene.status().namespaces).toEqual(['team-a']);
  });

  it('is not taken for empty where a list finds nobody who serves the kind, which discovery knows (P9)', async () => {
    const world = await served(BOTH);
    world.cluster.refused.set(`${KIND}@team-b`, 404);
    const scene = await then(world, LEAVING);
    await scene.clock.advance(300_000);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
  });
});

describe('a bridge that served the whole cluster and serves some namespaces now', () => {
  it('says of a rule that was in force that its entries may be anywhere, until somebody has seen to that', async () => {
    const scene = await then(await served(undefined), ONE);
    expect(scene.status().namespaces).toEqual(['*', 'team-a']);
    expect(scene.said('Ready')).toBe('False NamespacesLeft');
    expect(scene.condition('Watching')?.message).toContain('any namespace, as the whole cluster was served before');
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True NamespacesLeft');
  });

  it('says nothing of that kind of a rule that is new', async () => {
    const world = await served(undefined);
    const scene = await then(world, ONE);
    await scene.apply({}, 'newer');
    expect(scene.status('newer').namespaces).toEqual(['team-a']);
    expect(scene.said('Ready', 'newer')).toBe('True Ready');
  });

  it('sees all again when it serves the whole cluster again', async () => {
    const scene = await then(await served(BOTH), undefined);
    expect(scene.status(RULE).namespaces).toBeUndefined();
    expect(scene.said('Ready')).toBe('True Ready');
  });
});
