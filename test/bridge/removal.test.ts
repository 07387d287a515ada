/*
 * Taking an entry off: what is sent, what each answer of the API server lets conclude, and when results may be acknowledged (K5). A
 * conclusion too many acknowledges a result while the entry stays on, and the object is stuck (P4). What is told of the end is in
 * removal-end.test.ts; through the whole bridge in reconcile.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { removeEntry } from '../../bridge/finalizer.ts';
import type { KubeObject, PatchOperation, PatchOutcome } from '../../bridge/ports.ts';
import { remove } from '../../bridge/removal.ts';
import { BUCKETS, deletingMeta, ENTRY } from '../support/bridge-builders.ts';
import { factsWith, GONE, OFF, objectOf, prepare } from '../support/removal-scene.ts';

describe('an entry is taken off', () => {
  it('by a patch of this entry on this object as it was read (P3)', async () => {
    const { reach, pending, patches } = prepare();
    const expected: readonly PatchOperation[] = removeEntry(pending.meta, ENTRY) ?? [];
    await remove({ reach, pending }, GONE);
    expect(patches).toEqual([[{ ...BUCKETS, namespace: 'team-a', name: 'logs' }, expected]]);
    expect(expected).toHaveLength(4);
  });

  it('never without the lease (V3), nor where it is not', async () => {
    const without = prepare({ holds: false });
    await expect(remove(without, GONE)).rejects.toThrow(
      'removing finalizer from buckets/team-a/logs: the lease is not held',
    );
    const bare = prepare({ pending: { meta: deletingMeta({ finalizers: ['a/b'] }) } });
    await expect(remove(bare, GONE)).rejects.toThrow('removing finalizer from buckets/team-a/logs: it is not there');
    for (const { patches, settled, isOver } of [without, bare]) {
      expect([patches, settled, isOver()]).toEqual([[], [], false]);
    }
  });
});

describe('it is off for certain', () => {
  it.each<readonly [string, PatchOutcome]>([
    ['when the API server shows the object without it', OFF],
    ['when the object is not there any more', { kind: 'missing' }],
  ])('%s: results are acknowledged, and nothing of the deletion is kept (K5, P8)', async (_when, outcome) => {
    const scene = prepare({ outcome });
    expect(await remove(scene, GONE)).toEqual({ kind: 'done' });
    expect([scene.settled, scene.isOver(), scene.forgotten]).toEqual([[true, true], true, [scene.pending.key]]);
    expect(scene.pending.settles).toEqual([]);
  });

  it('is not when the API server kept it, whatever it answered', async () => {
    const scene = prepare({ outcome: { kind: 'patched', meta: deletingMeta({ finalizers: [ENTRY] }) } });
    await expect(remove(scene, GONE)).rejects.toThrow('from buckets/team-a/logs: the API server kept it');
    expect([scene.settled, scene.isOver(), scene.told]).toEqual([[], false, []]);
  });

  it.each<readonly [string, KubeObject | undefined]>([
    ['has moved', objectOf({ resourceVersion: '8' })],
    ['is another one', objectOf({ uid: 'uid-2' })],
    ['is gone', undefined],
  ])('is not after a conflict: when the object %s it is read and decided on anew (K1)', async (_what, object) => {
    const scene = prepare({ outcome: { kind: 'conflict' }, object, pending: { facts: factsWith('found') } });
    expect(await remove(scene, GONE)).toEqual({ kind: 'again' });
    expect([scene.pending.facts, scene.settled, scene.isOver()]).toEqual([undefined, [], false]);
  });

  it('is not when somebody refuses the write of an object that has not moved: that is a failure (K29)', async () => {
    const scene = prepare({ outcome: { kind: 'conflict' }, object: objectOf() });
    await expect(remove(scene, GONE)).rejects.toThrow('from buckets/team-a/logs: refused although nothing had changed');
    expect([scene.settled, scene.isOver()]).toEqual([[], false]);
  });
});
