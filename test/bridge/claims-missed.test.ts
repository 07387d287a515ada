/*
 * When a claim that finds its object gone, or going, has missed nothing: nobody wants the entry any more, or it was on. What is
 * missed is in claims.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { BUCKETS, counts, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { type Bench, bench, KEY, selecting, withEntry, withoutLabels } from '../support/claims-bench.ts';
import { VOLUMES } from '../support/fake-kinds.ts';

describe('a claim', () => {
  it.each([
    ['the object has lost its label', ({ cluster }: Bench) => cluster.change('logs', withoutLabels)],
    [
      'the rule is being withdrawn',
      ({ state }: Bench) => Object.assign(state, { rule: { ...selecting(), isWithdrawn: true } }),
    ],
    ['the rule is gone', ({ state }: Bench) => Object.assign(state, { rule: undefined })],
    [
      'another rule has its name',
      ({ state }: Bench) => Object.assign(state, { rule: { ...selecting(), uid: 'uid-2' } }),
    ],
  ])('has missed nothing when the object is deleted after %s: nobody wants it any more', async (_what, meanwhile) => {
    const begun = bench({ finalizers: ['a/b'] });
    const { claims, cluster, metrics, want } = begun;
    want('add');
    cluster.before = ({ verb }) => {
      if (verb !== 'get') return;
      meanwhile(begun);
      cluster.delete('logs');
    };
    cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: ['c/d'] } }));
    await claims.run(KEY);
    expect(cluster.peek('logs')?.metadata.deletionTimestamp).toBeDefined();
    expect(await counts(metrics.missed)).toEqual({});
    expect(claims.waiting()).toEqual(new Map());
  });

  it('has missed nothing where the answer to its PATCH was lost and the object was then seen with the entry', async () => {
    const { claims, cluster, metrics, want } = bench({});
    want('add');
    const patch = cluster.patch.bind(cluster);
    cluster.patch = async (...call) => {
      await patch(...call);
      throw new ApiError('patching', 0);
    };
    await expect(claims.run(KEY)).rejects.toThrow('no answer');
    const [live] = [cluster.peek('logs')?.metadata];
    if (live === undefined) throw new Error('the object is gone');
    claims.saw({ ...live, resourceVersion: '0' }, RULE);
    expect(claims.waiting()).toEqual(new Map([[RULE, 1]]));
    claims.saw(live, RULE);
    expect(claims.waiting()).toEqual(new Map());
    cluster.delete('logs');
    cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
    await claims.run(KEY);
    expect(await counts(metrics.missed)).toEqual({});
  });

  it('has missed nothing where that is seen while it is tried again', async () => {
    const { claims, cluster, metrics, want } = bench({});
    want('add');
    const { metadata } = cluster.change('logs', withEntry);
    cluster.before = () => {
      cluster.before = () => {};
      claims.saw(metadata, RULE);
      cluster.delete('logs');
      cluster.change('logs', (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
    };
    await claims.run(KEY);
    expect(cluster.peek('logs')).toBeUndefined();
    expect(await counts(metrics.missed)).toEqual({});
  });
});

describe('a claim that waits for its next try', () => {
  it('is tried when a complete list of what it is among has come, and no other is', async () => {
    const { claims, added, want } = bench({ namespace: 'team-a' });
    want('add');
    for (const place of [{ ...BUCKETS, namespace: 'team-b' }, VOLUMES]) claims.listed(place);
    expect(added).toEqual([KEY]);
    for (const place of [{ ...BUCKETS, namespace: 'team-a' }, BUCKETS]) claims.listed(place);
    expect(added).toEqual([KEY, KEY, KEY]);
  });

  it('P7 ends when rights come back to where its object is not any more, as no list shows it', async () => {
    const scene = await Scene.start();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new ApiError('patching', 403);
    };
    scene.cluster.create({ name: 'logs', spec: { bucket: 'team-a-logs' } });
    await scene.clock.advance(20 * 60_000);
    scene.cluster.delete('logs');
    await scene.clock.advance(1_000);
    expect(scene.bridge.unclaimed()).toEqual(new Map([[RULE, 1]]));
    scene.cluster.before = () => {};
    scene.cluster.endWatches(new ApiError('watching', 410));
    await scene.clock.advance(5_000);
    expect(scene.bridge.unclaimed()).toEqual(new Map());
    expect(await counts(scene.metrics.missed)).toEqual({ [RULE]: 1 });
  });
});
