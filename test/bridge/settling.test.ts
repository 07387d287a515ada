/*
 * The two waits of a withdrawal: what is let go a moment too early leaves an object that nothing ever frees (P9, K25). Through the
 * whole bridge in withdrawal.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { injectsFor, SETTLE_MS, type Settling, sawCarriers, sawNobody } from '../../bridge/settling.ts';

it('entries may still come at birth for a minute after a rule is known to be deleted, and not after that', () => {
  const settling: Settling = { seenAt: 5_000, cleanSince: undefined };
  expect(
    [5_000, 6_000, 5_000 + SETTLE_MS - 1, 5_000 + SETTLE_MS, 900_000].map((now) => injectsFor(settling, now)),
  ).toEqual([...[SETTLE_MS, SETTLE_MS - 1_000, 1, 0, 0]]);
  expect(SETTLE_MS).toBe(60_000);
});

describe('a list that shows nobody', () => {
  it('is the last one when another was clean a minute before it, and no earlier', () => {
    const settling: Settling = { seenAt: 0, cleanSince: undefined };
    expect([100_000, 100_001, 100_000 + SETTLE_MS - 1].map((at) => sawNobody(settling, at))).toEqual([
      ...[SETTLE_MS, SETTLE_MS - 1, 1],
    ]);
    expect([100_000 + SETTLE_MS, 900_000].map((at) => sawNobody(settling, at))).toEqual([0, 0]);
  });

  it('is the first again after one that showed somebody, or could not be had', () => {
    const settling: Settling = { seenAt: 0, cleanSince: undefined };
    sawNobody(settling, 100_000);
    sawCarriers(settling);
    expect(sawNobody(settling, 100_000 + 2 * SETTLE_MS)).toBe(SETTLE_MS);
  });
});
