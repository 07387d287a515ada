/*
 * What a run of `npm run simulate` tells at its end: figures over its worlds and its faults by kind, as a table for people or as one
 * line of JSON. Called by simulate.ts. One that was interrupted tells of the worlds that had ended; which these are depends on the
 * moment, so there is no hash.
 */
import type { WorldReport } from './fleet/batch.ts';
import { Tally } from './fleet/tally.ts';

/** A run that is over. */
export interface Summed {
  /** Of the first world. */
  readonly seed: number;
  readonly reports: readonly WorldReport[];
  readonly seconds: number;
  /** Of all threads. */
  readonly cpuSeconds: number;
  readonly isInterrupted: boolean;
}

/** One line of JSON. */
export function jsonOf(summed: Summed): string {
  const { figures, faults, failing } = summaryOf(summed);
  const interrupted = summed.isInterrupted ? { interrupted: true } : {};
  return `${JSON.stringify({ ...figures, ...interrupted, faults, broken: failing })}\n`;
}

/** A table of figures, then of faults. */
export function tableOf(summed: Summed): string {
  const { figures, faults } = summaryOf(summed);
  const rows = [...Object.entries(figures), ...Object.entries(faults)];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
  return summed.isInterrupted ? `${table}\ninterrupted: this is of the worlds that had ended\n` : table;
}

/** Worlds in which a promise was broken. */
export function failingOf(reports: readonly WorldReport[]): readonly WorldReport[] {
  return reports.filter(({ broken }) => broken.length > 0);
}

function summaryOf({ seed, reports, seconds, cpuSeconds, isInterrupted }: Summed) {
  const sum = (of: (report: WorldReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const deletions = sum(({ deleted }) => deleted);
  const failing = failingOf(reports);
  const faults = new Tally();
  for (const report of reports) faults.add(report.faults);
  const figures = {
    ...{ seed, worlds: reports.length, deletions, failing: failing.length },
    ...(isInterrupted ? {} : { hash: hashOf(reports) }),
    ...{ seconds: Math.round(seconds), cpuSeconds: Math.round(cpuSeconds) },
    ...(deletions === 0 ? {} : { cpuSecondsPerThousand: Number(((1000 * cpuSeconds) / deletions).toFixed(2)) }),
    virtualDays: Number((sum(({ virtualMs }) => virtualMs) / 86_400_000).toFixed(1)),
    steps: sum(({ steps }) => steps),
  };
  return { figures, faults: faults.byName, failing };
}

/** One number for the whole run: it is the same when every world was the same. */
function hashOf(reports: readonly WorldReport[]): string {
  const text = reports.map(({ seed, hash }) => `${seed} ${hash}`).join('\n');
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
