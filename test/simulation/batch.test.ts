/*
 * Which worlds a run is made of: in the order of their seeds, as many as its deletions need, whoever was faster.
 * Of reports that a test makes up; that threads run the same worlds is shown in fleet.slow.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { enough, type WorldReport, worldsFrom } from './fleet/batch.ts';

const report = (seed: number, deleted: number): WorldReport => ({
  ...{ seed, deletions: deleted, deleted, hash: String(seed), virtualMs: 1, steps: 1, faults: {}, broken: [] },
});
const of = (...reports: readonly WorldReport[]) => new Map(reports.map((one) => [one.seed, one]));

describe('the worlds of a run', () => {
  it('have a seed each, take turns in size, and are none larger than the run', () => {
    const worlds = worldsFrom(13, 500).take(6).toArray();
    expect(worlds.map(({ seed }) => seed)).toEqual([13, 14, 15, 16, 17, 18]);
    expect(new Set(worlds.map(({ deletions }) => deletions))).toEqual(new Set([500, 200, 40]));
    expect(worldsFrom(15, 500).next().value).toEqual(worlds[2]);
  });

  it('are enough only when no earlier one is still running', () => {
    expect(enough(of(report(1, 10), report(3, 90)), 1, 50)).toBeUndefined();
    expect(enough(of(report(1, 10), report(2, 10), report(3, 90)), 1, 50)).toHaveLength(3);
  });

  it('that were run beyond what is needed do not count', () => {
    const reports = of(report(3, 90), report(1, 10), report(2, 40));
    expect(enough(reports, 1, 50)?.map(({ seed }) => seed)).toEqual([1, 2]);
    expect(enough(new Map(), 1, 50)).toBeUndefined();
  });
});
