/*
 * The order of the files of tests: those that take long first, since who comes last is waited for. Named in vitest.config.ts.
 * Without it vitest would go by what took long, or failed, the last time, and by the size of the files where there was none.
 */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';
import { root } from './tracked-files.ts';

/** Compares paths: those of a list come in its order, and then the others by their names. */
export function orderBy(listed: readonly string[]): (a: string, b: string) => number {
  const rank = (path: string) => (listed.includes(path) ? listed.indexOf(path) : listed.length);
  return (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1);
}

/**
 * A sequencer that takes the files of a list in its order, and then the others.
 * @param listed paths from the root
 * @throws Error when there is no such file: its time would pass unnoticed
 */
export function longestFirst(listed: readonly string[]): TestSequencerConstructor {
  const missing = listed.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Error(`ordering the tests: there is no ${missing.join(', ')}`);
  const compare = orderBy(listed);
  const pathOf = ({ moduleId }: TestSpecification) => relative(root, moduleId);
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return files.toSorted((a, b) => compare(pathOf(a), pathOf(b)));
    }
  };
}
