/*
 * What `npm run mutate` says of the mutation tester's report (infra/mutation-report.ts), and that its list of modules is what
 * it says to be. The report's form is that of mutation-testing-report-schema.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { selectFrom } from '../../infra/mutation.ts';
import { linesOf, readScores } from '../../infra/mutation-report.ts';
import { MUTATED } from '../mutation/modules.ts';
import { root, trackedFiles } from '../support/tracked-files.ts';

const FILE = 'bridge/decide.ts';
const mutant = (status: string, line = 7, replacement = 'false') => ({
  mutatorName: 'ConditionalExpression',
  replacement,
  status,
  location: { start: { line, column: 1 }, end: { line, column: 9 } },
});
const reportOf = (...statuses: readonly string[]) =>
  JSON.stringify({
    schemaVersion: '1.0',
    files: { [FILE]: { language: 'typescript', mutants: statuses.map((status) => mutant(status)) } },
  });
const demanding = (atLeast: number) => [{ file: FILE, tests: [], atLeast }];

describe('the score of a module', () => {
  it('counts what a test noticed, by failing or by never ending, among what it could have noticed', () => {
    const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'Ignored'];
    expect(readScores(reportOf(...statuses), demanding(50))[0]).toMatchObject({
      noticed: 2,
      made: 4,
      percent: 50,
      isEnough: true,
    });
  });

  it('is not enough below what the module demands, and names the edits that nobody noticed', () => {
    const scores = readScores(reportOf('Killed', 'Survived'), demanding(51));
    expect(scores[0]).toMatchObject({ isEnough: false, survivors: ['7: false'] });
    expect(linesOf(scores)).toEqual([
      `${FILE}: 1 of 2 edits noticed, 50.0 %: fewer than 51 %`,
      '  not noticed: 7: false',
    ]);
  });

  it('is refused where the report has nothing about the module', () => {
    expect(() => readScores(JSON.stringify({ files: {} }), demanding(50))).toThrow(`nothing about ${FILE}`);
  });
});

describe('a run of all tests', () => {
  const modules = ['a', 'b', 'c', 'd'].map((file) => ({ file, tests: [], atLeast: 90 }));
  const select = (sizes: Readonly<Record<string, number>>) => {
    const { now, later } = selectFrom(modules, (file) => sizes[file] ?? 0);
    return [now, later].map((some) => some.map(({ file }) => file).join(''));
  };

  it('edits of what has changed the most dangerous module, and others that take little time beside it', () => {
    expect(select({ a: 200, b: 100, c: 30, d: 20 })).toEqual(['acd', 'b']);
    expect(select({ a: 600, b: 1, c: 1, d: 1 })).toEqual(['a', 'bcd']);
    expect(select({ a: 60, b: 60, c: 60, d: 60 })).toEqual(['abcd', '']);
  });

  it('edits none where none has changed', () => {
    expect(selectFrom([])).toEqual({ now: [], later: [] });
  });
});

describe('the modules that are edited', () => {
  it('exist, and so do their tests', () => {
    const tracked = new Set(trackedFiles());
    expect(MUTATED.length).toBeGreaterThan(10);
    expect(MUTATED.flatMap(({ file, tests }) => [file, ...tests]).filter((path) => !tracked.has(path))).toEqual([]);
  });

  it('are the contract, or say of themselves that they are pure', () => {
    const isContract = (path: string) => path.startsWith('bridge/contract/');
    const isPure = (path: string) => /pure/i.test(readFileSync(join(root, path), 'utf8').split('*/')[0] ?? '');
    expect(MUTATED.filter(({ file }) => !isContract(file) && !isPure(file))).toEqual([]);
  });
});
