/*
 * An answer that is acknowledged is not heard again, and who read it may die the moment after: what it was about is written down
 * before. Through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import { decodeRequest } from '../../bridge/contract.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled } from '../support/manual-clock.ts';

const DELETING = { outcome: 'pending', reason: 'Deleting', message: 'it is still there' } as const;

describe('an answer that ends nothing', () => {
  it('V10 is acknowledged when the object names what it was about, however young the deletion is', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    expect(scene.record()).toBeUndefined();
    expect(await scene.answer(DELETING)).toBe(true);
    const { targetDigest } = scene.request.data;
    expect(scene.record()?.targets).toMatchObject([{ target: targetDigest, requested: true }]);
  });

  it('P8 costs one record: those that follow within its minute cost none', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.answer(DELETING);
    const before = scene.cluster.count('patch');
    for (const left of ['9 left', '8 left', '7 left']) await scene.answer({ ...DELETING, message: left });
    expect(scene.cluster.count('patch') - before).toBe(0);
  });

  it('V10 V14 is not held to be written down by the record of a rule of the same name that went', async () => {
    const first = await Scene.start();
    await first.deleted();
    await first.answer(DELETING);
    await first.bridge.stop();
    expect(first.record()).toMatchObject({ ruleUid: `uid-of-${RULE}`, targets: [{ requested: true }] });

    const second = await Scene.start({ after: first, rules: [{ ...ruleOf(), uid: 'younger' }] });
    expect(second.request.data.rule.uid).toBe('younger');
    expect(await second.answer(DELETING)).toBe(true);
    expect(second.record()).toMatchObject({ ruleUid: 'younger', targets: [{ requested: true }] });
  });

  it('V8 V14 nor is a changed target', async () => {
    const first = await Scene.start();
    await first.deleted();
    first.retarget('another');
    await first.clock.advance(1_000);
    expect(first.record()).toMatchObject({ reason: 'TargetChanged' });
    await first.bridge.stop();

    const second = await Scene.start({ after: first, rules: [{ ...ruleOf(), uid: 'younger' }] });
    expect(second.request.data.target.bucket).toBe('another');
    first.retarget('third');
    await second.clock.advance(1_000);
    expect(second.record()).toMatchObject({ ruleUid: 'younger', reason: 'TargetChanged' });
  });
});

it('V10 P1 a gone that came too late is acknowledged when the object names what it was about: it may have been all that told of it', async () => {
  const rules = [ruleOf({ term: '30m' })];
  const first = await Scene.start({ rules });
  await first.deleted();
  await first.bridge.stop();
  await first.clock.advance(2 * 3_600_000);
  first.cluster.change('logs', (object) => ({ ...object, spec: { bucket: 'another' } }));

  const second = await Scene.start({ after: first, rules });
  const asked = second.request;
  expect(asked.data.target.bucket).toBe('another');
  expect(await second.answer({ outcome: 'gone', evidence: 'absent' }, first.requests[0])).toBe(true);
  await second.bridge.stop();

  const third = await Scene.start({ after: second, rules });
  await third.answer({ outcome: 'gone', evidence: 'deleted' }, asked);
  expect([third.standing(), third.finalizers()]).toEqual(['Held TargetChanged', [ENTRY]]);
});

it('P7 a refusal that comes before the queue has confirmed its request counts as any', async () => {
  const scene = await Scene.start();
  const confirm = Promise.withResolvers<void>();
  scene.queue.sending = async () => {
    await confirm.promise;
    return [];
  };
  await scene.deleted();
  const [body = ''] = scene.queue.calls.flatMap(({ batch }) => batch.map((message) => message.body));
  const sent = decodeRequest(body);
  if (!sent.ok) throw new Error(sent.detail);
  const answered = scene.answer({ outcome: 'refused', reason: 'NotOwned', message: 'another owner' }, sent.message);
  await settled();
  confirm.resolve();
  expect(await answered).toBe(true);
  expect(scene.standing()).toBe('Held NotOwned');
  expect(scene.record()).toMatchObject({ reason: 'NotOwned' });
});
