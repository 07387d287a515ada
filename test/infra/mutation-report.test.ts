/*
 * What `npm run mutate` says of the mutation tester's report (infra/mutation-report.ts), and that its list of modules is what
 * it says to be. The report's form is that of mutation-testing-report-schema.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
