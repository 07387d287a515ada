/*
 * The rules of the house, held against the whole tree (the rules themselves: support/house-rules.ts).
 * Every rule is also held against files that break it: a rule that cannot fail guards nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contentRules, goodFile, importRules } from './support/house-rules.ts';
import { functionSizes, functionsToMend, sizeRules } from './support/house-sizes.ts';
import { parseSource } from './support/source-file.ts';
import { root, trackedFiles } from './support/tracked-files.ts';

const tracked = trackedFiles();
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = tracked
  .filter((path) => /^((bridge|functions|infra|test)\/.+|[^/]+)\.(ts|mts|mjs|cjs|js)$/.test(path))
  .map((path) => parseSource(path, read(path)));

describe.each([...importRules, ...contentRules, ...sizeRules])('$title', ({ faults, broken }) => {
  it('holds for every source file', () => {
    expect(sources.flatMap((file) => faults(file).map((fault) => `${file.path} ${fault}`))).toEqual([]);
  });

  it.each(broken)('is broken by $path', ({ path, text }) => {
    expect(faults(parseSource(path, text))).not.toEqual([]);
  });

  it('is not broken by a good file', () => {
    expect(faults(parseSource(goodFile.path, goodFile.text))).toEqual([]);
  });
});

it('excepts no file from the size of functions that keeps it', () => {
  const breaking = sources.filter((file) => functionSizes.faults(file).length > 0).map(({ path }) => path);
  expect(functionsToMend.filter((path) => !breaking.includes(path))).toEqual([]);
});

it('looks at the whole tree', () => {
  const folders = new Set(sources.map(({ path }) => path.split('/')[0]));
  expect([...folders]).toEqual(expect.arrayContaining(['bridge', 'functions', 'infra', 'test']));
});

describe('tracked files', () => {
  // Written in pieces, so that this file does not break its own rule.
  const machinePaths = ['work', 'root', 'home', 'farm', 'Users'].map((folder) => `/${folder}/`);
  const registries = [
    'registry.npmjs',
    'registry.yarnpkg',
    'proxy.golang',
    'sum.golang',
    'pythonhosted',
    'pypi',
    'deb.debian',
  ];
  const forbidden = new RegExp(
    `(?<![\\w.~@/-])(${machinePaths.join('|')})|\\b(${registries.join('|').replaceAll('.', '\\.')})\\.(org|com)\\b|"${'resolved'}":`,
  );
  const faulty = (text: string) => text.split('\n').filter((line) => forbidden.test(line));

  it('name no path of a machine and no address of a registry', () => {
    const faults = tracked.flatMap((path) => faulty(read(path)).map((line) => `${path}: ${line.trim().slice(0, 100)}`));
    expect(faults).toEqual([]);
  });

  it.each([
    `cd /${'work'}/main`,
    `"/${'root'}/.npm"`,
    `"${'resolved'}": "x"`,
    `https://registry.${'npmjs'}.org/a`,
    `GOPROXY=https://proxy.${'golang'}.org`,
  ])('would be found out: %s', (line) => {
    expect(faulty(line)).toEqual([line]);
  });

  it('may have folders of such names within the tree', () => {
    expect(faulty('import a from "./work/a.ts"; see docs/home/x')).toEqual([]);
  });
});
