/*
 * What the scripts of package.json that take options say of them, as processes of their own: a question for help is answered
 * and nothing else is done, and an option that there is not is told as that, before anything is begun.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { scripts } from '../support/checkout.ts';
import { root } from '../support/tracked-files.ts';

const NAMES = ['bench', 'bench:bucket', 'simulate', 'soak', 'mutate', 'lint', 'schemas', 'crd', 'chart'];

function run(name: string, ...args: readonly string[]) {
  const [entry = '', ...own] = (scripts().get(name) ?? '').split(' ');
  return spawnSync(process.execPath, [entry, ...own, ...args], { cwd: root, encoding: 'utf8' });
}

describe.each(NAMES)('npm run %s', (name) => {
  it('says with --help how it is used, and does nothing', () => {
    expect(run(name, '--help')).toMatchObject({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringMatching(new RegExp(`^usage: npm run ${name}\\b[^\\0]*\\n$`)),
    });
  });

  it('says which option it does not have, and how it is used, with exit code 2 and no stack trace', () => {
    const { status, stdout, stderr } = run(name, '--nonsense');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--nonsense'/);
    expect(stderr).toContain(`\nusage: npm run ${name}`);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

it.each([...NAMES, 'demo', 'package', 'deploy', 'remove', 'bridge-values', 'bridge-policy'])(
  'npm run %s whose reader has gone, as behind `| head`, ends quietly with its own exit code',
  async (name) => {
    const [entry = '', ...own] = (scripts().get(name) ?? '').split(' ');
    const child = spawn(process.execPath, [entry, ...own, '--help'], { cwd: root });
    child.stdout.destroy();
    const said = text(child.stderr);
    expect([await once(child, 'close'), await said]).toEqual([[0, null], '']);
  },
);

it.each([
  ['simulate', '--deletions', 'many', 'reading --deletions: many is no whole number from 1'],
  ['bench', '--rounds', '0', 'reading --rounds: 0 is no count'],
  ['soak', '--minutes', '-1', /^Option '--minutes' argument is ambiguous/],
  ['soak', '--rate', '0', 'reading --rate: 0 is no number above 0'],
])('npm run %s refuses %s %s', (name, flag, value, why) => {
  const { status, stderr } = run(name, flag, value);
  expect([status, stderr.split('\n')[0]]).toEqual([2, why instanceof RegExp ? expect.stringMatching(why) : why]);
});
