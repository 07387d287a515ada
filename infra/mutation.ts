/*
 * Edits the pure modules of test/mutation/modules.ts, one small edit at a time, by Stryker, and counts which of the edits
 * their tests notice. Called by mutate.ts (npm run mutate), and by test.ts for what has changed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUTATED, type Mutated } from '../test/mutation/modules.ts';
import { Interrupted } from './boot/child.mjs';
import { linesOf, readScore, type Score } from './mutation-report.ts';
import { nothing } from './tally.ts';
import { runTool } from './tool.ts';
import type { Check } from './verify.ts';

const root = join(import.meta.dirname, '..');
const FOLDER = '.cache/mutation';
const SANDBOX = `${FOLDER}/sandbox`;
/** So many lines of modules take two minutes of a machine with two cores: about 450 edits. */
const LINES_AT_ONCE = 250;
/** And as many could be edited while the tester starts, once for each module. */
const LINES_OF_A_START = 20;

/** The modules, or the tests of modules, that the working tree or the last commit has changed. */
export function changedModules(): readonly Mutated[] {
  const changed = new Set([
    ...changedIn(['diff', '--name-only', 'HEAD']),
    ...changedIn(['diff', '--name-only', 'HEAD~1', 'HEAD']),
  ]);
  return MUTATED.filter(({ file, tests }) => [file, ...tests].some((path) => changed.has(path)));
}

/** What a run of all tests edits of the modules that have changed, and what it leaves to a run by itself. */
export interface Selection {
  readonly now: readonly Mutated[];
  readonly later: readonly Mutated[];
}

/**
 * Takes the first module, the most dangerous one, and each of the others for which there is time as well.
 * @param sizeOf lines of a file
 */
export function selectFrom(modules: readonly Mutated[], sizeOf = countLines): Selection {
  let lines = 0;
  const isInTime = ({ file }: Mutated) => {
    const size = LINES_OF_A_START + sizeOf(file);
    if (lines > 0 && lines + size > LINES_AT_ONCE) return false;
    lines += size;
    return true;
  };
  const now = modules.filter(isInTime);
  return { now, later: modules.filter((one) => !now.includes(one)) };
}

const countLines = (file: string): number => readFileSync(join(root, file), 'utf8').split('\n').length;

/** Files that git names; none where there is no git, no repository or no such commit. */
function changedIn(args: readonly string[]): readonly string[] {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : [];
}

/**
 * Edits the modules one after the other, each under its own tests alone, so that its score does not depend on which others are
 * edited with it; prints how each of them fared.
 * @throws Error when the tester could not come to its end, for example since a test fails without any edit
 */
export async function mutate(modules: readonly Mutated[]): Promise<readonly Score[]> {
  mkdirSync(join(root, FOLDER), { recursive: true });
  // Copies of the tree, left by a run that was killed.
  rmSync(join(root, SANDBOX), { recursive: true, force: true });
  const scores: Score[] = [];
  for (const module of modules) {
    const score = await mutateOne(module);
    for (const line of linesOf([score])) console.log(line);
    scores.push(score);
  }
  return scores;
}

async function mutateOne(module: Mutated): Promise<Score> {
  const folder = join(root, FOLDER);
  const [config, report] = [join(folder, 'stryker.json'), join(folder, 'report.json')];
  writeFileSync(config, JSON.stringify(configuration(module, report), undefined, 2));
  const code = await runTool('stryker', ['run', config]);
  if (code !== 0) throw new Error(`editing ${module.file}: the mutation tester ended with ${code}`);
  return readScore(readFileSync(report, 'utf8'), module);
}

function configuration({ file, tests }: Mutated, fileName: string) {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts' },
    mutate: [file],
    testFiles: tests,
    coverageAnalysis: 'perTest',
    // What is evaluated when a module is loaded cannot be switched while tests run.
    ignoreStatic: true,
    // TypeScript 7 has not the interface by which the tester would rewrite it; nothing in it has to be rewritten.
    tsconfigFile: 'none.json',
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName },
    concurrency: 2,
    tempDirName: SANDBOX,
    cleanTempDir: 'always',
    ignorePatterns: ['build', 'dist', '.serverless', '.cache'],
    thresholds: { high: 95, low: 85, break: null },
    allowConsoleColors: false,
  };
}

/** A check that edits the modules that have changed: each counts as one, and fails where its tests notice too little. */
export const mutationTests: Check = {
  name: 'edits of changed modules',
  async run() {
    const { now: modules, later } = selectFrom(changedModules());
    if (later.length > 0)
      console.log(`left to npm run mutate -- --changed: ${later.map(({ file }) => file).join(', ')}`);
    if (modules.length === 0) {
      console.log('no module of test/mutation/modules.ts has changed');
      return nothing;
    }
    try {
      const scores = await mutate(modules);
      const failed = scores.filter(({ isEnough }) => !isEnough).length;
      return { ...nothing, passed: scores.length - failed, failed };
    } catch (cause) {
      if (cause instanceof Interrupted) throw cause;
      console.error(cause);
      return { ...nothing, failed: modules.length };
    }
  },
};
