/*
 * A bridge that serves some namespaces only: what it sees, asks for and touches is in them, one that is refused or gone stops
 * no other (P10), and a rule that cannot work so says why (P7). The real bridge and keeper over fakes; what becomes of a
 * namespace that is served no more is in leaving-namespaces.test.ts, the same on a real API server in e2e/chart-namespaces.
 */
import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import type { KindRef } from '../../bridge/ports.ts';
import { type Served, watchedKey } from '../../bridge/served.ts';
import { BUCKETS, counts, ENTRY, RULE } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { RuleScene } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const GAUGE = `${BUCKETS.group}/${BUCKETS.resource}`;

function withNamespaces({ cluster }: RuleScene, ...names: readonly string[]): void {
  for (const name of names) cluster.create({ name, kind: NAMESPACES, namespace: undefined, labels: { of: name } });
}

/** The lists and watches that were asked for, apart from rules. */
function asked({ cluster }: RuleScene): ReadonlySet<string> {
  const kinds = cluster.calls.flatMap(({ verb, kind }) => (verb === 'list' || verb === 'watch' ? (kind ?? []) : []));
  return new Set(kinds.filter(({ resource }) => resource !== 'teardownrules').map(watchedKey));
}

const inNamespace = (namespace: string, kind: KindRef = BUCKETS) => watchedKey({ ...kind, namespace });

/** A bridge in whose API server nothing of team-b may be listed or watched, as without a Role there. */
async function withoutRightsInB(options: { readonly isThere: boolean }): Promise<RuleScene> {
  const scene = await RuleScene.start({
    served: TWO,
    prepare: (begun) => {
      withNamespaces(begun, 'team-a', ...(options.isThere ? ['team-b'] : []));
      begun.cluster.refused.set(`${BUCKETS.group}/${BUCKETS.resource}@team-b`, 403);
      begun.kinds.lacks.set(inNamespace('team-b'), ['get', 'list', 'watch', 'patch']);
    },
  });
  await scene.apply();
  return scene;
}

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
    expect(scene.finalizers('cats')).toBeUndefined();
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
    expect([scene.finalizers('logs'), scene.finalizers('maps')]).toEqual([undefined, [ENTRY]]);
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

describe('a namespace without rights', () => {
  it('stops no other (P10), and is named in the conditions of the rule (P7)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.create('logs');
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.said('Permitted')).toBe('False MissingVerbs');
    expect(scene.condition('Permitted')?.message).toBe('may not get, list, watch, patch in namespace team-b');
    expect(scene.condition('Watching')?.message).toBe('the kind is not being watched in namespace team-b');
    expect(await counts(scene.metrics.watching)).toMatchObject({ [GAUGE]: 0 });
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('keeps entries from coming at birth anywhere: there nobody could take them off again', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.labelled();
    expect(scene.rule()?.metadata.labels).toBeUndefined();
  });

  it('has the rights back, and the rule works in all of it, without a restart', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    scene.cluster.refused.clear();
    scene.kinds.lacks.clear();
    await scene.clock.advance(60_000);
    await scene.create('maps', { namespace: 'team-b' });
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['True Permitted', 'True Ready']);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    expect(await counts(scene.metrics.watching)).toMatchObject({ [GAUGE]: 1 });
  });

  it('that is not there at all is told as that, and entries come at birth in the others', async () => {
    const scene = await withoutRightsInB({ isThere: false });
    await scene.labelled();
    expect(scene.said('Permitted')).toBe('False NamespaceMissing');
    expect(scene.condition('Permitted')?.message).toContain('namespace team-b is not there');
    expect(scene.rule()?.metadata.labels).toBeDefined();
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('holds up no withdrawal when it is not there, and holds it up while it is', async () => {
    const gone = await withoutRightsInB({ isThere: false });
    await gone.deleteRule();
    await gone.clock.advance(150_000);
    expect(gone.rule()).toBeUndefined();
    const there = await withoutRightsInB({ isThere: true });
    await there.deleteRule();
    await there.clock.advance(150_000);
    expect(there.said('WithdrawalBlocked')).toBe('True NotPermitted');
    expect(there.condition('WithdrawalBlocked')?.message).toContain('may not list the kind in namespace team-b');
  });

  it('holds up no entry that is to come off in the others when their rule is withdrawn (P9, P10)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.create('logs', { namespace: 'team-a' });
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    await scene.deleteRule();
    await scene.clock.advance(150_000);
    expect(scene.finalizers('logs')).toEqual([]);
    expect(scene.rule()).toBeDefined();
    const listed = scene.cluster.count('list');
    await scene.clock.advance(600_000);
    // A large kind is not listed again and again while a right is missing.
    expect(scene.cluster.count('list') - listed).toBeLessThanOrEqual(2 * 12);
    scene.cluster.refused.clear();
    await scene.clock.advance(200_000);
    expect(scene.rule()).toBeUndefined();
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
    expect(scene.finalizers('disk', VOLUMES)).toBeUndefined();
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    expect(scene.bridge.whyNotReady()).toEqual([]);
    await scene.deleteRule();
    await scene.clock.advance(150_000);
    expect(scene.rule()).toBeUndefined();
  });

  it('works where the whole cluster is served', async () => {
    const scene = await scoped();
    expect(scene.said('Permitted')).toBe('True Permitted');
    expect(scene.finalizers('disk', VOLUMES)).toEqual([ENTRY]);
    expect(scene.status(RULE).namespaces).toBeUndefined();
  });
});
