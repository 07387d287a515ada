/*
 * A bridge that serves some namespaces only: what it sees, asks for and touches is in them, and a rule that cannot work so says
 * why (P7). The real bridge and keeper over fakes; what becomes of a namespace without rights is in namespace-rights.test.ts, of
 * one that is served no more in leaving-namespaces.test.ts, the same on a real API server in e2e/chart-namespaces.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import type { KindRef } from '../../bridge/ports.ts';
import { RECHECK_MS } from '../../bridge/rule-enforcing.ts';
import { type Served, watchedKey } from '../../bridge/served.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { RuleScene } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };

function withNamespaces({ cluster }: RuleScene, ...names: readonly string[]): void {
  for (const name of names) cluster.create({ name, kind: NAMESPACES, namespace: undefined, labels: { of: name } });
}

/** The lists and watches that were asked for, apart from rules. */
function asked({ cluster }: RuleScene): ReadonlySet<string> {
  const kinds = cluster.calls.flatMap(({ verb, kind }) => (verb === 'list' || verb === 'watch' ? (kind ?? []) : []));
  return new Set(kinds.filter(({ resource }) => resource !== 'teardownrules').map(watchedKey));
}

const inNamespace = (namespace: string, kind: KindRef = BUCKETS) => watchedKey({ ...kind, namespace });

describe('a bridge that serves two namespaces', () => {
  it('asks for nothing outside of them, and does not touch what is there', async () => {
    const scene = await RuleScene.start({ served: TWO, prepare: (begun) => withNamespaces(begun, 'team-a', 'team-b') });
    await scene.apply();
    for (const [name, namespace] of [
      ['logs', 'team-a'],
      ['maps', 'team-b'],
      ['cats', 'team-c'],
    ] as const) {
      await scene.create(name, { namespace });
    }
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    expect(scene.finalizers('cats')).toEqual([]);
    expect(asked(scene)).toEqual(new Set([inNamespace('team-a'), inNamespace('team-b')]));
    expect(scene.cluster.calls.filter(({ name }) => name === 'cats')).toEqual([]);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.condition('Watching')?.message).toBe('the kind is being watched in namespaces team-a, team-b');
    expect(scene.status().namespaces).toEqual(['team-a', 'team-b']);
  });

  it('takes a deletion in each of them to its end', async () => {
    const scene = await RuleScene.start({ served: TWO, prepare: (begun) => withNamespaces(begun, 'team-a', 'team-b') });
    await scene.apply();
    for (const [name, namespace] of [
      ['logs', 'team-a'],
      ['maps', 'team-b'],
    ] as const) {
      await scene.create(name, { namespace });
      await scene.delete(name);
    }
    await scene.clock.advance(1_000);
    expect(scene.requested).toEqual(['logs', 'maps']);
    for (const name of ['logs', 'maps']) expect(await scene.answer(name)).toBe(true);
    expect(['logs', 'maps'].map((name) => scene.cluster.peek(name))).toEqual([undefined, undefined]);
    expect(scene.bridge.pendings()).toEqual([]);
  });

  it('takes no list of one namespace for proof that what is pending in the other is gone', async () => {
    const scene = await RuleScene.start({ served: TWO, prepare: (begun) => withNamespaces(begun, 'team-a', 'team-b') });
    await scene.apply();
    await scene.create('maps', { namespace: 'team-b' });
    await scene.delete('maps');
    await scene.clock.advance(1_000);
    const reads = () => scene.cluster.calls.filter(({ verb, name }) => verb === 'get' && name === 'maps').length;
    const before = reads();
    // Past a second list of each, which the watches make by themselves.
    await scene.clock.advance(45 * 60_000);
    expect(
      scene.cluster.calls.filter(({ verb, kind }) => verb === 'watch' && kind?.namespace === 'team-a').length,
    ).toBeGreaterThan(1);
    expect(scene.bridge.pendings().map(({ doubted }) => doubted)).toEqual([false]);
    expect(reads() - before).toBeLessThanOrEqual(1);
  });

  it('finds strays in them, one telling per namespace, and nowhere else', async () => {
    const scene = await RuleScene.start({
      ...{ served: TWO, listed: [BUCKETS] },
      prepare: (begun) => {
        withNamespaces(begun, 'team-a', 'team-b');
        for (const namespace of ['team-a', 'team-b', 'team-c']) {
          begun.cluster.create({ name: `stray-${namespace}`, namespace, finalizers: [ENTRY] });
        }
      },
    });
    await scene.clock.advance(60_000);
    expect(scene.bridge.strays().map(({ kind: { namespace }, count }) => [namespace, count])).toEqual([
      ['team-a', 1],
      ['team-b', 1],
    ]);
  });

  it('knows the labels of those namespaces by their names, for rules that select by them', async () => {
    const scene = await RuleScene.start({
      served: TWO,
      prepare: (begun) => withNamespaces(begun, 'team-a', 'team-b', 'team-c'),
    });
    await scene.apply({ match: { ...BUCKETS, namespaceSelector: { matchLabels: { of: 'team-b' } } } });
    await scene.create('logs', { namespace: 'team-a' });
    await scene.create('maps', { namespace: 'team-b' });
    expect([scene.finalizers('logs'), scene.finalizers('maps')]).toEqual([[], [ENTRY]]);
    const names = ['team-a', 'team-b'].map((name) => watchedKey({ ...NAMESPACES, name }));
    expect([...asked(scene)].filter((key) => key.includes('namespaces'))).toEqual(names);
    expect(scene.said('Ready')).toBe('True Ready');
  });

  it('says which labels it may not read', async () => {
    const scene = await RuleScene.start({ served: TWO, prepare: (begun) => withNamespaces(begun, 'team-a', 'team-b') });
    scene.kinds.lacks.set(watchedKey({ ...NAMESPACES, name: 'team-b' }), ['list', 'watch']);
    await scene.apply({ match: { ...BUCKETS, namespaceSelector: {} } });
    expect(scene.condition('Permitted')?.message).toBe('may not list, watch namespaces team-b');
  });
});

