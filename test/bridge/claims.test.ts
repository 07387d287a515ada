/*
 * Entries on live objects, over a tiny API server: put on where missing, taken off where released, never on an object
 * that is being deleted, and decided again after every conflict.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { BUCKETS, counts, ENTRY, metaOf, RULE } from '../support/bridge-builders.ts';
import { bench, KEY, labels, selecting, withEntry, withLabels, withoutLabels } from '../support/claims-bench.ts';
import type { FakeCluster } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';

describe('a claim', () => {
  it('puts the entry on with one patch and no read', async () => {
    const { claims, cluster, metrics, added, want, finalizers } = bench({ finalizers: ['a/b'] });
    want('add');
    expect(added).toEqual([KEY]);
    await claims.run(KEY);
    expect(finalizers()).toEqual(['a/b', ENTRY]);
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['patch']);
    expect(await counts(metrics.claimed)).toEqual({ [RULE]: 1 });
    await claims.run(KEY);
    expect(cluster.calls).toHaveLength(1);
  });

  it('looks again after a conflict, and puts it on what it then finds', async () => {
    const { claims, cluster, want, finalizers } = bench({});
    want('add');
    cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: ['c/d'] } }));
    await claims.run(KEY);
    expect(finalizers()).toEqual(['c/d', ENTRY]);
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['patch', 'get', 'patch']);
  });

  it.each([
    ['is being deleted', (cluster: FakeCluster) => cluster.delete('logs'), { [RULE]: 1 }],
    ['has lost the label', (cluster: FakeCluster) => cluster.change('logs', withoutLabels), {}],
    ['has the entry already', (cluster: FakeCluster) => cluster.change('logs', withEntry), {}],
    ['is another one of that name (K3)', (cluster: FakeCluster) => cluster.succeed('logs', 'uid-2'), { [RULE]: 1 }],
  ])('is dropped when the object, read again, %s', async (_what, meanwhile, missed) => {
    const { claims, cluster, metrics, want, finalizers } = bench({ finalizers: ['a/b'] });
    want('add');
    meanwhile(cluster);
    const before = finalizers();
    await claims.run(KEY);
    expect(finalizers()).toEqual(before);
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['patch', 'get']);
    expect(await counts(metrics.claimed)).toEqual({});
    await claims.run(KEY);
    expect(cluster.calls).toHaveLength(2);
    expect(await counts(metrics.missed)).toEqual(missed);
  });

  it('P1 is dropped when the object is gone, which is counted and told: it went without teardown', async () => {
    const { claims, cluster, metrics, warned, want } = bench({});
    want('add');
    cluster.delete('logs');
    await claims.run(KEY);
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['patch']);
    expect(cluster.peek('logs')).toBeUndefined();
    expect(await counts(metrics.missed)).toEqual({ [RULE]: 1 });
    expect(warned).toEqual([
      { rule: RULE, uid: 'uid-logs', namespace: 'team-a', name: 'logs', resource: BUCKETS.resource },
    ]);
  });

  it('to take the entry off that finds the object gone has missed nothing', async () => {
    const { claims, cluster, metrics, want } = bench(
      { finalizers: [ENTRY], labels: {} },
      { rule: selecting('Release') },
    );
    want('remove');
    cluster.delete('logs');
    cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
    await claims.run(KEY);
    expect(cluster.peek('logs')).toBeUndefined();
    expect(await counts(metrics.missed)).toEqual({});
  });

  it('is dropped when its rule is no more', async () => {
    const { claims, cluster, state, want } = bench({});
    want('add');
    state.rule = undefined;
    await claims.run(KEY);
    expect(cluster.calls).toEqual([]);
  });

  it.each(['add', 'remove'] as const)(
    'to %s dies with its rule: another of its name asked for nothing',
    async (change) => {
      const finalizers = change === 'add' ? [] : [ENTRY];
      const worn = change === 'add' ? labels : {};
      for (const next of [
        { ...selecting('Release'), uid: 'uid-2' },
        { ...selecting('Release'), match: VOLUMES },
      ]) {
        const { claims, cluster, state, want } = bench({ finalizers, labels: worn }, { rule: selecting('Release') });
        want(change);
        state.rule = next;
        await claims.run(KEY);
        expect(cluster.calls, JSON.stringify(next.match)).toEqual([]);
        expect(claims.waiting()).toEqual(new Map());
      }
    },
  );

  it('is never made on an object that was already being deleted when it was seen', async () => {
    const rule = selecting();
    const { claims, cluster } = bench({});
    claims.want({ kind: BUCKETS, meta: metaOf({ finalizers: [], labels }), rule, change: 'add' });
    cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: ['a/b'] } }));
    cluster.delete('logs');
    await claims.run(KEY);
    expect(cluster.peek('logs')?.metadata.finalizers).toEqual(['a/b']);
  });

  it('is tried again when the API server does not answer, and stays wanted', async () => {
    const { claims, cluster, want, finalizers } = bench({});
    want('add');
    cluster.before = () => {
      throw new ApiError('patching', 503);
    };
    await expect(claims.run(KEY)).rejects.toThrow('503');
    cluster.before = () => {};
    await claims.run(KEY);
    expect(finalizers()).toEqual([ENTRY]);
  });

  it('is not made without the lease (V3)', async () => {
    const { claims, cluster, state, want } = bench({});
    want('add');
    state.holds = false;
    await expect(claims.run(KEY)).rejects.toThrow('the lease is not held');
    expect(cluster.calls).toEqual([]);
  });

  it('gives up for now on an object that changes faster than it can be read', async () => {
    const { claims, cluster, want } = bench({});
    want('add');
    cluster.before = ({ verb }) => {
      if (verb === 'patch') cluster.annotate('logs', 'a', String(cluster.calls.length));
    };
    await expect(claims.run(KEY)).rejects.toThrow('keeps changing');
    expect(cluster.count('patch')).toBe(5);
  });

  it('is over with its write: a sight from before it, come late, asks for nothing more', async () => {
    const { claims, cluster, want } = bench({});
    want('add');
    cluster.before = ({ verb }) => {
      if (verb === 'patch') want('add');
    };
    await claims.run(KEY);
    await claims.run(KEY);
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['patch']);
  });

  it('for a newer sight of the object outlives the run for an older one (K27)', async () => {
    const rule = selecting();
    const { claims, cluster, want, finalizers } = bench({}, { rule });
    const patch = cluster.patch.bind(cluster);
    want('add');
    cluster.patch = async (path, operations) => {
      const outcome = await patch(path, operations);
      cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
      const stripped = cluster.peek('logs')?.metadata;
      if (stripped !== undefined) claims.want({ kind: BUCKETS, meta: stripped, rule, change: 'add' });
      return outcome;
    };
    await claims.run(KEY);
    expect(finalizers()).toEqual([]);
    cluster.patch = patch;
    await claims.run(KEY);
    expect(finalizers()).toEqual([ENTRY]);
  });
});

describe('an entry that is not wanted any more', () => {
  const unmatched = { finalizers: ['a/b', ENTRY, ENTRY], labels: {} };

  it('is taken off, all its copies, where the rule releases what it does not match (K30)', async () => {
    const { claims, metrics, want, finalizers } = bench(unmatched, { rule: selecting('Release') });
    want('remove');
    await claims.run(KEY);
    expect(finalizers()).toEqual(['a/b']);
    expect(await counts(metrics.removed)).toEqual({ [`${RULE}/Unmatched`]: 1 });
  });

  it('stays when the object matches again, or is being deleted meanwhile', async () => {
    for (const meanwhile of [
      (cluster: FakeCluster) => cluster.change('logs', withLabels),
      (cluster: FakeCluster) => cluster.delete('logs'),
    ]) {
      const { claims, cluster, want, finalizers } = bench(unmatched, { rule: selecting('Release') });
      want('remove');
      meanwhile(cluster);
      await claims.run(KEY);
      expect(finalizers()).toEqual(['a/b', ENTRY, ENTRY]);
    }
  });
});
