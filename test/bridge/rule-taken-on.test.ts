/*
 * What a rule says before its status was ever written: that a bridge has begun with it is to be seen on the rule itself before
 * anything gets its entry (P5, P9), so that a bridge which serves some namespaces only does not take it for new.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import type { Served } from '../../bridge/served.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, HANDLER, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const ONE: Served = { namespaces: ['team-a'], leaving: [] };

/** A bridge that serves the whole cluster and can write no status, with an object; it has ended. */
async function withoutStatus(): Promise<RuleScene> {
  const scene = await RuleScene.start({ prepare: (begun) => begun.makeNamespaces('team-a') });
  scene.cluster.before = ({ subresource }) => {
    if (subresource === 'status') throw new ApiError('writing a status', 503);
  };
  await scene.apply();
  await scene.create('maps', { namespace: 'team-b' });
  expect(scene.finalizers('maps')).toEqual([ENTRY]);
  expect(scene.rule()?.status).toBeUndefined();
  await scene.stop();
  scene.cluster.before = () => {};
  return scene;
}

describe('a rule that a bridge has begun with, and whose status was never written', () => {
  it('may have been in force anywhere: the next bridge, for some namespaces, is not ready with it (P5)', async () => {
    const scene = await RuleScene.start({ world: await withoutStatus(), served: ONE });
    await scene.clock.advance(20_000);
    expect(scene.status().namespaces).toEqual(['*', 'team-a']);
    expect(scene.said('Ready')).toBe('False NamespacesLeft');
    await scene.create('cats', { namespace: 'team-a' });
    expect(scene.finalizers('cats')).toEqual([ENTRY]);
  });

  it('is not let go by it: objects elsewhere would hang for good (P9, K33)', async () => {
    const world = await withoutStatus();
    world.cluster.delete(RULE, {}, TEARDOWN_RULES);
    const scene = await RuleScene.start({ world, served: ONE });
    await scene.clock.advance(300_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True NamespacesLeft');
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
  });

  it('is all the same to one that serves the whole cluster', async () => {
    const scene = await RuleScene.start({ world: await withoutStatus() });
    await scene.clock.advance(20_000);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.status().namespaces).toBeUndefined();
  });
});

describe('a rule that is new', () => {
  it.each([
    ['the whole cluster is', undefined],
    ['some namespaces are', ONE],
  ])('holds itself before anything gets its entry, where %s served', async (_, served) => {
    const prepare = (begun: RuleScene) => begun.makeNamespaces('team-a');
    const scene = await RuleScene.start(served === undefined ? { prepare } : { prepare, served });
    scene.cluster.create({ name: 'logs', namespace: 'team-a' });
    await scene.apply();
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    const patches = scene.cluster.calls.filter(
      ({ verb, subresource }) => verb === 'patch' && subresource === undefined,
    );
    expect(patches.map(({ name }) => name).slice(0, 2)).toEqual([RULE, 'logs']);
    expect(JSON.stringify(patches[0]?.operations)).toContain(WITHDRAWAL_FINALIZER);
  });

  it('was nowhere, also when it is not accepted at first', async () => {
    const prepare = (begun: RuleScene) => {
      begun.makeNamespaces('team-a');
      begun.handlers.clear();
    };
    const scene = await RuleScene.start({ served: ONE, prepare });
    await scene.apply();
    expect(scene.said('Ready')).toBe('False NoQueue');
    expect(scene.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
    expect(scene.status().namespaces).toEqual([]);
    scene.handlers.add(HANDLER);
    await scene.clock.advance(20_000);
    expect(scene.status().namespaces).toEqual(['team-a']);
    expect(scene.said('Ready')).toBe('True Ready');
  });
});

it('a rule that never was accepted and cannot be judged goes at once when it is deleted: nothing has its entry (P9)', async () => {
  const error = new ApiError('discovering storage.example.com/v1', 503);
  const prepare = ({ kinds }: RuleScene) => void kinds.fails.set('storage.example.com/v1/buckets', error);
  const scene = await RuleScene.start({ prepare });
  await scene.apply();
  await scene.clock.advance(60_000);
  expect(scene.said('Accepted')).toBe('Unknown NotJudged');
  await scene.deleteRule();
  expect(scene.rule()).toBeUndefined();
});

describe('a rule that was accepted before, and cannot be judged', () => {
  /** A bridge starts after another one where no question about the kind is answered, and a rule was changed meanwhile. */
  async function unanswered(change: (world: RuleScene) => void): Promise<RuleScene> {
    const world = await RuleScene.start();
    await world.apply();
    await world.stop();
    change(world);
    const error = new ApiError('discovering storage.example.com/v1', 503);
    const prepare = ({ kinds }: RuleScene) => void kinds.fails.set('storage.example.com/v1/buckets', error);
    return await RuleScene.start({ world, listed: [BUCKETS], prepare });
  }

  it('holds itself again before anything gets its entry, where somebody has taken its finalizer off (P9)', async () => {
    const scene = await unanswered(({ cluster }) =>
      cluster.change(
        RULE,
        ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }),
        TEARDOWN_RULES,
      ),
    );
    const before = scene.cluster.calls.length;
    await scene.create('logs');
    await scene.clock.advance(20_000);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
    const patches = scene.cluster.calls.slice(before).filter(({ verb }) => verb === 'patch');
    expect(patches.map(({ name }) => name).slice(0, 2)).toEqual([RULE, 'logs']);
  });

  it('gives its entry to nothing while it is being deleted (P9)', async () => {
    const scene = await unanswered(({ cluster }) => cluster.delete(RULE, {}, TEARDOWN_RULES));
    const patched = () => scene.cluster.calls.filter(({ verb, name }) => verb === 'patch' && name === 'logs');
    await scene.create('logs');
    await scene.clock.advance(120_000);
    expect(scene.book.named(RULE)).toMatchObject({ isWithdrawn: true });
    expect(patched()).toEqual([]);
  });
});
