/*
 * The blocks of a budget as plain values: for how long one counts under clocks that differ, and that making two into one
 * never lets more through. What is done with them is in brake.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockKey,
  countsFor,
  fitted,
  nextSize,
  type Reservation,
  readBlocks,
  writeBlocks,
} from '../../bridge/budget-blocks.ts';
import { holds } from '../support/property.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.parse('2026-03-02T09:30:00Z');
const at = { now: NOW, monotonic: 5 * HOUR };

const block = fc.record({
  time: fc.integer({ min: NOW - 2 * HOUR, max: NOW + 2 * MINUTE }),
  size: fc.integer({ min: 1, max: 100 }),
  holder: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
  metAt: fc.integer({ min: at.monotonic - 2 * HOUR, max: at.monotonic }),
});
const blocks = fc.array(block, { maxLength: 24 }).map((made) => made.sort((one, other) => one.time - other.time));

function taken(counted: readonly Reservation[], later: number): number {
  const then = { now: at.now + later, monotonic: at.monotonic + later };
  return counted.filter((one) => countsFor(one, HOUR, then) > 0).reduce((sum, { size }) => sum + size, 0);
}

describe('a block', () => {
  it.each([
    ['taken or met just now', 0, 0, HOUR + MINUTE],
    ['met long after it was taken', 50 * MINUTE, 0, HOUR + 3 * MINUTE - 50 * MINUTE],
    ['of a clock that is behind by two minutes', 2 * MINUTE, 0, HOUR + MINUTE],
    ['of a clock that is far ahead', -100 * HOUR, 0, HOUR + MINUTE],
    ['met a while ago', 10 * MINUTE, 10 * MINUTE, HOUR + MINUTE - 10 * MINUTE],
  ])('%s counts for the window and a minute, by the clock that tells it first', (_what, age, metAgo, left) => {
    const one = { time: NOW - age, size: 1, metAt: at.monotonic - metAgo };
    expect(countsFor(one, HOUR, at)).toBe(left);
  });

  it('is read as it was written, and was met when it was first', () => {
    const written = writeBlocks([
      { time: NOW - 7, size: 3, holder: 'a', metAt: 1 },
      { time: NOW, size: 2, metAt: 2 },
    ]);
    expect(readBlocks(written, new Map([[`${NOW - 7} a`, 1]]), at)).toEqual([
      { time: NOW - 7, size: 3, holder: 'a', metAt: 1 },
      { time: NOW, size: 2, holder: undefined, metAt: at.monotonic },
    ]);
  });

  it.each([undefined, {}, { reservations: 'none' }, { reservations: [{ time: 1 }] }])('is not in %j', (budget) => {
    expect(readBlocks(budget, new Map(), at)).toEqual([]);
  });
});

describe('the blocks of a status', () => {
  it('are read oldest first, in whatever order somebody has written them', () => {
    const times = [NOW, NOW - 3, NOW - 1, NOW - 2];
    const written = writeBlocks(times.map((time) => ({ time, size: 1, metAt: 0 })));
    expect(readBlocks(written, new Map(), at).map(({ time }) => time)).toEqual([...times].sort());
  });

  it('are told from each other by time and holder; those of nobody are nobody’s', () => {
    expect(blockKey({ time: NOW, holder: 'a' })).not.toBe(blockKey({ time: NOW, holder: 'b' }));
    expect(blockKey({ time: NOW, holder: 'a' })).not.toBe(blockKey({ time: NOW + 1, holder: 'a' }));
    expect(blockKey({ time: NOW })).toBe(blockKey({ time: NOW, holder: '' }));
  });

  it('are written without a holder where they have none: the API server takes no other', () => {
    expect(writeBlocks([{ time: NOW, size: 2, metAt: 1 }])).toStrictEqual({
      reservations: [{ time: '2026-03-02T09:30:00.000Z', size: 2 }],
    });
  });
});

describe('the next block', () => {
  const of = (...sizes: number[]) => sizes.map((size) => ({ time: NOW, size, metAt: 0 }));

  it.each([
    ['a tenth of the limit', 50, of(), 5],
    ['a tenth, rounded down', 59, of(5), 5],
    ['one token of a small budget', 9, of(), 1],
    ['one token of the smallest', 1, of(), 1],
    ['what is left, when that is less', 50, of(20, 20, 7), 3],
    ['nothing, when all are taken', 50, of(25, 25), 0],
    ['nothing, when more are taken than an edited limit allows', 10, of(25, 25), 0],
  ])('has %s', (_what, limit, counting, size) => {
    expect(nextSize(limit, counting)).toBe(size);
  });

  it('never lets the tokens be more than the limit (P5)', () => {
    holds(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), blocks, (limit, counting) => {
        const taken = counting.reduce((sum, { size }) => sum + size, 0);
        const size = nextSize(limit, counting);
        expect(size).toBeLessThanOrEqual(Math.max(1, limit / 10));
        expect(size).toBeLessThanOrEqual(Math.max(0, limit - taken));
        expect(size > 0).toBe(taken < limit);
      }),
    );
  });
});

describe('blocks that are too many', () => {
  it('become fewer without a token less, and at no later time let more through (P5)', () => {
    holds(
      fc.property(blocks, fc.integer({ min: 1, max: 12 }), fc.nat(3 * HOUR), (many, most, later) => {
        const few = fitted(many, most);
        expect(few.length).toBe(Math.min(many.length, most));
        expect(few.reduce((sum, { size }) => sum + size, 0)).toBe(many.reduce((sum, { size }) => sum + size, 0));
        expect(taken(few, later)).toBeGreaterThanOrEqual(taken(many, later));
      }),
      { numRuns: 500 },
    );
  });

  it('are joined where they are closest, under nobody’s name', () => {
    const many = [0, 10, 12, 30].map((time) => ({ time, size: 1, holder: 'a', metAt: time }));
    expect(fitted(many, 3)).toEqual([many[0], { time: 12, size: 2, metAt: 12 }, many[3]]);
    expect(fitted(many, 4)).toEqual(many);
  });
});
