/*
 * Counts of passed, failed and skipped things, and how vitest's results become counts.
 * Written to a file by tally-reporter.ts inside vitest, read and added up by verify.ts.
 */
import * as z from 'zod/mini';

const count = z.int().check(z.nonnegative());

/** How many passed, failed and were skipped. */
export const tallySchema = z.strictObject({ passed: count, failed: count, skipped: count });
export type Tally = Readonly<z.output<typeof tallySchema>>;

/** Nothing counted yet. */
export const nothing: Tally = { passed: 0, failed: 0, skipped: 0 };

/** The sum of two tallies. */
export function plus(left: Tally, right: Tally): Tally {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
  };
}

/** What is asked of one of vitest's results, in the words of its reporter API. */
export interface CountedModule {
  errors(): readonly unknown[];
  readonly children: {
    allTests(): Iterable<{ result(): { readonly state: string } }>;
    allSuites(): Iterable<{ errors(): readonly unknown[] }>;
  };
}

/**
 * Counts test cases. A file or a suite that broke outside its tests (an import, a hook) is a failure of its own, and so
 * is each error nobody caught; a test that never came to an end failed.
 */
export function countModules(modules: Iterable<CountedModule>, unhandledErrors: readonly unknown[]): Tally {
  let tally: Tally = { ...nothing, failed: unhandledErrors.length };
  for (const module of modules) {
    const broken = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length;
    tally = plus(tally, { ...nothing, failed: broken + (module.errors().length > 0 ? 1 : 0) });
    for (const test of module.children.allTests()) tally = plus(tally, one(test.result().state));
  }
  return tally;
}

function one(state: string): Tally {
  if (state === 'passed') return { ...nothing, passed: 1 };
  return state === 'skipped' ? { ...nothing, skipped: 1 } : { ...nothing, failed: 1 };
}
