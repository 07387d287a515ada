/*
 * What people can see of a deletion that takes too long or fails again and again: held past its deadline, or failing, and
 * why. Through the whole bridge over fakes; what stands there before that is in standing.test.ts.
 */
import { expect, it } from 'vitest';
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
