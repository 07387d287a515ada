/*
 * What the benchmark of emptying buckets makes of its figures: medians, how many times as fast the handler is, by how much its
 * memory grows, and which budgets that keeps. What it measures is not tested here, nor judged.
 */
import { expect, it } from 'vitest';
import { bucketReportOf, bucketTextOf, type Emptied } from './bucket-report.ts';

const emptied = (name: Emptied['name'], seconds: number, rest: Partial<Emptied> = {}): Emptied => ({
  ...{ name, kind: 'versioned', versions: 10_000, figures: { seconds, cpuSeconds: 2, peakMb: 150 } },
  ...rest,
});
const small = (peakMb: number) =>
  emptied('s3-bucket', 1, { versions: 2_000, figures: { seconds: 1, cpuSeconds: 1, peakMb } });

it('compares the medians of the rounds, kind by kind, and says which budgets they keep', () => {
  const report = bucketReportOf([
    ...[emptied('s3-bucket', 2), emptied('s3-bucket', 9), emptied('s3-bucket', 2.5), small(120), small(130), small(80)],
    ...[emptied('loop', 5), emptied('loop', 4), emptied('loop', 3)],
    ...[emptied('aws-cli', 25), emptied('aws-cli', 25), emptied('aws-cli', 40)],
  ]);
  expect([report.rounds, report.versions]).toEqual([3, 10_000]);
  expect(report.lines).toEqual([
    {
      ...{ name: 's3-bucket', kind: 'versioned', keepsBudget: true },
      figures: { perSecond: 4_000, cpuMs: 0.2, peakMb: 150, growthMb: 30 },
    },
    {
      name: 'loop',
      kind: 'versioned',
      figures: { perSecond: 2_500, cpuMs: 0.2, peakMb: 150, times: 1.6 },
      keepsBudget: true,
    },
    {
      name: 'aws-cli',
      kind: 'versioned',
      figures: { perSecond: 400, cpuMs: 0.2, peakMb: 150, times: 10 },
      keepsBudget: false,
    },
  ]);
  const text = bucketTextOf(report);
  expect(text).toContain('medians of 3, 10000 versions');
  expect(text).toMatch(/versioned: aws-cli .*times 10\.0 {2}MISSES its budget of 15 times/);
  expect(text).toMatch(/versioned: s3-bucket .*growthMb 30\.0 {2}keeps its budget of/);
});

it('holds what is plain against what is plain', () => {
  const plain = (name: Emptied['name'], seconds: number) => emptied(name, seconds, { kind: 'plain' });
  const { lines } = bucketReportOf([
    ...[plain('s3-bucket', 1), emptied('s3-bucket', 4)],
    ...[plain('rclone', 3), emptied('rclone', 4)],
  ]);
  expect(lines.map(({ kind, name, figures, keepsBudget }) => [kind, name, figures.times, keepsBudget])).toEqual([
    ['plain', 's3-bucket', undefined, undefined],
    ['plain', 'rclone', 3, true],
    ['versioned', 's3-bucket', undefined, undefined],
    ['versioned', 'rclone', 1, false],
  ]);
});
