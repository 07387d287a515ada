/*
 * Who carries an entry, by a list of the whole kind: pages, live and deleting, what cannot be listed.
 * Over the fake API server; what comes of it is in withdrawal.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { createCensus } from '../../bridge/census.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { ApiError } from '../../bridge/ports.ts';
import { BUCKETS, ENTRY } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';

describe('a census', () => {
  it('counts the carriers of one entry in one kind, live and deleting apart', async () => {
    const cluster = new FakeCluster();
    cluster.create({ name: 'a', finalizers: ['x/y', ENTRY] });
    cluster.create({ name: 'b', finalizers: [`${ENTRY}-2`] });
    cluster.create({ name: 'c' });
    cluster.create({ name: 'd', finalizers: [ENTRY] });
    cluster.delete('d');
    cluster.create({ name: 'e', finalizers: [ENTRY], kind: VOLUMES });
    const count = await createCensus(cluster)(BUCKETS, ENTRY);
    expect(count).toMatchObject({ kind: 'counted', live: [{ name: 'a', uid: 'uid-a' }], deleting: 1 });
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['list']);
  });

  it('reads every page of a large kind', async () => {
    const cluster = new FakeCluster();
    for (let index = 0; index < 1_234; index += 1) cluster.create({ name: `o-${index}`, finalizers: [ENTRY] });
    const count = await createCensus(cluster)(BUCKETS, ENTRY);
    expect(count.kind === 'counted' ? new Set(count.live.map(({ name }) => name)).size : 0).toBe(1_234);
    expect(cluster.count('list')).toBe(3);
  });

  it.each([
    [404, { kind: 'unserved' }],
    [403, { kind: 'forbidden', live: [], places: [] }],
  ] as const)('of a kind that answers %d is no count', async (status, count) => {
    const cluster = new FakeCluster();
    cluster.refused.set('storage.example.com/buckets', status);
    expect(await createCensus(cluster)(BUCKETS, ENTRY)).toEqual(count);
  });

  it('that may not look into one namespace says into which, and whom it found in the others (P10)', async () => {
    const cluster = new FakeCluster();
    for (const name of ['a', 'b']) cluster.create({ name, namespace: `team-${name}`, finalizers: [ENTRY] });
    cluster.refused.set('storage.example.com/buckets@team-a', 403);
    const census = createCensus(cluster, { namespaces: ['team-a', 'team-b'], leaving: [] });
    cluster.create({ name: 'team-a', kind: NAMESPACES, namespace: undefined });
    expect(await census(BUCKETS, ENTRY)).toMatchObject({
      ...{ kind: 'forbidden', places: ['team-a'] },
      live: [{ name: 'b' }],
    });
  });

  it.each([0, 410, 429, 500, 503])(
    'that was answered by %d on the way throws: half a list proves nothing',
    async (status) => {
      const cluster = new FakeCluster();
      for (let index = 0; index < 600; index += 1) cluster.create({ name: `o-${index}` });
      cluster.before = () => {
        if (cluster.count('list') === 2) throw new ApiError('listing buckets', status);
      };
      await expect(createCensus(cluster)(BUCKETS, ENTRY)).rejects.toThrow('listing buckets');
    },
  );
});
