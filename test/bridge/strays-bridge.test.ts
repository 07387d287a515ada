/*
 * Strays through the whole bridge and its keeper over fakes: found after a restart in kinds that no rule names, never made by
 * a rule that has only not been read yet, let go on a word, claimed again when their rule comes back.
 */
import { describe, expect, it } from 'vitest';
import { ApiError, type KindRef } from '../../bridge/ports.ts';
import { BUCKETS, counts, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene, type RuleSceneOptions } from '../support/rule-scene.ts';

const ENTRY = `finalizer-bridge.dev/${RULE}`;
const RELEASE = `release.finalizer-bridge.dev/${RULE}`;
const { group, resource } = BUCKETS;
const LISTED = { listed: [{ group, resource }] };
const MINUTE = 60_000;

const strays = ({ bridge }: RuleScene) =>
  Object.fromEntries(bridge.strays().map(({ rule, kind, count }) => [`${rule} ${kind.resource}`, count]));
const watched = ({ cluster }: RuleScene, kind: KindRef) =>
  cluster.calls.filter((call) => call.verb === 'watch' && call.kind?.resource === kind.resource).length;

/** A world that a bridge has left, whose rule was then taken away by force. */
async function orphaned(...names: readonly string[]): Promise<RuleScene> {
  const first = await RuleScene.start();
  await first.apply();
  for (const name of names) await first.create(name);
  await first.clock.advance(1_000);
  await first.stop();
  first.forceDelete();
  return first;
}

const restarted = async (world: RuleScene, options: RuleSceneOptions = LISTED) => {
  const scene = await RuleScene.start({ world, ...options });
  await scene.clock.advance(1_000);
  return scene;
};

it('a release for another uid on a live stray is answered, and takes nothing off (P7)', async () => {
  const scene = await restarted(await orphaned('logs'));
  scene.cluster.annotate('logs', RELEASE, 'uid-of-another');
  await scene.clock.advance(1_000);
  expect(scene.cluster.events.map(({ reason }) => reason)).toContain('WordNotUnderstood');
  expect(scene.finalizers('logs')).toEqual([ENTRY]);
});

describe('a kind that the configuration lists', () => {
  it('is watched though no rule names it: strays of rules that are gone are found after a restart (K20)', async () => {
    const scene = await restarted(await orphaned('logs', 'data'));
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 2 });
    expect(scene.bridge.isReady()).toBe(true);
    await scene.clock.advance(MINUTE);
    expect(scene.cluster.events.map(({ reason }) => reason)).toEqual(['NoRule']);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.cluster.peek('logs')?.metadata.annotations).toBeUndefined();
  });

  it('is not watched where it is not listed, and nothing is known then', async () => {
    const scene = await restarted(await orphaned('logs'), {});
    expect(strays(scene)).toEqual({});
    expect(watched(scene, BUCKETS)).toBe(1);
  });

  it('that may not be watched or is not served holds up neither the others nor readiness (P10)', async () => {
    const listed = [VOLUMES, { group: 'nobody.example.com', resource: 'nothings' }, { group, resource }];
    const scene = await restarted(await orphaned('logs'), {
      listed,
      prepare: ({ cluster }) => void cluster.refused.set(`${group}/volumes`, 403),
    });
    await scene.apply({}, 'another');
    expect(scene.bridge.isReady()).toBe(true);
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
    expect(await counts(scene.metrics.watching)).toEqual({
      'finalizer-bridge.dev/teardownrules': 1,
      [`${group}/buckets`]: 1,
      [`${group}/volumes`]: 0,
      'nobody.example.com/nothings': 0,
    });
    const warned = scene.kept.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warned).toContain('watching volumes: starting again');
    expect(warned).toContain('looking up a kind of the configuration: trying again');
    scene.cluster.refused.clear();
    await scene.clock.advance(MINUTE);
    expect(await counts(scene.metrics.watching)).toMatchObject({ [`${group}/volumes`]: 1 });
  });

  it('is watched once, in the version that a rule names, as long as one does', async () => {
    const scene = await RuleScene.start(LISTED);
    const before = watched(scene, BUCKETS);
    await scene.apply();
    expect(watched(scene, BUCKETS)).toBe(before + 1);
    const v2 = { ...BUCKETS, version: 'v2' };
    scene.kinds.served.set(`${group}/v2/${resource}`, { kind: 'Bucket', namespaced: true });
    await scene.stop();
    const next = await restarted(scene, { listed: [v2] });
    expect(next.cluster.calls.filter(({ verb, kind }) => verb === 'watch' && kind?.version === 'v2')).toEqual([]);
  });

  it('holds what is deleted in it without a rule, and says so on the object', async () => {
    const scene = await restarted(await orphaned('logs'));
    await scene.delete('logs');
    expect(scene.standing('logs')).toBe('Held NoRule');
    expect(strays(scene)).toEqual({});
    expect(scene.cluster.peek('logs')?.metadata.annotations?.[`status.finalizer-bridge.dev/${RULE}`]).toContain(
      'NoRule',
    );
  });
});