describe('a rule for a kind that is in no namespace', () => {
  async function scoped(served?: Served): Promise<RuleScene> {
    const scene = await RuleScene.start({
      ...(served === undefined ? {} : { served }),
      prepare: (begun) => {
        withNamespaces(begun, 'team-a', 'team-b');
        begun.kinds.served.set(`${VOLUMES.group}/v1/volumes`, { kind: 'Volume', namespaced: false });
        for (const namespace of ['team-a', 'team-b'])
          begun.cluster.refused.set(`${VOLUMES.group}/volumes@${namespace}`, 404);
      },
    });
    await scene.apply({ match: VOLUMES });
    await scene.create('disk', { kind: VOLUMES, namespace: undefined });
    await scene.labelled();
    return scene;
  }

  it('says that this bridge can see no object of it, puts no entry on, and gets no label (P7)', async () => {
    const scene = await scoped(TWO);
    expect([scene.said('Accepted'), scene.said('Permitted')]).toEqual(['True Accepted', 'False ClusterScoped']);
    expect(scene.said('Ready')).toBe('False ClusterScoped');
    expect(scene.finalizers('disk', VOLUMES)).toEqual([]);
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    expect(scene.bridge.whyNotReady()).toEqual([]);
    await scene.deleteRule();
    await scene.clock.advance(150_000);
    expect(scene.rule()).toBeUndefined();
  });

  it('names no namespace for good that it was noted with while nobody served the kind (P9)', async () => {
    const scene = await scoped(TWO);
    const key = kindKey(VOLUMES);
    scene.kinds.served.delete(key);
    await scene.clock.advance(RECHECK_MS);
    expect([scene.said('Accepted'), scene.status().namespaces]).toEqual([
      'False UnknownResource',
      ['team-a', 'team-b'],
    ]);
    scene.kinds.served.set(key, { kind: 'Volume', namespaced: false });
    await scene.clock.advance(30_000);
    expect([scene.said('Permitted'), scene.status().namespaces]).toEqual(['False ClusterScoped', []]);
  });

  it('works where the whole cluster is served', async () => {
    const scene = await scoped();
    expect(scene.said('Permitted')).toBe('True Permitted');
    expect(scene.finalizers('disk', VOLUMES)).toEqual([ENTRY]);
    expect(scene.status(RULE).namespaces).toBeUndefined();
  });
});
