/*
 * The calls of a run by themselves: what a proof of ownership is worth when the machine's clock is set meanwhile, and
 * asking somebody who proves it himself.
 * What they do within a run is in run.test.ts.
 */
import { expect, it } from 'vitest';
import { type CallKind, createCalls } from '../../functions/calls.ts';
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

it('lets who proves ownership himself be asked without a proof, once, and not after the signal (F6)', async () => {
  const seen: CallKind[] = [];
  const run = new AbortController();
  const calls = createCalls({
    ...{ clock: virtualClock(NOW), errors: {}, random: () => 0, log: memoryLog(), signal: run.signal },
    observe: (_call, kind) => seen.push(kind),
    ownership: { tags: { [OWNER_TAG]: UID } },
  });
  expect(await calls.ask('thing:Ask', async () => 'asked')).toMatchObject({ means: 'done', value: 'asked' });
  const throttled = Object.assign(new Error('no'), { name: 'SlowDown' });
  await expect(calls.ask('thing:Ask', () => Promise.reject(throttled))).rejects.toThrow('calling thing:Ask: SlowDown');
  run.abort();
  await expect(calls.ask('thing:Ask', async () => 'asked')).rejects.toThrow('the time of this run is used up');
  expect(seen).toEqual(['ask', 'ask']);
});
