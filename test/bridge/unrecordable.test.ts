/*
 * Objects whose record the API server refuses, as where their annotations are full: the real reason stays readable
 * elsewhere (P7). What must be written down before its message goes keeps the message in its queue (P5).
 */
import { expect, it } from 'vitest';
import { ApiError, type PatchOutcome } from '../../bridge/ports.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';
import { RuleScene } from '../support/rule-scene.ts';

const FULL = 'annotations: Too long';

/** How the API server refuses a record: by itself, or with the status that a webhook or a policy of somebody has chosen. */
const refusals: readonly { readonly how: string; readonly refuse: () => PatchOutcome }[] = [
  { how: 'by the API server', refuse: () => ({ kind: 'conflict', said: FULL }) },
  ...[400, 403, 413].map((status) => ({
    how: `with ${status}`,
    refuse: () => {
      throw new ApiError('patching buckets/team-a/logs', status, { body: FULL });
    },
  })),
];
const [byItself] = refusals;

/** One object that is being deleted, on which nothing can be recorded. */
async function full(
  spec: Readonly<Record<string, unknown>> = { bucket: 'team-a-logs' },
  refuse = byItself?.refuse,
): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs', { spec });
  await scene.clock.advance(1_000);
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async (path, operations, subresource) =>
    refuse !== undefined && operations.some((operation) => operation.path.startsWith('/metadata/annotations'))
      ? refuse()
      : await patch(path, operations, subresource);
  await scene.delete('logs');
  await scene.clock.advance(1_000);
  return scene;
}
const said = ({ bridge }: RuleScene) => bridge.pendings()[0]?.standing?.message;

it.each(refusals)(
  'a refusal that cannot be recorded ($how) keeps its reason, and its result does not stay in the queue for ever (P5, P7)',
  async ({ refuse }) => {
    const scene = await full(undefined, refuse);
    expect(await scene.answer('logs', { outcome: 'refused', reason: 'NotOwned', message: 'another owner' })).toBe(true);
    await scene.clock.advance(5 * 60_000);
    expect(scene.standing('logs')).toBe('Held NotOwned');
    expect(said(scene)).toBe(`another owner; cannot be recorded: ${FULL}`);
    expect(scene.cluster.events.map(({ message }) => message).join()).toContain('NotOwned since');
    await scene.stop();
  },
);

it.each(refusals)(
  'a reason that only people wait for is told elsewhere ($how), and its record tried again without failing (P7)',
  async ({ refuse }) => {
    const scene = await full({}, refuse);
    await scene.clock.advance(5 * 60_000);
    expect(scene.standing('logs')).toBe('Held TargetMissing');
    expect(said(scene)).toContain(`; cannot be recorded: ${FULL}`);
    expect(scene.kept.lines.filter(({ message }) => message.startsWith('settling an object'))).toEqual([]);
    await scene.stop();
  },
);

it('a right that is lost is no refusal of a record: nothing can be read either, and that is told as failing', async () => {
  const scene = await full({}, () => {
    scene.cluster.before = ({ verb }) => {
      if (verb === 'get') throw new ApiError('getting logs', 403);
    };
    throw new ApiError('patching logs', 403);
  });
  await scene.clock.advance(60_000);
  expect(scene.standing('logs')).toBe('Held Failing');
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
it('an answer about another target than the live one stays in its queue: nothing else would tell whoever leads next (P1, V10)', async () => {
  const slow = { outcome: 'pending', reason: 'Deleting', message: 'it goes slowly' } as const;
  const first = await Scene.start();
  const patch = first.cluster.patch.bind(first.cluster);
  first.cluster.patch = async (path, operations, how) =>
    operations.some((operation) => operation.path.startsWith('/metadata/annotations'))
      ? { kind: 'conflict', said: FULL }
      : await patch(path, operations, how);
  await first.deleted();
  expect(await first.answer(slow)).toBe(true);
  await first.bridge.stop();
  first.cluster.change('logs', (object) => ({ ...object, spec: { bucket: 'another' } }));

  const second = await Scene.start({ after: first });
  expect(second.request.data.target.bucket).toBe('another');
  expect(await second.answer(slow, first.requests[0])).toBe(false);
  first.cluster.patch = patch;
  await second.clock.advance(60_000);
  expect(await second.answer(slow, first.requests[0])).toBe(true);
  expect(second.record()?.targets).toHaveLength(2);
});
