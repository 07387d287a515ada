/*
 * One deletion after another through the whole bridge, over a tiny API server and a queue in memory: how an entry comes
 * off, and what happens when the object moves meanwhile. What people are told is in standing.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { ApiError } from '../../bridge/ports.ts';
import { counts, ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { START, settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const pending: Outcome = { outcome: 'pending', reason: 'InProgress', message: 'emptying' };

async function requested(finalizers: readonly string[] = [ENTRY]): Promise<Scene> {
  const scene = await Scene.start();
  await scene.deleted({ finalizers });
  return scene;
}

describe('a happy deletion', () => {
  it('costs one GET and one PATCH of the object, no annotation and no Event (P8)', async () => {
    const scene = await requested();
    expect(scene.requests).toHaveLength(1);
    expect(scene.request).toMatchObject({
      subject: '/apis/storage.example.com/v1/namespaces/team-a/buckets/logs',
      data: { attempt: 0, target: { bucket: 'team-a-logs' }, object: { uid: 'uid-logs', namespace: 'team-a' } },
    });
    expect(scene.cluster.peek('logs')?.metadata.annotations).toBeUndefined();
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
    await scene.clock.advance(3_600_000);
    const calls = scene.cluster.calls.filter(({ verb }) => verb !== 'watch');
    expect(calls.map(({ verb }) => verb)).toEqual(['get', 'patch']);
    expect(scene.requests).toHaveLength(1);
    expect(scene.bridge.pendings()).toEqual([]);
    expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Gone`]: 1 });
    // Nor a line of the log, unless somebody wants to see every deletion.
    const said = scene.kept.lines.filter(({ message }) => message.includes('buckets/team-a/logs'));
    expect(said.map(({ level, message }) => [level, message])).toEqual([
      ['debug', 'removing finalizer from buckets/team-a/logs: done'],
    ]);
  });

  it('leaves everybody else’s entries on, and takes all copies of ours (K30)', async () => {
    const scene = await Scene.start();
    await scene.deleted({ finalizers: ['a/b', ENTRY, 'foregroundDeletion', ENTRY] });
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.finalizers()).toEqual(['a/b', 'foregroundDeletion']);
  });

  it('is one of many: each object has its own', async () => {
    const scene = await Scene.start();
    for (let index = 0; index < 25; index += 1) await scene.deleted({ name: `logs-${index}` });
    expect(new Set(scene.requests.map(({ id }) => id)).size).toBe(25);
    const answers = await Promise.all(scene.requests.map((request) => scene.answer(gone, request)));
    expect(answers.every(Boolean)).toBe(true);
    expect(scene.bridge.pendings()).toEqual([]);
    expect(scene.cluster.count('patch')).toBe(25);
  });

  it('under two rules waits for both, each with its own request', async () => {
    const scene = await Scene.start({ rules: [ruleOf(), ruleOf({}, 'other-rule')] });
    await scene.deleted({ finalizers: [ENTRY, 'finalizer-bridge.dev/other-rule'] });
    const [first, second] = scene.requests;
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual([RULE, 'other-rule']);
    expect(await scene.answer(gone, second)).toBe(true);
    expect(scene.finalizers()).toEqual([ENTRY]);
    expect(await scene.answer(gone, first)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });
});

describe('an object that moves while its entry comes off', () => {
  it('makes a conflict; it is read again, and the entry is taken off where it then is (K1)', async () => {
    const scene = await requested([ENTRY, 'a/b']);
    scene.cluster.before = ({ verb }) => {
      if (verb !== 'patch') return;
      scene.cluster.before = () => {};
      scene.cluster.change('logs', ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, finalizers: ['a/b', ENTRY] },
      }));
    };
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.finalizers()).toEqual(['a/b']);
    expect(scene.events).toEqual([]);
  });

  it('keeps its result in the queue until the API server has confirmed (K5)', async () => {
    const scene = await requested();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new ApiError('patching', 500);
    };
    expect(await scene.answer(gone)).toBe(false);
    expect(scene.finalizers()).toEqual([ENTRY]);
    scene.cluster.before = () => {};
    expect(await scene.answer(gone)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('is taken for done when it is gone, or the entry is', async () => {
    for (const finalizers of [[], ['a/b']]) {
      const scene = await requested([...finalizers, ENTRY]);
      scene.cluster.before = ({ verb }) => {
        if (verb !== 'patch') return;
        scene.cluster.before = () => {};
        scene.cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers } }));
      };
      expect(await scene.answer(gone)).toBe(true);
      expect(scene.finalizers()).toEqual(finalizers);
      expect(scene.bridge.pendings()).toEqual([]);
    }
  });

  it('is known to be done by us when only the answer to our write was lost', async () => {
    const scene = await requested();
    const patch = scene.cluster.patch.bind(scene.cluster);
    scene.cluster.patch = async (path, operations) => {
      scene.cluster.patch = patch;
      await patch(path, operations);
      throw new ApiError('patching', 0);
    };
    expect(await scene.answer(gone)).toBe(false);
    await scene.clock.advance(1_000);
    expect(scene.bridge.pendings()).toEqual([]);
    expect(scene.events).toEqual([]);
    expect(await counts(scene.metrics.removed)).toEqual({ [`${RULE}/Gone`]: 1 });
    expect(await scene.answer(gone)).toBe(true);
  });

  it('is not touched when it is another object of that name (K3)', async () => {
    const scene = await requested();
    const { request } = scene;
    scene.cluster.succeed('logs', 'uid-2');
    await settled();
    expect(await scene.answer(gone, request)).toBe(true);
    expect(scene.finalizers()).toEqual([ENTRY]);
  });

  it('that a webhook lets nobody write is told as failing, and tried again (K29)', async () => {
    const scene = await requested();
    scene.cluster.patch = async () => ({ kind: 'conflict' });
    expect(await scene.answer(gone)).toBe(false);
    await scene.clock.advance(10_000);
    expect(scene.standing()).toBe('Held Failing');
    expect(scene.events).toEqual(['TeardownHeld']);
    await scene.deleted({ name: 'other' });
    expect(scene.request.data.object.name).toBe('other');
  });
});

describe('an entry that somebody else takes off', () => {
  it.each([
    ['with the object', [], 'the object is gone before'],
    ['alone', ['a/b'], 'the entry is gone from the object before'],
  ])('%s is seen, counted, and told with the target (K27)', async (_what, finalizers, told) => {
    const scene = await requested([...finalizers, ENTRY]);
    scene.cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers } }));
    await settled();
    expect(scene.bridge.pendings()).toEqual([]);
    expect(await counts(scene.metrics.bypassed)).toEqual({ [RULE]: 1 });
    expect(scene.events).toEqual(['Bypassed']);
    const line = scene.kept.lines.find(({ fields }) => Reflect.get(fields, 'reason') === 'Bypassed');
    expect(line).toMatchObject({ level: 'warn', fields: { uid: 'uid-logs', target: { bucket: 'team-a-logs' } } });
    const { message = '' } = scene.cluster.events[0] ?? {};
    expect(message).toContain(told);
    expect(message).toContain('"bucket":"team-a-logs"');
  });

  it('after our own removal failed and was given up is still seen as that', async () => {
    const scene = await requested();
    scene.cluster.before = ({ verb }) => {
      if (verb === 'patch') throw new ApiError('patching', 500);
    };
    expect(await scene.answer(gone)).toBe(false);
    scene.cluster.change('logs', (object) => ({ ...object, spec: { bucket: 'another-bucket' } }));
    await scene.clock.advance(1_000);
    scene.cluster.before = () => {};
    scene.cluster.change('logs', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
    await settled();
    expect(scene.events).toContain('Bypassed');
    expect(await counts(scene.metrics.removed)).toEqual({});
  });

  it('is believed only when a GET no longer shows it', async () => {
    const scene = await requested(['a/b', ENTRY]);
    const { before } = scene.cluster;
    scene.cluster.before = ({ verb }) => {
      if (verb === 'get') throw new ApiError('getting', 503);
    };
    scene.cluster.change('logs', ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: ['a/b'] },
    }));
    await settled();
    expect(scene.bridge.pendings()).toHaveLength(1);
    expect(scene.events).toEqual([]);
    scene.cluster.before = before;
    await scene.clock.advance(1_000);
    expect(scene.bridge.pendings()).toEqual([]);
    expect(scene.events).toEqual(['Bypassed']);
  });
});

describe('the bridge, started again', () => {
  it('repeats the same request, byte for byte, and finishes (P5)', async () => {
    const first = await requested();
    await first.bridge.stop();
    await first.clock.advance(20_000);
    const second = await Scene.start({ after: first });
    expect(second.queue.taken).toHaveLength(2);
    expect(second.queue.taken[1]).toBe(second.queue.taken[0]);
    expect(await second.answer(gone)).toBe(true);
    expect(second.cluster.peek('logs')).toBeUndefined();
  });

  it('finds what was deleted while it was down, and what a result came for', async () => {
    const first = await Scene.start();
    await first.bridge.stop();
    await first.deleted();
    const second = await Scene.start({ after: first });
    expect(second.requests).toHaveLength(1);
  });

  it('asks again in the next term while no answer comes, and says how far it is', async () => {
    const scene = await requested();
    await scene.answer(pending);
    await scene.clock.advance(3_600_000 - 1_000);
    expect(scene.requests).toHaveLength(1);
    await scene.clock.advance(2_000);
    expect(scene.requests.map(({ data }) => data.attempt)).toEqual([0, 1]);
    expect(scene.record()).toMatchObject({ phase: 'Pending', firstPublished: new Date(START + 200).toISOString() });
  });
});
