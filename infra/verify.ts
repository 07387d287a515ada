/*
 * Runs checks one after the other and closes with one line that counts them: every test case is one, every static
 * check is one. Called by test.ts and check.ts; the tests themselves are run by vitest, counted by tally-reporter.ts.
 */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPrograms } from './local/programs.ts';
import { makeRunFolder, type RunFolder } from './run-folder.ts';
import { nothing, plus, type Tally, tallySchema } from './tally.ts';
import { runTool } from './tool.ts';

/** One check: a name for the person who waits, and a run that counts what it found, and keeps what it makes in a folder. */
export interface Check {
  readonly name: string;
  readonly run: (place: RunFolder) => Promise<Tally>;
}

// Biome's `ci` colours its words letter by letter, also in a pipe.
const colours = process.stdout.isTTY ? '--colors=force' : '--colors=off';

/** Format, lint and types. */
export const staticChecks: readonly Check[] = [
  { name: 'format and lint', run: () => asOne('biome', ['ci', '--error-on-warnings', colours, '.']) },
  { name: 'types', run: () => asOne('tsc', ['-p', '.']) },
];

/** The tests that need no server and little time. */
export const unitTests: Check = { name: 'unit tests', run: (place) => vitest(place, 'unit') };

/** What the long tests start or ask: fetched or built where it is not in the cache yet. Counts only when it fails. */
export const programs: Check = {
  name: 'programs for the tests',
  async run() {
    try {
      await findPrograms((text) => console.log(text));
      return nothing;
    } catch (cause) {
      console.error(cause);
      return { ...nothing, failed: 1 };
    }
  },
};

/** Projects of vitest.config.ts that run beside each other, the longest first: each on servers of its own, or on none. */
export const LANES = ['e2e', 'teardown', 'waiting', 'leaving', 'slow'] as const;

/**
 * The tests on real servers and those that take long without one, in lanes beside each other: most of their time is spent on
 * waiting. The first lane talks as it goes; what the others have to say comes when it is through.
 */
export const longTests: Check = {
  name: 'end-to-end and slow tests',
  async run(place) {
    const [first, ...others] = LANES;
    const leading = timed(first, () => vitest(place, first));
    const beside = others.map((project) => {
      const file = join(place.folder, `${project}.output`);
      return aside(file, (stdout) => timed(project, () => vitest(place, project, stdout)), leading);
    });
    // Interrupted, all are; whichever notices first must not leave the others behind.
    const settled = await Promise.allSettled([leading, ...beside]);
    const lanes = settled.map(outcomeOf);
    for (const { project, seconds } of lanes) console.log(`== ${project}: ${seconds} s`);
    return lanes.reduce((total, { tally }) => plus(total, tally), nothing);
  },
};

/**
 * Runs every check, also after one has failed, so that one run tells all; prints the closing line last.
 * @returns the exit code: 0 only if something was tested and nothing failed
 */
export async function verify(checks: readonly Check[]): Promise<number> {
  let total: Tally = nothing;
  const failed: string[] = [];
  const place = makeRunFolder();
  try {
    for (const { name, run } of checks) {
      console.log(`\n== ${name}`);
      const began = performance.now();
      const tally = await run(place);
      total = plus(total, tally);
      if (tally.failed > 0) failed.push(name);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(`== ${name}: ${tally.failed > 0 ? `${tally.failed} FAILED` : 'ok'} (${seconds} s)`);
    }
  } finally {
    place.remove();
  }
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(`\n${closingLine(total)}`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

/** `N passed, N failed`, and `, N skipped` if any. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

async function timed(project: string, run: () => Promise<Tally>) {
  const began = performance.now();
  const tally = await run();
  return { project, tally, seconds: Math.round((performance.now() - began) / 1000) };
}

async function asOne(tool: string, args: readonly string[]): Promise<Tally> {
  const code = await runTool(tool, args);
  return code === 0 ? { ...nothing, passed: 1 } : { ...nothing, failed: 1 };
}

function outcomeOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** Runs something whose output is kept in a file meanwhile, and printed when it is done and so are the others. */
async function aside<T>(file: string, run: (stdout: number) => Promise<T>, others: Promise<unknown>): Promise<T> {
  const stdout = openSync(file, 'w');
  try {
    return await run(stdout);
  } finally {
    closeSync(stdout);
    await Promise.allSettled([others]);
    process.stdout.write(readFileSync(file));
  }
}

/** Runs a project; an interrupted vitest ends at once and tears nothing down, so all that it leaves lies in the run's folder. */
async function vitest(place: RunFolder, project: string, stdout?: number): Promise<Tally> {
  const file = join(place.folder, `${project}.tally.json`);
  const env = { FINALIZER_BRIDGE_TALLY: file, ...place.environment(project) };
  const output = stdout === undefined ? {} : { stdout };
  const code = await runTool('vitest', ['run', '--project', project], { env, ...output });
  return judge({ project, code, tally: existsSync(file) ? readTally(file) : null });
}

function readTally(file: string): Tally {
  return tallySchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** What a run of tests is worth: a runner that broke, or that ran nothing, is a failure of its own. */
export function judge({ project, code, tally }: { project: string; code: number; tally: Tally | null }): Tally {
  if (tally === null) {
    console.log(`The ${project} tests did not run to their end (vitest ended with ${code}).`);
    return { ...nothing, failed: 1 };
  }
  if (tally.passed + tally.failed === 0) {
    console.log(`Not one of the ${project} tests was executed.`);
    return { ...tally, failed: 1 };
  }
  if (code !== 0 && tally.failed === 0) {
    console.log(`The ${project} tests passed, but vitest ended with ${code}.`);
    return { ...tally, failed: 1 };
  }
  return tally;
}
