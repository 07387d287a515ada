/*
 * docs/write-a-handler.md and the README, done as a new user would: their commands are run one by one from a checkout on,
 * `npm install` being what it would bring; the handler that the page shows is put into the registry and packaged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { commandsOf, pagesFor } from '../support/document-blocks.ts';
import { type PackedKit, packKit } from '../support/kit-project.ts';
import { root } from '../support/tracked-files.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const page = read('docs/write-a-handler.md');
const pages = pagesFor(import.meta.filename);

let kit: PackedKit;
beforeAll(async () => {
  kit = await packKit();
}, 600_000);
afterAll(() => kit?.remove());

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/** The package that a repository has taken along. */
function vendored(folder: string): string {
  const { dependencies } = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const named = dependencies['finalizer-bridge'] ?? '';
  expect(named).toMatch(/^file:vendor\//);
  return join(folder, named.replace('file:', ''));
}

/** Runs commands in a new checkout; resolves to where they ended, and what each printed. */
function follow(
  name: string,
  commands: readonly string[],
): { readonly folder: string; readonly said: Map<string, string> } {
  let folder = kit.checkout(name);
  const said = new Map<string, string>();
  for (const command of commands) {
    const [word = '', place = ''] = command.split(' ');
    if (word === 'cd') folder = join(folder, place);
    else if (command === 'npm install') {
      expect(readFileSync(vendored(folder)).equals(readFileSync(kit.tarball))).toBe(true);
      kit.install(folder);
    } else {
      // What npm builds before it packs is there already.
      const env = { npm_config_ignore_scripts: `${command === 'npm pack'}` };
      const { code, out, err } = kit.run(folder, '/bin/sh', ['-c', command], env);
      expect(code, `${command}\n${out}${err}`).toBe(0);
      said.set(command, out + err);
    }
  }
  return { folder, said };
}

const START = ['npm pack', 'node dist/cli/main.mjs init ../my-handlers'];

describe('docs/write-a-handler.md', () => {
  it('has commands that lead from a checkout to a package of somebody else, a first run among them', () => {
    const commands = commandsOf(pages.next('docs/write-a-handler.md'));
    expect(commands.length).toBeGreaterThanOrEqual(8);
    expect(commands.slice(0, 2)).toEqual(START);
    const { folder, said } = follow('page', commands);
    expect(said.get('npm run dev')).toMatch(/gone {6}deleted, in \d+ ms/);
    expect(readFileSync(join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8')).toContain(
      'DnsDashrecordLambdaFunction',
    );
  }, 600_000);

  it('shows a handler that goes into that repository as it stands, and is packaged with its rights', () => {
    const { folder } = follow('example', [...START, 'cd ../my-handlers', 'npm install']);
    const [example = ''] = /(?<=^```ts\n)[\s\S]*?(?=^```$)/m.exec(page) ?? [];
    writeFileSync(join(folder, 'handlers/elastic-ip.ts'), example);
    writeFileSync(
      join(folder, 'registry.ts'),
      `import { defineRegistry } from 'finalizer-bridge/functions';
       import { elasticIp } from './handlers/elastic-ip.ts';
       export const registry = defineRegistry([elasticIp]);`,
    );
    const values = readFileSync(join(folder, 'functions.values.yml'), 'utf8').replace(/\nhandlers:[\s\S]*/, '');
    const allow = `{ accounts: ['111122223333'], regions: [eu-west-1], names: [eipalloc-*] }`;
    writeFileSync(join(folder, 'functions.values.yml'), `${values}\nhandlers:\n  elastic-ip: { allow: ${allow} }\n`);
    for (const command of ['npm run typecheck', 'npm run package']) {
      const { code, out, err } = kit.run(folder, '/bin/sh', ['-c', command]);
      expect(code, out + err).toBe(0);
    }
    const template = readFileSync(join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8');
    expect(template).toContain('arn:aws:ec2:eu-west-1:111122223333:elastic-ip/eipalloc-*');
    // Where the emulator would be nobody listens: the run says so, and is tried again.
    const target = ['id=eipalloc-0123456789abcdef0', 'region=eu-west-1', 'account=111122223333'].map(
      (one) => `--target=${one}`,
    );
    writeFileSync(join(folder, 'dev.request.json'), '{}');
    const ran = kit.run(folder, 'finalizer-bridge', ['dev', ...target, '--endpoint', 'http://127.0.0.1:9']);
    expect([ran.code, ran.err]).toEqual([3, '']);
    expect(ran.out).toMatch(/ec2:DescribeAddresses \(look\): again \(ECONNREFUSED\)[\s\S]*pending {3}Unreachable/);
  }, 600_000);
});

describe('the README', () => {
  it('has commands of the same repository that work', () => {
    const commands = commandsOf(pages.next('README.md'));
    expect(commands).toEqual(expect.arrayContaining(['npm test', 'npm run dev', 'npm run package']));
    follow(
      'readme',
      commands.filter((command) => command !== 'npm run package'),
    );
  }, 600_000);
});

it('every command that this test is named at was run', () => {
  expect(pages.left()).toEqual([]);
});
