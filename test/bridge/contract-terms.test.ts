/*
 * The arithmetic of terms under clocks that are wrong by up to a minute each:
 * attempts, expiry, and the end of all runs that are possible.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attemptAt,
  attemptBegins,
  CALL_TIMEOUT_MS,
  CLOCK_SKEW_MS,
  deletionBegan,
  expiresAt,
  isExpired,
  isGoneInTime,
  makeRequest,
  possibleRunsEnd,
  possibleRunsEndOfAnyTerm,
  runEndsBy,
  TERM_DEFAULT_MS,
  TERM_MAX_MS,
  TERM_MIN_MS,
  type Terms,
} from '../../bridge/contract.ts';
import { plainInput } from '../support/golden.ts';
import { holds } from '../support/property.ts';

const began = fc.integer({ min: 0, max: 4_000_000_000_000 });
const term = fc.integer({ min: TERM_MIN_MS, max: TERM_MAX_MS });
const terms: fc.Arbitrary<Terms> = fc.record({ began, term });
const skew = fc.integer({ min: -CLOCK_SKEW_MS, max: CLOCK_SKEW_MS });
const age = fc.oneof(fc.integer({ min: 0, max: 30 * 24 * 3_600_000 }), fc.integer({ min: 0, max: 180_000 }));

describe('attempts', () => {
  it('are never negative, however far behind a clock is (V19)', () => {
    holds(
      fc.property(terms, fc.integer({ min: -4_000_000_000_000, max: 4_000_000_000_000 }), (of, now) => {
        const attempt = attemptAt(of, now);
        expect(attempt).toBeGreaterThanOrEqual(0);
        expect(Number.isSafeInteger(attempt)).toBe(true);
        expect(Object.is(attempt, -0)).toBe(false);
      }),
    );
  });

  it('cover time without gaps, each from its beginning to the next', () => {
    holds(
      fc.property(terms, fc.nat({ max: 10_000 }), (of, attempt) => {
        expect(attemptAt(of, attemptBegins(of, attempt))).toBe(attempt);
        expect(attemptAt(of, attemptBegins(of, attempt + 1) - 1)).toBe(attempt);
      }),
    );
  });

  it('leave every request at least a whole term to live when it is sent in its term (V19)', () => {
    holds(
      fc.property(terms, age, (of, since) => {
        const now = of.began + since;
        const life = expiresAt(of, attemptAt(of, now)) - now;
        expect(life).toBeGreaterThan(of.term);
        expect(life).toBeLessThanOrEqual(2 * of.term);
      }),
    );
  });

  it('have terms long enough that the margins leave room to work', () => {
    expect(TERM_MIN_MS).toBeGreaterThan(4 * (2 * CLOCK_SKEW_MS + CALL_TIMEOUT_MS));
    expect(TERM_DEFAULT_MS).toBeGreaterThanOrEqual(TERM_MIN_MS);
    expect(TERM_DEFAULT_MS).toBeLessThanOrEqual(TERM_MAX_MS);
  });
});

describe('the end of all runs that are possible', () => {
  it('is not before the expiry and 90 s of anything sent, whoever sent it and whatever its clock said (V4)', () => {
    holds(
      fc.property(terms, age, age, skew, skew, (of, sentAfter, later, senderSkew, ourSkew) => {
        const sent = of.began + sentAfter;
        const ours = sent + later + ourSkew;
        const request = expiresAt(of, attemptAt(of, sent + senderSkew));
        expect(possibleRunsEnd(of, ours)).toBeGreaterThanOrEqual(request + CLOCK_SKEW_MS + CALL_TIMEOUT_MS);
        expect(possibleRunsEndOfAnyTerm(ours)).toBeGreaterThanOrEqual(runEndsBy(request));
      }),
      { numRuns: 2000 },
    );
  });

  it('counts the request of the next term as sent already, two skews before that begins (V4)', () => {
    const of = { began: 0, term: TERM_MIN_MS };
    const next = TERM_MIN_MS - 2 * CLOCK_SKEW_MS;
    expect(possibleRunsEnd(of, next - 1)).toBe(2 * TERM_MIN_MS + 90_000);
    expect(possibleRunsEnd(of, next)).toBe(3 * TERM_MIN_MS + 90_000);
  });

  it('never moves back as time goes on', () => {
    holds(
      fc.property(terms, age, age, (of, first, second) => {
        const [early, late] = [Math.min(first, second), Math.max(first, second)];
        expect(possibleRunsEnd(of, of.began + late)).toBeGreaterThanOrEqual(possibleRunsEnd(of, of.began + early));
      }),
    );
  });
});

describe('expiry', () => {
  it('is strict for the function: nothing starts after it in true time (V18)', () => {
    holds(
      fc.property(began, age, skew, (expires, offset, error) => {
        for (const now of [expires + offset, expires - offset]) {
          if (!isExpired(expires, now + error)) expect(now).toBeLessThan(expires);
        }
      }),
    );
  });

  it('is generous for the bridge: a gone from a run that ended in time counts when it comes in time (V18)', () => {
    holds(
      fc.property(began, age, skew, (expires, before, error) => {
        expect(isGoneInTime(expires, expires - before + error)).toBe(true);
        expect(isGoneInTime(expires, expires + 2 * CLOCK_SKEW_MS + 1 + before + error)).toBe(false);
      }),
    );
  });

  it.each([
    [-60_001, false, true],
    [-60_000, true, true],
    [0, true, true],
    [60_000, true, true],
    [60_001, true, false],
  ])('%i ms from it: expired for the function %s, gone still counts %s', (offset, expired, counts) => {
    const expires = 1_772_444_000_000;
    expect(isExpired(expires, expires + offset)).toBe(expired);
    expect(isGoneInTime(expires, expires + offset)).toBe(counts);
  });
});

describe('the beginning of a deletion', () => {
  it('lies before the deletionTimestamp by the grace period (K31)', () => {
    expect(deletionBegan('2026-03-02T09:30:00Z')).toBe(Date.parse('2026-03-02T09:30:00Z'));
    expect(deletionBegan('2026-03-02T09:30:00Z', 300)).toBe(Date.parse('2026-03-02T09:25:00Z'));
  });

  it('decides when the request of an attempt begins and expires', () => {
    const { time, data } = makeRequest({ ...plainInput, gracePeriodSeconds: 300, attempt: 3, term: 1_800_000 });
    expect(time).toBe('2026-03-02T10:55:00.000Z');
    expect(data.expires).toBe('2026-03-02T11:55:00.000Z');
  });
});
