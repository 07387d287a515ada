/*
 * Lanes: work that hangs in one never holds up the others, and all are taken in turn.
 * What runs in them is in work-queue.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { Lanes } from '../../bridge/lanes.ts';

const laneOf = (key: string) => key.slice(key.indexOf('/') + 1);
const lanesOf = (places: number, ...keys: readonly string[]) => {
  const lanes = new Lanes({ laneOf, places });
  for (const key of keys) lanes.add(key);
  return lanes;
};

describe('lanes', () => {
  it('give a lane no more places than it has, and the others theirs (P10)', () => {
    const lanes = lanesOf(2, '1/hung', '2/hung', '3/hung', '4/well');
    const taken = [lanes.take(), lanes.take(), lanes.take(), lanes.take()];
    expect(taken).toEqual(['1/hung', '4/well', '2/hung', undefined]);
    lanes.done('1/hung');
    expect(lanes.take()).toBe('3/hung');
  });

  it('take turns, so that many of one do not come before few of another', () => {
    const lanes = lanesOf(10, '1/a', '2/a', '3/a', '1/b', '1/c');
    expect([1, 2, 3, 4, 5].map(() => lanes.take())).toEqual(['1/a', '1/b', '1/c', '2/a', '3/a']);
    expect(lanes.take()).toBeUndefined();
  });

  it('hold a key once, however often it is added', () => {
    const lanes = lanesOf(1, '1/a', '1/a');
    expect(lanes.ready).toBe(1);
    expect([lanes.take(), lanes.take()]).toEqual(['1/a', undefined]);
    lanes.done('1/a');
    expect(lanes.take()).toBeUndefined();
  });

  it('forget what is ready when cleared, and not what is taken', () => {
    const lanes = lanesOf(1, '1/a', '2/a');
    expect(lanes.take()).toBe('1/a');
    lanes.clear();
    lanes.add('3/a');
    expect(lanes.take()).toBeUndefined();
    lanes.done('1/a');
    expect(lanes.take()).toBe('3/a');
  });

  it('give what is urgent before what is only ready, once, and within the places of the lane', () => {
    const lanes = lanesOf(2, '1/a', '2/a', '3/a', '1/b');
    lanes.add('3/a', true);
    lanes.add('9/a', true);
    lanes.add('9/a');
    expect(lanes.ready).toBe(5);
    expect([1, 2, 3, 4].map(() => lanes.take())).toEqual(['3/a', '1/b', '9/a', undefined]);
    lanes.done('3/a');
    expect(lanes.take()).toBe('1/a');
    lanes.clear();
    expect(lanes.ready).toBe(0);
  });
});
