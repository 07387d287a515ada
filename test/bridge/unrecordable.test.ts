/*
 * Objects whose record the API server refuses, as where their annotations are full: the real reason stays readable
 * elsewhere (P7). What must be written down before its message goes keeps the message in its queue (P5).
 */
import { expect, it } from 'vitest';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const FULL = 'annotations: Too long';

/** One object that is being deleted, on which nothing can be recorded. */
async function full(spec: Readonly<Record<string, unknown>> = { bucket: 'team-a-logs' }): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs', { spec });
  await scene.clock.advance(1_000);
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async (path, operations, subresource) =>
    operations.some((operation) => operation.path.startsWith('/metadata/annotations'))
      ? { kind: 'conflict', said: FULL }
      : await patch(path, operations, subresource);
  await scene.delete('logs');
  await scene.clock.advance(1_000);
  return scene;
}
const said = ({ bridge }: RuleScene) => bridge.pendings()[0]?.standing?.message;

it('a refusal that cannot be recorded keeps its reason, and its result does not stay in the queue for ever (P5, P7)', async () => {
  const scene = await full();
  expect(await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'another owner' })).toBe(true);
  await scene.clock.advance(5 * 60_000);
  expect(scene.standing('logs')).toBe('Held NotOwned');
  expect(said(scene)).toBe(`another owner; cannot be recorded: ${FULL}`);
  expect(scene.cluster.events.map(({ message }) => message).join()).toContain('NotOwned since');
  await scene.stop();
});

it('a reason that only people wait for is told elsewhere, and its record tried again without failing (P7)', async () => {
  const scene = await full({});
  await scene.clock.advance(5 * 60_000);
  expect(scene.standing('logs')).toBe('Held TargetMissing');
  expect(said(scene)).toContain(`; cannot be recorded: ${FULL}`);
  expect(scene.kept.lines.filter(({ message }) => message.startsWith('settling an object'))).toEqual([]);
  await scene.stop();
});

it('an object that moves while its record is on the way is only looked at again: nothing keeps it from being recorded', async () => {
  const scene = await Scene.start();
  await scene.deleted();
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async (...call) => {
    scene.cluster.patch = patch;
    // Another rule's record, say: the watch shows it before the answer comes.
    scene.cluster.annotate('logs', 'status.finalizer-bridge.dev/other', '{}');
    await settled();
    return await patch(...call);
  };
  await scene.clock.advance(35_000);
  expect(scene.record()).toMatchObject({ reason: 'Requested', message: 'waiting for the result' });
  expect(scene.standing()).toBe('Pending Requested');
});