describe('a live stray', () => {
  it('loses its entry on a word for it, whenever that is said, and never otherwise (P9, K33)', async () => {
    const world = await orphaned('logs', 'data', 'more');
    world.cluster.annotate('logs', RELEASE, 'uid-logs');
    world.cluster.annotate('data', RELEASE, 'uid-of-the-original');
    const scene = await restarted(world);
    expect(scene.finalizers('logs')).toEqual([]);
    await scene.clock.advance(24 * 60 * MINUTE);
    expect([scene.finalizers('data'), scene.finalizers('more')]).toEqual([[ENTRY], [ENTRY]]);
    scene.cluster.annotate('data', RELEASE, 'uid-data');
    await settled();
    expect(scene.finalizers('data')).toEqual([]);
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
    expect(scene.requests).toEqual([]);
  });

  it('is the rule’s again when that comes back, and is taken down under it (K33, K28)', async () => {
    const scene = await restarted(await orphaned('logs'));
    await scene.apply({}, RULE, 'uid-of-the-new-one');
    expect(strays(scene)).toEqual({});
    scene.cluster.annotate('logs', RELEASE, 'uid-logs');
    await settled();
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    scene.cluster.annotate('logs', RELEASE, undefined);
    await scene.delete('logs');
    expect(await scene.answer('logs')).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('is found when its rule is taken away by force, while another one keeps the kind watched', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.apply({}, 'another');
    await scene.create('logs');
    await scene.clock.advance(1_000);
    scene.forceDelete();
    await scene.clock.advance(1_000);
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
    expect(scene.finalizers('logs')).toContain(ENTRY);
  });

  it('is also one whose rule is for another kind, and no more when a rule for its own has that name', async () => {
    const scene = await RuleScene.start(LISTED);
    await scene.apply({ match: VOLUMES });
    await scene.create('logs', { finalizers: [ENTRY] });
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
    await scene.create('disk', { kind: VOLUMES, finalizers: [ENTRY] });
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
  });

  it('is none of a rule that is there and was never accepted, nor of one that is being withdrawn', async () => {
    const scene = await RuleScene.start(LISTED);
    await scene.create('logs', { finalizers: [ENTRY] });
    expect(strays(scene)).toEqual({ [`${RULE} buckets`]: 1 });
    await scene.apply({ handler: 'nobody' });
    expect(strays(scene)).toEqual({});
    await scene.apply({ match: VOLUMES }, 'leaving');
    await scene.create('disk', { kind: VOLUMES, finalizers: ['finalizer-bridge.dev/leaving'] });
    await scene.delete('leaving', { group: 'finalizer-bridge.dev', version: 'v1alpha1', resource: 'teardownrules' });
    await scene.clock.advance(30_000);
    expect(strays(scene)).toEqual({});
  });
});

describe('a rule that has not been read yet', () => {
  it('keeps strays from being counted for as long, and no longer', async () => {
    const first = await RuleScene.start();
    await first.apply();
    await first.apply({ match: VOLUMES }, 'another');
    await first.create('logs', { finalizers: [ENTRY, 'finalizer-bridge.dev/ghost'] });
    await first.stop();
    const unread = ({ cluster }: RuleScene) => {
      cluster.before = ({ verb, name }) => {
        if (verb === 'get' && name === 'another') throw new Error('the API server is busy');
      };
    };
    const second = await RuleScene.start({ world: first, prepare: unread });
    expect([second.bridge.isReady(), strays(second)]).toEqual([false, {}]);
    second.cluster.before = () => {};
    await second.clock.advance(MINUTE);
    expect([second.bridge.isReady(), strays(second)]).toEqual([true, { 'ghost buckets': 1 }]);
  });

  it('makes no strays of its objects, nor is what is deleted held for want of it (K33)', async () => {
    const first = await RuleScene.start();
    await first.apply();
    await first.apply({}, 'another');
    for (const name of ['logs', 'data']) await first.create(name);
    await first.clock.advance(1_000);
    await first.stop();
    first.cluster.delete('data');
    const fails = new Error('the API server is busy');
    const watchedBefore = watched(first, BUCKETS);
    const second = await RuleScene.start({
      world: first,
      ...LISTED,
      prepare: ({ cluster }) => {
        cluster.before = ({ verb, name }) => {
          if (verb === 'get' && name === 'another') throw fails;
        };
      },
    });
    // The one rule is in force and its kind listed; the other one cannot be read.
    expect(second.book.rules.map(({ name }) => name)).toEqual([RULE]);
    await second.clock.advance(100);
    expect(second.keeper.isReady()).toBe(false);
    expect(watched(second, BUCKETS)).toBeGreaterThan(watchedBefore);
    expect(strays(second)).toEqual({});
    const said = () => second.cluster.peek('data')?.metadata.annotations ?? {};
    expect(said()).not.toHaveProperty('status.finalizer-bridge.dev/another');
    second.cluster.before = () => {};
    await second.clock.advance(2 * MINUTE);
    expect(second.book.rules).toHaveLength(2);
    expect(strays(second)).toEqual({});
    expect(second.standing('data', 'another')).toBe('Pending Requested');
    expect(second.cluster.events.filter(({ reason }) => reason === 'NoRule' || reason === 'TeardownHeld')).toEqual([]);
  });
});

describe('a claim that the API server refuses', () => {
  it('is not made for another rule of that name that comes for another kind (P10)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.apply({ match: { ...VOLUMES } }, 'volumes-too');
    scene.cluster.before = ({ verb, name }) => {
      if (verb === 'patch' && name === 'logs') throw new ApiError('patching', 403);
    };
    await scene.create('logs');
    await scene.clock.advance(MINUTE);
    scene.forceDelete();
    await scene.clock.advance(1_000);
    await scene.apply({ match: { ...VOLUMES } }, RULE, 'uid-new');
    scene.cluster.before = () => {};
    await scene.clock.advance(20 * MINUTE);
    expect(scene.finalizers('logs') ?? []).toEqual([]);
    await scene.stop();
  });
});
