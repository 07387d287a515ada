/*
 * What a record costs, and what is known once it is written: the answer to the write is the next look. Through the whole
 * bridge over fakes; what stands in a record is in record.test.ts, when it is written in standing.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { ApiError } from '../../bridge/ports.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const gone: Outcome = { outcome: 'gone', evidence: 'deleted' };
const QUIET_MS = 31_000;

async function recorded(finalizers: readonly string[] = [ENTRY]): Promise<Scene> {
  const scene = await Scene.start();
  await scene.deleted({ finalizers });
  await scene.clock.advance(QUIET_MS);
  expect(scene.record()).toMatchObject({ reason: 'Requested' });
  return scene;
}

const verbs = ({ cluster }: Scene) => cluster.calls.filter(({ verb }) => verb !== 'watch').map(({ verb }) => verb);

it('a deletion that takes long costs one PATCH more for its record, and no GET (P8)', async () => {
  const scene = await recorded();
  expect(await scene.answer(gone)).toBe(true);
  expect(verbs(scene)).toEqual(['get', 'patch', 'patch']);
  expect(scene.cluster.peek('logs')).toBeUndefined();
});

it('a record that a request waits for costs no GET either: the request goes by what its write answers (P8)', async () => {
  const scene = await recorded();
  expect(await scene.answer({ outcome: 'refused', reason: 'NotOwned', message: 'another owner' })).toBe(true);
  const before = verbs(scene).length;
  scene.cluster.annotate('logs', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1');
  await settled();
  expect(scene.requests.map(({ data }) => data.retry)).toEqual([undefined, 1]);
  expect(verbs(scene).slice(before)).toEqual(['get', 'event', 'patch']);
});

it('what the object has become by the write counts, as where a webhook has changed it on the way (V10)', async () => {
  const scene = await Scene.start();
  await scene.deleted();
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async (path, operations, how) => {
    scene.cluster.patch = patch;
    const target = { op: 'add', path: '/spec/bucket', value: 'another' } as const;
    return await patch(path, [...operations, target], how);
  };
  await scene.clock.advance(QUIET_MS);
  expect(await scene.answer(gone)).toBe(true);
  expect(scene.finalizers()).toEqual([ENTRY]);
  expect(scene.standing()).toBe('Held TargetChanged');
});

it('an entry that goes with the write is found gone by the next look, as any (K5)', async () => {
  const scene = await Scene.start();
  await scene.deleted({ finalizers: [ENTRY, 'a/b'] });
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async (path, operations, how) => {
    scene.cluster.patch = patch;
    return await patch(path, [...operations, { op: 'remove', path: '/metadata/finalizers/0' }], how);
  };
  await scene.clock.advance(QUIET_MS);
  await settled();
  expect(scene.finalizers()).toEqual(['a/b']);
  expect(await scene.answer(gone)).toBe(true);
  expect(scene.bridge.pendings()).toEqual([]);
});

it('what is written by others since is read again', async () => {
  const scene = await recorded([ENTRY, 'a/b']);
  scene.cluster.change('logs', ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, finalizers: ['a/b', ENTRY] },
  }));
  await settled();
  expect(await scene.answer(gone)).toBe(true);
  expect(verbs(scene).filter((verb) => verb === 'get')).toHaveLength(2);
  expect(scene.finalizers()).toEqual(['a/b']);
});

describe('an answer that comes while a record is being written', () => {
  /** Answers while the record of the quiet time is on its way, and resolves to whether the answer was acknowledged. */
  async function answeredMeanwhile(scene: Scene, outcome: Outcome): Promise<boolean | undefined> {
    const patch = scene.cluster.patch.bind(scene.cluster);
    const meanwhile: { isDone?: Promise<boolean> } = {};
    scene.cluster.patch = async (...call) => {
      scene.cluster.patch = patch;
      meanwhile.isDone = scene.answer(outcome);
      await settled();
      return await patch(...call);
    };
    await scene.clock.advance(QUIET_MS);
    return await meanwhile.isDone;
  }

  it('is acknowledged only when a record has the refusal that it brought (P5)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };
    expect(await answeredMeanwhile(scene, refused)).toBe(true);
    expect(scene.record()).toMatchObject({ reason: 'NotOwned', refused: { reason: 'NotOwned' } });
  });

  it('is acknowledged only when a record says that the deletion has begun, where that matters (V16)', async () => {
    const rules = [ruleOf({ whenAbsent: 'Hold' })];
    const first = await Scene.start({ rules });
    await first.deleted();
    const begun: Outcome = { outcome: 'pending', reason: 'Deleting', message: 'it goes', progress: '1 of 2' };
    expect(await answeredMeanwhile(first, begun)).toBe(true);
    await first.bridge.stop();

    const second = await Scene.start({ after: first, rules });
    expect(await second.answer({ outcome: 'gone', evidence: 'absent' })).toBe(true);
    expect(second.cluster.peek('logs')).toBeUndefined();
  });

  it('is owed still where that record was not taken (P5)', async () => {
    const scene = await Scene.start({ rules: [ruleOf({ whenAbsent: 'Hold' })] });
    await scene.deleted();
    const patch = scene.cluster.patch.bind(scene.cluster);
    scene.cluster.patch = async () => {
      scene.cluster.patch = patch;
      throw new ApiError('patching logs', 500);
    };
    const begun: Outcome = { outcome: 'pending', reason: 'Deleting', message: 'it goes', progress: '1 of 2' };
    expect(await scene.answer(begun)).toBe(false);
    await scene.clock.advance(1_000);
    expect(scene.record()?.targets).toMatchObject([{ started: true }]);
  });
});
