/*
 * The --help of what works on the functions' stack: it comes before anything else is looked at, and names every option that
 * the command takes.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { helped } from '../../infra/stack-usage.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What an entry prints, run where there are no values. */
async function printed(entry: string, flag: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, [join(ROOT, `infra/${entry}.ts`), flag], { cwd: tmpdir() }))
    .stdout;
}

/** The options of an entry's own, as its source asks for them. */
function optionsIn(entry: string): readonly string[] {
  const source = readFileSync(join(ROOT, `infra/${entry}.ts`), 'utf8');
  return [...source.matchAll(/\b(?:text|has)\('([-a-z]+)'\)/g)].map(([, name]) => `--${name}`);
}

describe.each(['package', 'deploy', 'remove', 'bridge-values', 'bridge-policy'])('npm run %s', (entry) => {
  it('says with --help how it is used, with every option, and needs no values for that', async () => {
    const text = await printed(entry, '--help');
    expect(text).toMatch(new RegExp(`^usage: npm run ${entry} \\[-- OPTIONS\\]\n\n`));
    for (const option of ['--stage', '--values', '--help', ...optionsIn(entry)]) expect(text).toContain(`  ${option}`);
  });
});

describe('a command line', () => {
  it.each([
    [['--stage', 'dev', '-h'], true],
    [['--help'], true],
    [['--stage', 'dev'], false],
    [[], false],
  ])('%j asks for help: %s', (args, isAsked) => {
    const said: string[] = [];
    expect(helped(args, { command: 'deploy', does: ['Deploys.'] }, (text) => void said.push(text))).toBe(isAsked);
    expect(said).toHaveLength(isAsked ? 1 : 0);
  });
});
