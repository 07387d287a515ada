/*
 * Durations in Go's notation, as rules and configuration have them:
 * what is one, what is none, and how one is written.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../bridge/duration.ts';
import { holds } from '../support/property.ts';

describe('durations', () => {
  it.each([
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1h1m1s1ms', 3_661_001],
    ['250ms', 250],
    ['1500us', 2],
    ['0', 0],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    '10',
    '1d',
    '-1h',
    '+1h',
    '1h ',
    ' 1h',
    '1 h',
    'h',
    '1h30',
    '1H',
    '1..5h',
    '.h',
    '1e3s',
    '9'.repeat(60),
    'Infinityh',
  ])('"%s" is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('too large to be counted in ms are none', () => {
    expect(parseDuration(`${'9'.repeat(20)}h`)).toBeUndefined();
  });

  it('are read as they are written', () => {
    holds(
      fc.property(fc.nat({ max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
    expect(formatDuration(5_400_000)).toBe('1h30m');
    expect(formatDuration(0)).toBe('0s');
  });
});
