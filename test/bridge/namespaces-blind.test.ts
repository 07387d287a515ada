/*
 * Rules that select by namespace and let go what they no longer select, while namespaces cannot be watched: their labels may have
 * come to match since, and the admission policy, which reads the namespace itself, goes by those. The real bridge and keeper over
 * fakes; the rest is in namespaces.test.ts.
 */
import { expect, it } from 'vitest';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { ApiError } from '../../bridge/ports.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { BUCKETS, ENTRY } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const SOME: Served = { namespaces: ['team-a', 'team-b', 'team-c'], leaving: [] };

function relabel({ cluster }: RuleScene, name: string, tier: string): void {
  const edit = ({ metadata, ...rest }: Parameters<Parameters<typeof cluster.change>[1]>[0]) => ({
    ...rest,
    metadata: { ...metadata, labels: { tier } },
  });
  cluster.change(name, edit, NAMESPACES);
}

/** A rule for production, two namespaces that are of it and one that is not, and a bridge that has seen them. */
async function seen(served: Served): Promise<RuleScene> {
  const prepare = ({ cluster }: RuleScene) => {
    for (const [name, tier] of [
      ['team-a', 'prod'],
      ['team-b', 'test'],
      ['team-c', 'test'],
    ] as const)
      cluster.create({ name, kind: NAMESPACES, namespace: undefined, labels: { tier } });
  };
  const scene = await RuleScene.start({ served, prepare });
  const namespaceSelector = { matchLabels: { tier: 'prod' } };
  await scene.apply({ match: { ...BUCKETS, namespaceSelector }, unmatched: 'Release' });
  await scene.clock.advance(20_000);
  return scene;
}

/** From now on no watch of namespaces, or of this one, can be opened. */
async function blind(scene: RuleScene, only?: string): Promise<void> {
  scene.cluster.before = ({ verb, kind }) => {
    const isNamespaces = verb === 'watch' && kind?.resource === NAMESPACES.resource;
    if (isNamespaces && (only === undefined || kind?.name === only)) throw new ApiError('watching', 503);
  };
  scene.cluster.endWatches();
  await scene.clock.advance(120_000);
}

it.each([
  ['everywhere', EVERYWHERE],
  ['in some namespaces', SOME],
])('P1 an entry with which an object was born stays on meanwhile, %s', async (_where, served) => {
  const scene = await seen(served);
  await blind(scene);
  relabel(scene, 'team-b', 'prod');
  await scene.create('logs', { namespace: 'team-b', finalizers: [ENTRY] });
  await scene.clock.advance(1_000);
  expect(scene.finalizers('logs')).toEqual([ENTRY]);
  await scene.delete('logs');
  await scene.clock.advance(1_000);
  expect(scene.requested).toEqual(['logs']);
  await scene.stop();
});

it('what is selected gets its entry meanwhile, as ever', async () => {
  const scene = await seen(EVERYWHERE);
  await blind(scene);
  await scene.create('logs', { namespace: 'team-a' });
  await scene.create('maps', { namespace: 'team-b' });
  expect(['logs', 'maps'].map((name) => scene.finalizers(name))).toEqual([[ENTRY], []]);
  await scene.stop();
});

it('what is not selected is let go once they are watched again, though no label has changed', async () => {
  const scene = await seen(EVERYWHERE);
  await blind(scene);
  await scene.create('logs', { namespace: 'team-b', finalizers: [ENTRY] });
  await scene.clock.advance(1_000);
  expect(scene.finalizers('logs')).toEqual([ENTRY]);
  scene.cluster.before = () => {};
  await scene.clock.advance(60_000);
  expect(scene.finalizers('logs')).toEqual([]);
  await scene.stop();
});

it('P10 one namespace that cannot be watched keeps nothing on in the others', async () => {
  const scene = await seen(SOME);
  await blind(scene, 'team-b');
  await scene.create('logs', { namespace: 'team-b', finalizers: [ENTRY] });
  await scene.create('maps', { namespace: 'team-c', finalizers: [ENTRY] });
  await scene.clock.advance(1_000);
  expect(['logs', 'maps'].map((name) => scene.finalizers(name))).toEqual([[ENTRY], []]);
  await scene.stop();
});
