/*
 * How long a message that stays is hidden.
 * Chance is an argument, so both ends of the jitter are exact.
 */
import { expect, it } from 'vitest';
import { backOffSeconds, runVisibilitySeconds, visibilityUntil } from '../../functions/visibility.ts';
import { NOW } from './fixtures.ts';

it('grows from 30 s to 15 min, jittered, and stays there', () => {
  const lowest = [1, 2, 3, 4, 5, 6, 7, 1000].map((count) => backOffSeconds(count, () => 0));
  const highest = [1, 2, 3, 4, 5, 6, 7, 1000].map((count) => backOffSeconds(count, () => 0.999_999));
  expect(lowest).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
  expect(highest).toEqual([45, 90, 180, 360, 720, 900, 900, 900]);
});

it('takes odd receive counts for the first', () => {
  expect(backOffSeconds(0, () => 0)).toBe(30);
});

it.each([
  [15_000, 15],
  [15_001, 16],
  [0, 1],
  [-60_000, 1],
  [24 * 3_600_000, 3600],
])('a retry asked for in %i ms comes after %i s', (delay, seconds) => {
  expect(visibilityUntil(new Date(NOW + delay).toISOString(), NOW)).toBe(seconds);
});

it('hides a message for its time budget and a minute while it is worked on (Q1)', () => {
  expect(runVisibilitySeconds(270)).toBe(330);
});
