/*
 * A namespace that is served and in which the bridge has no rights, or which is going: it stops no other (P10), the others stay
 * protected (P1), and the rules say what is wrong and where (P7). The real bridge and keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { type Served, watchedKey } from '../../bridge/served.ts';
import { BUCKETS, counts, ENTRY } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const GAUGE = `${BUCKETS.group}/${BUCKETS.resource}`;

function withNamespaces({ cluster }: RuleScene, ...names: readonly string[]): void {
  for (const name of names) cluster.create({ name, kind: NAMESPACES, namespace: undefined, labels: { of: name } });
}

const inNamespace = (namespace: string) => watchedKey({ ...BUCKETS, namespace });

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

describe('a namespace without rights', () => {
  it('stops no other (P10), and is named in the conditions of the rule (P7)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.create('logs');
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(scene.said('Permitted')).toBe('False MissingVerbs');
    expect(scene.condition('Permitted')?.message).toBe(
      'may not get, list, watch, patch buckets.storage.example.com in namespace team-b',
    );
    expect(scene.condition('Watching')?.message).toBe('the kind is not being watched in namespace team-b');
    expect(await counts(scene.metrics.watching)).toMatchObject({ [GAUGE]: 0 });
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('does not end the protection of the others: there objects get their entry at birth (P1, P10)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.labelled();
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['False MissingVerbs', 'False MissingVerbs']);
    expect(scene.rule()?.metadata.labels).toBeDefined();
    // Neither does one that loses its rights later.
    scene.kinds.lacks.set(inNamespace('team-b'), ['patch']);
    await scene.clock.advance(60_000);
    expect(scene.condition('Permitted')?.message).toBe('may not patch buckets.storage.example.com in namespace team-b');
    expect(scene.rule()?.metadata.labels).toBeDefined();
  });

  it('gives no entries at birth where it is so in each of them: there nobody could take them off again', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    await scene.labelled();
    scene.kinds.lacks.set(inNamespace('team-a'), ['patch']);
    await scene.clock.advance(60_000);
    expect(scene.rule()?.metadata.labels).toBeUndefined();
    // One that is being left is none of them: objects there get no entry anyway.
    const leaving = await RuleScene.start({
      served: { namespaces: ['team-a'], leaving: ['team-b'] },
      prepare: (begun) => {
        withNamespaces(begun, 'team-a', 'team-b');
        begun.kinds.lacks.set(inNamespace('team-a'), ['patch']);
      },
    });
    await leaving.apply();
    await leaving.labelled();
    expect(leaving.rule()?.metadata.labels).toBeUndefined();
  });

  it('that is being deleted is told as that, and the others have their entries at birth (P7, P10)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    scene.cluster.delete('team-b', { finalizers: ['kubernetes'] }, NAMESPACES);
    await scene.labelled();
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(Array(2).fill('False NamespaceTerminating'));
    expect(scene.condition('Permitted')?.message).toContain('namespace team-b is being deleted, and the rights in it');
    expect(scene.rule()?.metadata.labels).toBeDefined();
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('is told of beside one that is being deleted: whoever gives the rights in one would miss the other (P7)', async () => {
    const scene = await withoutRightsInB({ isThere: true });
    scene.kinds.lacks.set(inNamespace('team-a'), ['patch']);
    scene.cluster.delete('team-b', { finalizers: ['kubernetes'] }, NAMESPACES);
    await scene.labelled();
    const said = scene.condition('Permitted');
    expect(said?.reason).toBe('MissingVerbs');
    expect(said?.message).toContain(
      'may not patch buckets.storage.example.com in namespace team-a; namespace team-b is',
    );
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
