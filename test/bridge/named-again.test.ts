/*
 * A namespace that is served and is not there is not named in a rule's status, whatever is said of the rights in it: they are
 * believed for a while, and named anew it would hold the rule up for good once it is not served any more (P4, P9). The real bridge
 * and keeper over fakes; the same on a real API server in e2e/chart-namespace-deleted.
 */
import { describe, expect, it } from 'vitest';
import { Contests } from '../../bridge/contests.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import { noteNamespaces } from '../../bridge/noted-namespaces.ts';
import { ApiError, type Cluster } from '../../bridge/ports.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { bindRights, boundIn, endNamespace, finishNamespace } from '../support/bound-rights.ts';
import { BUCKETS, ENTRY, metaOf } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const ONE: Served = { namespaces: ['team-a'], leaving: [] };

/** A bridge that serves both, and is told to have its rights in team-b whether that is there or not. */
async function believing(): Promise<RuleScene> {
  const scene = await RuleScene.start({ served: TWO, prepare: (begun) => bindRights(begun, 'team-a', 'team-b') });
  scene.kinds.lacking = async () => [];
  return scene;
}

async function gone(scene: RuleScene): Promise<void> {
  await endNamespace(scene, 'team-b', ['maps']);
  await scene.clock.advance(60_000);
  if (scene.requested.includes('maps')) expect(await scene.answer('maps')).toBe(true);
  await scene.clock.advance(240_000);
  expect(boundIn(scene, 'team-b')).toBeUndefined();
  finishNamespace(scene, 'team-b');
  await scene.clock.advance(600_000);
}

describe('a namespace that was deleted while its rights are still believed', () => {
  it('is not named anew (P4): taken from the values, it holds up nothing', async () => {
    const scene = await believing();
    await scene.apply();
    await scene.create('maps', { namespace: 'team-b' });
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    await gone(scene);
    expect(scene.status().namespaces).toEqual(['team-a']);
    await scene.stop();
    const without = await RuleScene.start({ world: scene, served: ONE });
    await without.clock.advance(20_000);
    expect(without.said('Ready')).toBe('True Ready');
    await without.deleteRule();
    await without.clock.advance(300_000);
    expect(without.rule()).toBeUndefined();
  });

  it('is named again within moments when there is one of that name, before anything there gets its entry (P5)', async () => {
    const scene = await believing();
    await scene.apply();
    await gone(scene);
    bindRights(scene, 'team-b');
    await scene.create('maps', { namespace: 'team-b' });
    await scene.clock.advance(20_000);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
  });

  it('holds up no withdrawal while it is served on (P9)', async () => {
    const scene = await believing();
    await scene.apply();
    await scene.create('logs', { namespace: 'team-a' });
    await gone(scene);
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect([scene.rule(), scene.finalizers('logs')]).toEqual([undefined, []]);
  });

  it('is not named by a rule that cannot be judged either', async () => {
    const scene = await believing();
    await scene.apply();
    await gone(scene);
    await scene.stop();
    const failing = ({ kinds }: RuleScene) => void kinds.fails.set(kindKey(BUCKETS), new ApiError('asking', 503));
    const next = await RuleScene.start({ world: scene, served: TWO, prepare: failing });
    await next.clock.advance(120_000);
    expect(next.status().namespaces).toEqual(['team-a']);
  });
});

describe('a rule that cannot be judged, and of which no generation was ever accepted', () => {
  /** A bridge that serves some namespaces, or all, and gets no answer to a question about the kind. */
  async function unanswered(served: Served) {
    const prepare = (begun: RuleScene) => {
      begun.makeNamespaces('team-a', 'team-b');
      begun.kinds.fails.set(kindKey(BUCKETS), new ApiError('asking', 503));
    };
    const scene = await RuleScene.start({ served, prepare });
    await scene.apply();
    await scene.clock.advance(120_000);
    expect(scene.said('Ready')).toBe('Unknown NotJudged');
    return scene;
  }

  it('names no namespace before it comes into force: none that is left would ever be found empty (P9)', async () => {
    const scene = await unanswered(TWO);
    expect(scene.status().namespaces).toEqual([]);
    scene.kinds.fails.clear();
    await scene.clock.advance(120_000);
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
    await scene.create('maps', { namespace: 'team-b' });
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
  });

  it('says nothing of namespaces where the whole cluster is served', async () => {
    expect((await unanswered(EVERYWHERE)).status().namespaces).toBeUndefined();
  });
});

it('for namespaces that a rule is to name ten are asked for at once, however many are served (P8)', async () => {
  const all = Array.from({ length: 64 }, (_, at) => `team-${100 + at}`);
  let [under, most] = [0, 0];
  const objectOf = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: metaOf({ name }) });
  const get: Cluster['get'] = async ({ name }) => {
    under += 1;
    most = Math.max(most, under);
    await new Promise(setImmediate);
    under -= 1;
    return name === 'team-163' ? undefined : objectOf('Namespace', name);
  };
  const patch: Cluster['patch'] = async () => ({ kind: 'patched', meta: metaOf({}) });
  const contests = new Contests({ monotonic: () => 0 });
  const { status } = await noteNamespaces({ cluster: { get, patch }, contests }, objectOf('TeardownRule', 'team'), {
    ...{ served: { namespaces: all, leaving: [] }, emptied: [] },
  });
  expect([most, status]).toEqual([10, { namespaces: all.slice(0, -1) }]);
});
