/*
 * Who is told of a message in the model of a queue: one of those that wait, and another one when that one does not take it.
 * Long polls of SQS are answered so; what else a queue does is in models.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { VirtualTime } from './clock.ts';
import { SimulatedQueue } from './queue.ts';

/** A queue, and waiters that take what they are told of, or do not. */
function bench() {
  const time = new VirtualTime();
  const settings = { visibilityMs: 60_000, maxReceiveCount: 3, copies: 0, delayMs: 0, shuffled: false };
  const queue = new SimulatedQueue({ time, random: () => 0.5 }, 'https://queues.example.com/some', settings);
  const told: string[] = [];
  const waits = (name: string, takes: boolean, isWaiting = true) =>
    queue.whenVisible(
      () => {
        told.push(name);
        if (takes) queue.receive(1);
      },
      () => isWaiting,
    );
  const passes = async (ms: number) => void (await time.run(time.now() + ms, () => false));
  return { queue, told, waits, passes };
}

describe('a message that comes while several wait', () => {
  it('is told to one of them, the next one to the next', async () => {
    const { queue, told, waits, passes } = bench();
    for (const name of ['a', 'b', 'c']) waits(name, true);
    queue.send('first', 'sender');
    await passes(1);
    expect(told).toEqual(['a']);
    queue.send('second', 'sender');
    await passes(10_000);
    expect(told).toEqual(['a', 'b']);
  });

  it('is told to the next one when the first does not take it, and to nobody who waits no more', async () => {
    const { queue, told, waits, passes } = bench();
    waits('dead', true, false);
    waits('crashes', false);
    waits('takes it', true);
    queue.send('only', 'sender');
    await passes(1);
    expect(told).toEqual(['crashes']);
    await passes(10_000);
    expect(told).toEqual(['crashes', 'takes it']);
  });
});
