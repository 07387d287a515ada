/*
 * What people can see of a deletion that takes too long or fails again and again: held past its deadline, or failing, and
 * why. Through the whole bridge over fakes; what stands there before that is in standing.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { counts, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

it('marks a deletion as held past its deadline, and goes on trying', async () => {
  const scene = await Scene.start({ rules: [ruleOf({ deadline: '2h' })] });
  await scene.deleted();
  await scene.clock.advance(2.5 * 3_600_000);
  expect(scene.requests.map(({ data }) => data.attempt)).toEqual([0, 1, 2]);
  await scene.clock.advance(3_600_000);
  expect(scene.standing()).toBe('Held DeadlineExceeded');
  expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'DeadlineExceeded' });
  expect(scene.requests).toHaveLength(4);
  expect(await counts(scene.metrics.overdue)).toEqual({ [RULE]: 1 });
});

it('marks it when the deadline passes, not when the term ends (P7)', async () => {
  const scene = await Scene.start({ rules: [ruleOf({ deadline: '10m' })] });
  await scene.deleted();
  await scene.clock.advance(9 * 60_000);
  expect(scene.standing()).toBe('Pending Requested');
  await scene.clock.advance(2 * 60_000);
  expect(scene.standing()).toBe('Held DeadlineExceeded');
  expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'DeadlineExceeded' });
});

it('says on the object why it fails, when it fails again and again (P7, K29)', async () => {
  const scene = await Scene.start();
  scene.queue.sending = () => Promise.reject(new Error('the queue is down'));
  await scene.deleted();
  await scene.clock.advance(60_000);
  expect(scene.standing()).toBe('Held Failing');
  expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'Failing' });
  expect(scene.record()?.message).toContain('the queue is down');
});

describe('since when it is held', () => {
  const DAY = 24 * 3_600_000;
  const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'the owner tag is another one' };
  const since = (scene: Scene) => Date.parse(scene.record()?.since ?? '');

  it('is when the latest answer came, where it was asked again when it was due (P7)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.answer(refused);
    const first = since(scene);
    await scene.clock.advance(DAY - 10_000);
    const asked = scene.requests.length;
    for (let second = 0; scene.requests.length === asked && second < 60; second += 1) await scene.clock.advance(1_000);
    const answered = scene.clock.now();
    await scene.answer(refused);
    await scene.clock.advance(120_000);
    expect(scene.standing()).toBe('Held NotOwned');
    expect([first < answered, since(scene)]).toEqual([true, answered]);
  });

  it('is what the record says, over a restart, until something else stood there', async () => {
    const first = await Scene.start();
    await first.deleted();
    await first.answer(refused);
    const before = since(first);
    await first.clock.advance(300_000);
    await first.bridge.stop();
    const second = await Scene.start({ after: first });
    await second.clock.advance(300_000);
    expect([second.standing(), since(second)]).toEqual(['Held NotOwned', before]);
    second.cluster.annotate('logs', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1');
    await second.clock.advance(5_000);
    const answered = second.clock.now();
    await second.answer(refused);
    await second.clock.advance(120_000);
    expect(since(second)).toBe(answered);
  });
});
