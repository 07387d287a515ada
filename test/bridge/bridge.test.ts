/*
 * The life of the bridge as a whole, over fakes: when it is ready, when it takes results, what failing often looks like,
 * and how it stops. What it does with a deletion is in reconcile.test.ts and the files beside it.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { ApiError } from '../../bridge/ports.ts';
import { counts, ENTRY, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };

describe('the bridge', () => {
  it('takes results only once it knows the objects they are about, and is ready then', async () => {
    let isUp = false;
    const scene = await Scene.start({
      prepare: ({ cluster }) => {
        cluster.before = ({ verb }) => {
          if (verb === 'watch' && !isUp) throw new ApiError('watching', 503);
        };
      },
    });
    await scene.clock.advance(60_000);
    expect(scene.bridge.isReady()).toBe(false);
    expect(scene.queue.isConsumed).toBe(false);
    isUp = true;
    await scene.clock.advance(31_000);
    expect(scene.bridge.isReady()).toBe(true);
    expect(scene.queue.isConsumed).toBe(true);
  });

  it('is not ready while it is blind, and finds what began meanwhile (K10)', async () => {
    const scene = await Scene.start();
    scene.cluster.endWatches(new ApiError('watching', 503));
    await settled();
    expect(scene.bridge.isReady()).toBe(false);
    await scene.deleted();
    expect(scene.requests).toEqual([]);
    await scene.clock.advance(1_000);
    expect(scene.bridge.isReady()).toBe(true);
    expect(scene.requests).toHaveLength(1);
  });

  it('puts its entry on what it selects, also on what was there before it (K27)', async () => {
    const scene = await Scene.start({ prepare: ({ cluster }) => void cluster.create({ name: 'old' }) });
    scene.cluster.create({ name: 'new', finalizers: ['a/b'] });
    await settled();
    expect(scene.finalizers('old')).toEqual([ENTRY]);
    expect(scene.finalizers('new')).toEqual(['a/b', ENTRY]);
    scene.cluster.change('new', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
    await settled();
    expect(scene.finalizers('new')).toEqual([ENTRY]);
    expect(scene.bridge.pendings()).toEqual([]);
  });
});

describe('what fails', () => {
  it('is held as failing at the third time, not before, with its cause (P7)', async () => {
    const scene = await Scene.start();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'get') throw new ApiError('getting buckets/team-a/logs', 500, { cause: new Error('etcd is down') });
    };
    await scene.deleted();
    expect(scene.standing()).toBeUndefined();
    await scene.clock.advance(150);
    expect(scene.standing()).toBeUndefined();
    await scene.clock.advance(300);
    expect(scene.standing()).toBe('Held Failing');
    const [pending] = scene.bridge.pendings();
    expect(pending?.standing?.message).toBe('getting buckets/team-a/logs: HTTP 500 <- etcd is down');
    const { since } = pending?.standing ?? {};
    await scene.clock.advance(60_000);
    expect(scene.bridge.pendings()[0]?.standing?.since).toBe(since);
    scene.cluster.before = () => {};
    await scene.clock.advance(31_000);
    expect(scene.standing()).toBe('Pending Requested');
  });

  it('is counted under its rule, claims too', async () => {
    const scene = await Scene.start();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new ApiError('patching', 403);
    };
    scene.cluster.create({ name: 'new' });
    await settled();
    expect(await counts(scene.metrics.failures)).toEqual({ [RULE]: 1 });
    scene.cluster.before = () => {};
    await scene.clock.advance(1_000);
    expect(scene.finalizers('new')).toEqual([ENTRY]);
  });
});

describe('stopping', () => {
  it('waits for what runs, and leaves every result in its queue that has not come to its end', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    const { request } = scene;
    const answered = Promise.withResolvers<void>();
    scene.cluster.patch = async () => {
      await answered.promise;
      throw new ApiError('patching', 503);
    };
    const inRun = scene.answer(gone, request);
    await settled();
    const behind = scene.answer(gone, request);
    await settled();
    let isStopped = false;
    const stopped = scene.bridge.stop().then(() => {
      isStopped = true;
    });
    await settled();
    const late = scene.answer(gone, request);
    await settled();
    expect(isStopped).toBe(false);
    answered.resolve();
    expect(await Promise.all([inRun, behind, late])).toEqual([false, false, false]);
    await stopped;
    expect(scene.finalizers()).toEqual([ENTRY]);
    expect(scene.queue.isConsumed).toBe(false);
    expect(scene.clock.due).toEqual([]);
  });

  it('acknowledges what the last run has brought to its end, a copy that came meanwhile too (K5, Q5)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    const { request } = scene;
    const patch = scene.cluster.patch.bind(scene.cluster);
    const open = Promise.withResolvers<void>();
    scene.cluster.patch = async (path, operations) => {
      await open.promise;
      return await patch(path, operations);
    };
    const inRun = scene.answer(gone, request);
    await settled();
    const copy = scene.answer(gone, request);
    await settled();
    const stopped = scene.bridge.stop();
    open.resolve();
    expect(await Promise.all([inRun, copy])).toEqual([true, true]);
    await stopped;
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('before it was ever ready ends as well', async () => {
    const down = new ApiError('watching', 503);
    const scene = await Scene.start({
      prepare: ({ cluster }) => {
        cluster.before = () => {
          throw down;
        };
      },
    });
    await scene.bridge.stop();
    expect(scene.clock.due).toEqual([]);
    expect(scene.queue.isConsumed).toBe(false);
  });
});
