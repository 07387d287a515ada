/*
 * The books by which a budget is judged in worlds of many deletions: they must neither miss what was sent too soon (P5) nor take
 * for it what a slow wire has brought together.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from '../support/property.ts';
import { Firsts } from './fleet/firsts.ts';

const WINDOW = 600;

describe('the first requests of a rule', () => {
  it('P5 are counted by the time of sending, whatever order they come in', () => {
    holds(
      fc.property(fc.array(fc.nat({ max: 3_000 }), { minLength: 1, maxLength: 30 }), (times) => {
        const firsts = new Firsts();
        const found = Math.max(...times.map((time) => firsts.add(time, WINDOW)));
        const within = (from: number) => times.filter((time) => time >= from && time < from + WINDOW).length;
        expect(found).toBe(Math.max(...times.map(within)));
      }),
    );
  });

  it('P5 are not too many where one that was sent a window before arrives among the others', () => {
    const firsts = new Firsts();
    expect([1_000, 1_100, 400].map((time) => firsts.add(time, WINDOW))).toEqual([1, 2, 1]);
    expect(firsts.add(500, WINDOW)).toBe(2);
  });
});
