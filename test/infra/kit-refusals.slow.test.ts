/*
 * What a repository of handlers is refused for, and in which words: by its serverless.yml, by `finalizer-bridge init`.
 * Each message says what to do, and shows no stack.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../infra/kit/init.ts';
import { serverless } from '../../infra/kit/serverless.ts';
import { type PackedKit, packKit } from '../support/kit-project.ts';

let kit: PackedKit;
let number = 0;
beforeAll(async () => {
  kit = await packKit();
}, 600_000);
afterAll(() => kit?.remove());

async function project(leftOut: readonly string[] = []): Promise<string> {
  number += 1;
  const folder = await init({ folder: kit.folder(`refused-${number}`), spec: kit.tarball });
  kit.install(folder, leftOut);
  return folder;
}

/** What the framework shows of what was thrown. */
async function shown(folder: string, command = 'print', options: object = {}): Promise<string> {
  try {
    await serverless({ options: { stage: null, param: null, ...options } }, { folder, argv: [command] });
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return error instanceof Error && error.stack !== '' ? `a stack: ${error.stack}` : String(error);
  }
  return 'nothing';
}

const REGISTRY = `import { defineRegistry } from 'finalizer-bridge/functions';
import { dnsRecord } from './handlers/dns-record.ts';
`;

describe('a service', () => {
  it('is made of what init gives', async () => {
    expect(await shown(await project())).toBe('nothing');
  });

  it.each([
    ['no list', `${REGISTRY}export const handlers = [dnsRecord];`, /registry\.ts exports no list called registry/],
    [
      'something else than handlers',
      `${REGISTRY}export const registry = [dnsRecord, {}];`,
      /registry\[1\] is no handler/,
    ],
    ['a handler twice', `${REGISTRY}export const registry = [dnsRecord, dnsRecord];`, /registered twice: dns-record/],
    ['an empty list', 'export const registry: [] = [];', /the registry is empty/],
    ['no TypeScript', 'export const registry = [;', /building: .*registry\.ts:1:25: ERROR/s],
    [
      'a package that is not there',
      `import 'not-there';\nexport const registry = [];`,
      /loading \.\/registry\.ts: .*'not-there'/,
    ],
    ['a definition that throws', `${REGISTRY}throw new Error('no luck');\nexport const registry = [];`, /no luck/],
  ])('is refused for a registry with %s', async (_, text, words) => {
    const folder = await project();
    writeFileSync(join(folder, 'registry.ts'), text);
    expect(await shown(folder)).toMatch(words);
    expect(existsSync(join(folder, 'build')) ? readdirSync(join(folder, 'build')) : []).toEqual([]);
  });

  it('is refused without a registry, and the words show what belongs in it', async () => {
    const folder = await project();
    writeFileSync(join(folder, 'service.txt'), '');
    const missing = serverless({ options: {} }, { folder, registry: 'other.ts', argv: ['print'] });
    await expect(missing).rejects.toThrow(
      /there is no other\.ts in .*: it is to export the handlers, as "export const/,
    );
  });

  it('is refused without esbuild, by a command that mends it', async () => {
    const words = /^KitError: bundling functions needs esbuild, .*: npm install --save-dev esbuild$/;
    expect(await shown(await project(['esbuild']))).toMatch(words);
  });

  it('is refused for values that name an unknown handler', async () => {
    const folder = await project();
    const file = join(folder, 'functions.values.yml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('  dns-record:', '  dns-records:'));
    expect(await shown(folder)).toMatch(/handlers\.dns-records: is not registered; there are dns-record$/);
  });

  it('is refused for a stage or region of the command line that is not that of the values', async () => {
    const words = await shown(await project(), 'package', { stage: 'prod', region: 'eu-west-2' });
    expect(words).toMatch(
      /stage: is dev, and --stage says prod; name another file by --param values=<file> \(for npm run: --values FILE\)\n/,
    );
    expect(words).toMatch(/region: is eu-west-1, and --region says eu-west-2/);
  });

  it('takes the values of another file, and says when that is not there', async () => {
    const folder = await project();
    const words = await shown(folder, 'print', { param: ['values=prod.yml'] });
    expect(words).toMatch(/reading .*prod\.yml: one fault\n {2}- the file does not exist/);
  });

  it('is not deployed with the cluster of the template', async () => {
    const folder = await project();
    expect(await shown(folder, 'deploy')).toMatch(
      /clusters\.0\.bridgeRoleId: is that of the example; put in your own cluster/,
    );
    expect(existsSync(join(folder, 'build/artifacts'))).toBe(false);
  });
});

describe('init', () => {
  it('refuses a folder with something in it, and leaves it alone', async () => {
    const folder = kit.folder('full');
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    await expect(init({ folder, spec: '1' })).rejects.toThrow(/full is not empty \(mine\.txt\): name a new folder/);
    expect(readdirSync(folder)).toEqual(['mine.txt']);
  });

  it('takes a repository that was cloned empty, names the package after it, and hides what git is to ignore', async () => {
    const folder = kit.folder('My Team_Handlers');
    mkdirSync(join(folder, '.git'));
    await init({ folder, spec: '1.2.3' });
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect([name, dependencies['finalizer-bridge']]).toEqual(['my-team-handlers', '1.2.3']);
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toContain('node_modules/');
    expect(existsSync(join(folder, 'gitignore'))).toBe(false);
  });

  it('takes the package along, so that who clones the repository installs the same one', async () => {
    const folder = await init({ folder: kit.folder('vendored'), spec: kit.tarball });
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(dependencies['finalizer-bridge']).toBe(`file:vendor/${basename(kit.tarball)}`);
    expect(readFileSync(join(folder, 'vendor', basename(kit.tarball)))).toEqual(readFileSync(kit.tarball));
  });

  it('names no version unless told: whatever had the name at the registry would be installed', () => {
    const start = kit.folder('installed');
    kit.install(start);
    const { code, err } = kit.run(start, 'finalizer-bridge', ['init', 'mine']);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/no package is published yet: "npm pack" .* --package FILE/),
    ]);
    expect(existsSync(join(start, 'mine'))).toBe(false);
  });

  it('makes nothing where the package is not there', async () => {
    const folder = join(kit.folder('nowhere'), 'mine');
    await expect(init({ folder, spec: 'other-1.0.0.tgz' })).rejects.toThrow(
      /^there is no .*other-1\.0\.0\.tgz: "npm pack"/,
    );
    expect(existsSync(folder)).toBe(false);
  });

  it('says so when the place is a file', async () => {
    const file = join(kit.folder('plain'), 'file');
    writeFileSync(file, '');
    await expect(init({ folder: file, spec: '1' })).rejects.toThrow(/^making .*file: EEXIST/);
  });
});
