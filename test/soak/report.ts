/*
 * What a soak found, for people and for programs. Made by run.ts when all has settled, or has not in time, of what ledger.ts
 * and audit.ts know. No I/O here.
 */
import type { Finding } from './audit.ts';
import { type Made, SORTS } from './ledger.ts';

/** How a soak went. */
export interface Report {
  readonly seed: number;
  readonly minutes: number;
  /** How long it took until nothing was open any more; undefined when that did not come. */
  readonly settledSeconds: number | undefined;
  /** By sort of object, how many were made and deleted. */
  readonly made: Readonly<Record<string, { readonly made: number; readonly deleted: number }>>;
  readonly mended: number;
  readonly released: number;
  readonly misfortunes: Readonly<Record<string, number>>;
  /** Exit codes by process, with how often each was seen. */
  readonly ends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly findings: readonly Finding[];
}

/** Codes with which a process may end here, and what they mean. */
const EXPECTED_CODES: Readonly<Record<string, string>> = {
  0: 'asked to',
  3: 'without its lease',
  137: 'killed',
  143: 'by its signal',
};

/** Counts of the ledger. */
export function countsOf(ledger: readonly Made[]): Pick<Report, 'made' | 'mended' | 'released'> {
  const of = (sort: string) => ledger.filter((one) => one.sort === sort);
  const made = Object.fromEntries(
    SORTS.map((sort) => [
      sort,
      { made: of(sort).length, deleted: of(sort).filter(({ deletedAt }) => deletedAt !== undefined).length },
    ]),
  );
  return {
    made,
    mended: ledger.filter(({ mended }) => mended === true).length,
    released: ledger.filter(({ released }) => released === true).length,
  };
}

/** How often each exit code was seen, and a finding for each that nobody can have wanted. */
export function endsOf(kept: readonly { readonly name: string; readonly ends: readonly number[] }[]) {
  const ends = Object.fromEntries(
    kept.map(({ name, ends: codes }) => [
      name,
      Object.fromEntries([...new Set(codes)].map((code) => [code, codes.filter((one) => one === code).length])),
    ]),
  );
  const crashes = kept.flatMap(({ name, ends: codes }) =>
    codes.filter((code) => !(code in EXPECTED_CODES)).map((code) => `${name} ended with ${code}`),
  );
  return { ends, crashes };
}

/** Whether every promise held, and all came to its end. */
export function isClean({ settledSeconds, findings }: Report): boolean {
  return settledSeconds !== undefined && findings.length === 0;
}

const endsIn = (codes: Readonly<Record<string, number>>): string =>
  Object.entries(codes)
    .map(([code, count]) => `${count} x ${EXPECTED_CODES[code] ?? 'unexpected'} (${code})`)
    .join(', ') || 'none';

/** For people. */
export function linesOf(report: Report): readonly string[] {
  const { seed, minutes, settledSeconds, made, mended, released, misfortunes, ends, findings } = report;
  const total = Object.values(made).reduce((sum, counts) => sum + counts.deleted, 0);
  return [
    `seed ${seed}: ${minutes} min, ${total} objects deleted; ${settledSeconds === undefined ? 'NOT settled' : `settled after ${settledSeconds} s`}`,
    ...Object.entries(made).map(([sort, counts]) => `  ${sort}: ${counts.made} made, ${counts.deleted} deleted`),
    `  by people: ${mended} mended, ${released} released`,
    ...Object.entries(misfortunes).map(([name, count]) => `  ${count} x ${name}`),
    ...Object.entries(ends).map(([name, codes]) => `  ends of ${name}: ${endsIn(codes)}`),
    ...findings.map(({ kind, name, detail }) => `FOUND ${kind}: ${name}: ${detail}`),
    isClean(report) ? 'nothing lost, leaked or wrongly deleted' : `${findings.length} findings`,
  ];
}
