/*
 * What the benchmark of emptying buckets says: medians over the rounds, how many times as fast the handler s3-bucket is as each
 * of the others, and whether that keeps the budgets. Called by empty-bucket.ts, last.
 */
import { cpus } from 'node:os';
import type { BucketKind, ContenderName } from './bucket-contenders.ts';
import { mediansOf, rowOf } from './report.ts';
import type { Figures } from './scenes.ts';

/** How many times as fast the handler has to be. */
export const BUDGETS: Readonly<Partial<Record<ContenderName, number>>> = { loop: 1.5, rclone: 2.5, 'aws-cli': 15 };
/**
 * By how many MB its peak may be higher with five times as many versions: what V8 lets lie before it collects, up to 100,000 or
 * so. That no key is kept is shown by a test of the heap.
 */
export const GROWTH_MAX_MB = 80;

/** One bucket emptied; `versions` is what it held. */
export interface Emptied {
  readonly name: ContenderName;
  readonly kind: BucketKind;
  readonly versions: number;
  readonly figures: Figures;
}

/** What one of them needed for one kind of bucket. */
export interface Line {
  readonly name: ContenderName;
  readonly kind: BucketKind;
  /** `perSecond`, `cpuMs` per version, `peakMb`; of the handler `growthMb`; of the others `times`: the handler's rate by theirs. */
  readonly figures: Figures;
  /** Undefined where there is nothing to keep. */
  readonly keepsBudget?: boolean;
}

/** The report as one document. */
export interface BucketReport {
  readonly machine: { readonly cores: number; readonly model: string; readonly node: string };
  readonly versions: number;
  readonly rounds: number;
  readonly budgets: typeof BUDGETS;
  readonly lines: readonly Line[];
}

/** Makes the report; the handler also emptied smaller buckets, by which its memory is judged. */
export function bucketReportOf(emptied: readonly Emptied[]): BucketReport {
  const versions = Math.max(...emptied.map((one) => one.versions));
  const large = emptied.filter((one) => one.versions === versions);
  const kinds = [...new Set(large.map(({ kind }) => kind))];
  const names = [...new Set(large.map(({ name }) => name))];
  const lines = kinds.flatMap((kind) => {
    const of = (name: ContenderName, among = large) =>
      medianOf(among.filter((one) => one.name === name && one.kind === kind));
    const own = of('s3-bucket');
    const small = of(
      's3-bucket',
      emptied.filter((one) => one.versions < versions),
    );
    return names.map((name) => lineOf({ name, kind, figures: of(name) }, { own, small }));
  });
  const machine = { cores: cpus().length, model: cpus()[0]?.model ?? '', node: process.version };
  const rounds = large.filter(({ name, kind }) => name === names[0] && kind === kinds[0]).length;
  return { machine, versions, rounds, budgets: BUDGETS, lines };
}

function lineOf(line: Line, { own, small }: { readonly own: Figures; readonly small: Figures }): Line {
  const { name, figures } = line;
  if (name === 's3-bucket') {
    if (small.peakMb === undefined) return line;
    const growthMb = (figures.peakMb ?? Number.NaN) - small.peakMb;
    return { ...line, figures: { ...figures, growthMb }, keepsBudget: growthMb <= GROWTH_MAX_MB };
  }
  const times = (own.perSecond ?? Number.NaN) / (figures.perSecond ?? Number.NaN);
  const budget = BUDGETS[name];
  return { ...line, figures: { ...figures, times }, ...(budget === undefined ? {} : { keepsBudget: times >= budget }) };
}

function medianOf(emptied: readonly Emptied[]): Figures {
  return mediansOf(
    emptied.map(({ versions, figures: { seconds = Number.NaN, cpuSeconds = Number.NaN, peakMb = Number.NaN } }) => ({
      perSecond: versions / seconds,
      cpuMs: (cpuSeconds * 1000) / versions,
      peakMb,
    })),
  );
}

/** The report for people. */
export function bucketTextOf({ machine, versions, rounds, lines }: BucketReport): string {
  const head = `${machine.cores} cores (${machine.model}), Node.js ${machine.node}, medians of ${rounds}, ${versions} versions`;
  const rows = lines.map(({ name, kind, figures, keepsBudget }) => {
    const budget = BUDGETS[name] === undefined ? `${GROWTH_MAX_MB} MB` : `${BUDGETS[name]} times`;
    const verdict = keepsBudget === undefined ? '' : `  ${keepsBudget ? 'keeps' : 'MISSES'} its budget of ${budget}`;
    return `${rowOf(`${kind}: ${name}`, figures)}${verdict}`;
  });
  return `${[head, ...rows].join('\n')}\n`;
}
