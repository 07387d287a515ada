/*
 * What `npm run mutate` says of the mutation tester's report (infra/mutation-report.ts), and that its list of modules is what
 * it says to be. The report's form is that of mutation-testing-report-schema.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { selectFrom } from '../../infra/mutation.ts';
import { linesOf, readScore } from '../../infra/mutation-report.ts';
import { MUTATED } from '../mutation/modules.ts';
import { isPure, PURE_LIBRARIES } from '../support/house-rules.ts';
import { parseSource } from '../support/source-file.ts';
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
const demanding = (atLeast: number) => ({ file: FILE, tests: [], atLeast });

describe('the score of a module', () => {
  it('counts what a test noticed, by failing or by never ending, among what it could have noticed', () => {
    const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'Ignored'];
    expect(readScore(reportOf(...statuses), demanding(50))).toMatchObject({
      noticed: 2,
      made: 4,
      percent: 50,
      isEnough: true,
    });
  });

  it('is not enough below what the module demands, and names the edits that nobody noticed', () => {
    const score = readScore(reportOf('Killed', 'Survived'), demanding(51));
    expect(score).toMatchObject({ isEnough: false, survivors: ['7:1: false'] });
    expect(linesOf([score])).toEqual([
      `${FILE}: 1 of 2 edits noticed, 50.0 %: fewer than 51 %`,
      '  not noticed: 7:1: false',
    ]);
  });

  it('is not enough where no edit was made at all: then nothing was tried', () => {
    expect(readScore(reportOf('Ignored'), demanding(0))).toMatchObject({ made: 0, percent: 0, isEnough: false });
  });

  it('is refused where the report has nothing about the module', () => {
    expect(() => readScore(JSON.stringify({ files: {} }), demanding(50))).toThrow(`nothing about ${FILE}`);
  });
});

describe('a run of all tests', () => {
  const modules = ['a', 'b', 'c', 'd'].map((file) => ({ file, tests: [], atLeast: 90 }));
  const select = (sizes: Readonly<Record<string, number>>) => {
    const { now, later } = selectFrom(modules, (file) => sizes[file] ?? 0);
    return [now, later].map((some) => some.map(({ file }) => file).join(''));
  };

  it('edits of what has changed the most dangerous module, and others that take little time beside it', () => {
    expect(select({ a: 150, b: 100, c: 30, d: 10 })).toEqual(['acd', 'b']);
    expect(select({ a: 600, b: 1, c: 1, d: 1 })).toEqual(['a', 'bcd']);
    expect(select({ a: 40, b: 40, c: 40, d: 40 })).toEqual(['abcd', '']);
  });

  it('counts that each module has to be started with, however small it is', () => {
    expect(select({ a: 200, b: 1, c: 1, d: 1 })).toEqual(['ab', 'cd']);
  });

  it('edits none where none has changed', () => {
    expect(selectFrom([])).toEqual({ now: [], later: [] });
  });
});

/** What they call of these waits by the clock that it is handed, or only makes an outcome or the text of an error. */
const THROUGH_PORTS = ['functions/handler.ts', 'functions/ports.ts', 'bridge/log.ts'];

describe('the modules that are edited', () => {
  it('exist, and so do their tests', () => {
    const tracked = new Set(trackedFiles());
    expect(MUTATED.length).toBeGreaterThan(10);
    expect(MUTATED.flatMap(({ file, tests }) => [file, ...tests]).filter((path) => !tracked.has(path))).toEqual([]);
  });

  it('act only through what they are given: they import types, pure files and each other', () => {
    const known = (path: string) =>
      isPure(path) || [...PURE_LIBRARIES, ...THROUGH_PORTS].includes(path) || MUTATED.some(({ file }) => file === path);
    const outside = MUTATED.flatMap(({ file }) => {
      const { imports } = parseSource(file, readFileSync(join(root, file), 'utf8'));
      return imports.filter(({ from, typeOnly }) => !typeOnly && !known(from)).map(({ from }) => `${file}: ${from}`);
    });
    expect(outside).toEqual([]);
  });

  it('are each there once', () => {
    expect(MUTATED.map(({ file }) => file)).toEqual([...new Set(MUTATED.map(({ file }) => file))]);
  });
});
