/*
 * The calls of a run by themselves: what a proof of ownership is worth when the machine's clock is set meanwhile.
 * What they do within a run is in run.test.ts.
 */
import { expect, it } from 'vitest';
import { createCalls } from '../../functions/calls.ts';
import { memoryLog, NOW, OWNER_TAG, UID, virtualClock } from './fixtures.ts';

const owned = new Map([[OWNER_TAG, UID]]);

it('judges the age of a proof by a clock that nobody sets (V13)', async () => {
  const clock = virtualClock(NOW);
  let set = 0;
  const beingSet = { ...clock, now: () => clock.now() + set };
  const calls = createCalls({
    ...{ clock: beingSet, errors: {}, random: () => 0, log: memoryLog() },
    signal: new AbortController().signal,
    ownership: { tags: { [OWNER_TAG]: UID } },
  });
  calls.prove(owned);
  set = -3_600_000;
  await clock.advance(5001);
  await expect(calls.destroy('thing:Delete', async () => {})).rejects.toThrow('5001 ms ago');
  calls.prove(owned);
  set = 3_600_000;
  expect(await calls.destroy('thing:Delete', async () => 'deleted')).toMatchObject({ means: 'done' });
});
