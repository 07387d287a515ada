/*
 * How a run of tests is counted and judged: by a real vitest over tests that break in every way there is, and by the
 * closing line and exit code that follow from the counts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { nothing, type Tally, tallySchema } from '../../infra/tally.ts';
import { closingLine, judge, LANES, verify } from '../../infra/verify.ts';
import config from '../../vitest.config.ts';
import { longestFirst, orderBy } from '../support/longest-first.ts';
import { root, trackedFiles } from '../support/tracked-files.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

/** Runs vitest with the tally reporter over files given by name and text. */
function run(files: Readonly<Record<string, string>>): { readonly tally: Tally | null; readonly code: number } {
  const folder = mkdtempSync(join(tmpdir(), 'verify-test-'));
  folders.push(folder);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const tallyFile = join(folder, 'tally.json');
  const config = `import { TallyReporter } from ${JSON.stringify(join(root, 'infra/tally-reporter.ts'))};
    export default { test: { reporters: [new TallyReporter(${JSON.stringify(tallyFile)})] } };`;
  const all = { ...files, 'vitest.config.ts': config };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--root', folder], { cwd: folder, stdio: 'ignore' });
  const tally = existsSync(tallyFile) ? tallySchema.parse(JSON.parse(readFileSync(tallyFile, 'utf8'))) : null;
  return { tally, code: status ?? -1 };
}

const IMPORT = `import { beforeAll, describe, expect, it } from 'vitest';\n`;

describe('counting a run of vitest', { timeout: 480_000 }, () => {
  it('counts each test case once, by how it ended', () => {
    const { tally, code } = run({
      'a.test.ts': `${IMPORT}it.each([1, 2])('passes', () => {}); it('fails', () => expect(1).toBe(2));`,
      'b.test.ts': `${IMPORT}it('passes', () => {}); it.${'skip'}('is left out', () => {});`,
    });
    expect(tally).toEqual({ passed: 3, failed: 1, skipped: 1 });
    expect(code).not.toBe(0);
  });

  it('counts a file, a hook or a stray promise that fails as one failure each', () => {
    const fails = `() => { throw new Error('no'); }`;
    const { tally, code } = run({
      'good.test.ts': `${IMPORT}it('passes', () => {});`,
      'import.test.ts': `${IMPORT}import './nowhere.ts'; it('is never known', () => {});`,
      'hook.test.ts': `${IMPORT}describe('s', () => { beforeAll(${fails}); it('is not run', () => {}); });`,
      'stray.test.ts': `${IMPORT}it('passes', async () => {
        void Promise.reject(new Error('no')); await new Promise(setImmediate); });`,
    });
    expect(tally).toEqual({ passed: 2, failed: 3, skipped: 1 });
    expect(code).not.toBe(0);
  });

  it('counts a run without a test as a failure', () => {
    expect(judge({ project: 'unit', ...run({}) })).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('judging a run', () => {
  const good = { passed: 3, failed: 0, skipped: 0 };

  it.each([
    ['a runner that left no counts', 0, null, { ...nothing, failed: 1 }],
    ['a runner that failed with every test passed', 1, good, { ...good, failed: 1 }],
    ['a run in which every test was skipped', 0, { ...nothing, skipped: 2 }, { passed: 0, failed: 1, skipped: 2 }],
    ['a run in which all is well', 0, good, good],
  ])('takes %s for what it is', (_, code, tally, expected) => {
    expect(judge({ project: 'unit', code, tally })).toEqual(expected);
  });
});

describe('the projects of tests', () => {
  const projects = (config.test?.projects ?? []).flatMap((project) =>
    typeof project === 'object' && 'test' in project && project.test !== undefined ? [project.test] : [],
  );
  const isIn = (path: string, globs: readonly string[] | undefined) => globs?.some((glob) => matchesGlob(path, glob));

  it('are all run by `npm test`', () => {
    expect(projects.map(({ name }) => name).toSorted()).toEqual(['unit', ...LANES].toSorted());
  });

  it('hold every file of tests, each in one of them', () => {
    const files = trackedFiles().filter((path) => /^test\/.*\.test\.ts$/.test(path));
    const homes = files.map((path) => ({
      path,
      projects: projects.flatMap(({ name, include, exclude }) =>
        isIn(path, include) && !isIn(path, exclude) ? [name] : [],
      ),
    }));
    expect(homes.filter(({ projects: found }) => found.length !== 1)).toEqual([]);
    expect(new Set(homes.flatMap(({ projects: found }) => found)).size).toBe(projects.length);
  });
});

describe('the files of a project', () => {
  it('are begun with those that are known to take long, in the order of that list', () => {
    const files = ['test/c.test.ts', 'test/long.test.ts', 'test/a.test.ts', 'test/longer.test.ts'];
    const listed = ['test/longer.test.ts', 'test/long.test.ts'];
    expect(files.toSorted(orderBy(listed))).toEqual([...listed, 'test/a.test.ts', 'test/c.test.ts']);
  });

  it('are none that is not there any more', () => {
    expect(() => longestFirst(['test/gone.test.ts'])).toThrow('there is no test/gone.test.ts');
  });
});

describe('the closing line', () => {
  it.each([
    [{ passed: 3, failed: 0, skipped: 0 }, '3 passed, 0 failed'],
    [{ passed: 3, failed: 1, skipped: 2 }, '3 passed, 1 failed, 2 skipped'],
  ])('is the sum of all checks: %o', (tally, line) => {
    expect(closingLine(tally)).toBe(line);
  });

  it('comes last, after every check has run, and with a failing exit code if one has failed', async () => {
    const check = (name: string, failed: number) => ({ name, run: async () => ({ passed: 1, failed, skipped: 0 }) });
    expect(await verify([check('first', 1), check('second', 0)])).toBe(1);
    expect(vi.mocked(console.log).mock.lastCall?.[0]).toMatch(/^\n2 passed, 1 failed$/);
    expect(await verify([check('second', 0)])).toBe(0);
  });

  it('comes with a failing exit code if nothing was tested', async () => {
    expect(await verify([{ name: 'nothing', run: async () => nothing }])).toBe(1);
  });
});
