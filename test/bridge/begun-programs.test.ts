/*
 * Programs that live on though they were to be ended: what waits for them piles up no more than they do. Over real processes; how
 * they are ended is in cluster-credentials.test.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';
import { BegunPrograms } from '../../bridge/begun-programs.ts';
import { ManualClock } from '../support/manual-clock.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function begun() {
  const clock = new ManualClock();
  const programs = new BegunPrograms(clock);
  const child = await programs.run(async () => spawn('sleep', ['60']));
  children.push(child);
  return { clock, programs, child };
}

it('one that cannot be ended is listened to once, however often it is asked whether it is over', async () => {
  const { clock, programs, child } = await begun();
  const before = child.listenerCount('exit');
  for (let round = 0; round < 20; round += 1) {
    const asked = programs.areOver();
    await clock.advance(1_000);
    expect(await asked).toBe(false);
  }
  expect(child.listenerCount('exit') - before).toBeLessThanOrEqual(1);
});

it('all who ask are told when the last one is over', async () => {
  const { programs, child } = await begun();
  const asked = [programs.areOver(), programs.areOver()];
  child.kill('SIGKILL');
  expect(await Promise.all(asked)).toEqual([true, true]);
  expect(await programs.areOver()).toBe(true);
});
