/*
 * How long is waited before something is done again: what waits too little storms a server that is down, what waits too long
 * stands still when it could go on (P4).
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { doubled } from '../../bridge/doubling.ts';
import { holds } from '../support/property.ts';

it('a wait is the first, and twice as long each time, and never longer than the most', () => {
  const waits = Array.from({ length: 7 }, (_, times) => doubled({ first: 200, most: 5_000 }, times));
  expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

it('a wait never becomes shorter, and is a number however often it was doubled', () => {
  const bounds = fc.record({ first: fc.integer({ min: 1, max: 60_000 }), more: fc.nat(86_400_000) });
  holds(
    fc.property(bounds, fc.nat(100_000), ({ first, more }, times) => {
      const doubling = { first, most: first + more };
      const wait = doubled(doubling, times);
      expect(wait).toBeGreaterThanOrEqual(first);
      expect(wait).toBeLessThanOrEqual(doubling.most);
      expect(doubled(doubling, times + 1)).toBeGreaterThanOrEqual(wait);
    }),
  );
});
