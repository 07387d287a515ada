/*
 * The npm package as a stranger gets it: packed by npm, installed into an empty project with what it depends on, then its
 * command line run, its three entrances imported and type-checked. What is in each is tested in build.slow.test.ts.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { npmPackage } from '../support/made-once.ts';
import { root, trackedFiles } from '../support/tracked-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'pack-test-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules/finalizer-bridge');
const INSTALL_TIME_MS = 600_000;
const packedSchema = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }));
let files: readonly string[];

function run(command: string, args: readonly string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

beforeAll(async () => {
  const tree = join(folder, 'tree');
  for (const path of trackedFiles()) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    copyFileSync(join(root, path), join(tree, path));
  }
  cpSync(join(await npmPackage(), 'dist'), join(tree, 'dist'), { recursive: true });
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], tree);
  const [made] = packedSchema.parse(JSON.parse(packed));
  files = made?.files.map(({ path }) => path) ?? [];
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  run('npm', ['install', ...quiet, join(folder, made?.filename ?? '')], project);
}, INSTALL_TIME_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the npm package in an empty project', () => {
  it('has its command line with its papers, its types, its documents and its licence, and no source or test', () => {
    const wanted = [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'docs/write-a-handler.md',
      'dist/functions/index.d.ts',
      'dist/bridge/contract.d.ts',
    ];
    const papers = ['main.mjs', 'THIRD-PARTY-LICENSES.txt', 'sbom.cdx.json'].map((name) => `dist/cli/${name}`);
    expect([...wanted, ...papers].filter((path) => !files.includes(path))).toEqual([]);
    expect(files.filter((path) => /^(test|infra|bridge|functions|\.github)\//.test(path))).toEqual([]);
    // The template of a repository of handlers is sources, and to be copied.
    const compiled = files.filter((path) => !path.startsWith('dist/infra/template/'));
    expect(compiled.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
  });

  it('has every page that one of its pages leads to, but for those beside the sources', () => {
    const pages = files.filter((path) => /^docs\/[^/]+\.md$/.test(path));
    const led = pages.flatMap((page) => {
      const links = readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:)([\w./-]+\.md)/g);
      return [...links].map(([, to = '']) => join(dirname(page), to));
    });
    expect(new Set(led).size).toBeGreaterThan(10);
    expect(led.filter((path) => !/^infra\//.test(path) && !files.includes(path))).toEqual([]);
  });

  it('says where its sources are, which a provenance is checked against', () => {
    const manifest = z.object({ repository: z.object({ url: z.string() }) });
    const { repository } = manifest.parse(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')));
    expect(repository.url).toBe('git+https://github.com/finalizer-bridge/finalizer-bridge.git');
  });

  it.each(['finalizer-bridge', 'kubectl-finalizer_bridge'])('brings the command %s', (name) => {
    expect(run(join(project, 'node_modules/.bin', name), ['drain', '--help'], project)).toContain('drain');
  });

  it('puts the same two on the PATH of whoever installs the checkout itself, with nothing fetched', () => {
    const prefix = join(folder, 'global');
    run('npm', ['install', '--global', '--offline', '--prefix', prefix, '.'], join(folder, 'tree'));
    expect(readdirSync(join(prefix, 'bin')).toSorted()).toEqual(['finalizer-bridge', 'kubectl-finalizer_bridge']);
    expect(run(join(prefix, 'bin/kubectl-finalizer_bridge'), ['drain', '--help'], folder)).toContain('drain');
  });

  it('lets a handler be written in strict TypeScript and started, with nothing installed beside', () => {
    const handler = `
      import * as z from 'zod/mini';
      import { decodeRequest } from 'finalizer-bridge/contract';
      import { defineHandler, gone } from 'finalizer-bridge/functions';
      import * as testing from 'finalizer-bridge/testing';
      export const mine = defineHandler({
        name: 'mine', version: '1.0.0', target: z.strictObject({ id: z.string() }), options: z.strictObject({}),
        permissions: [], service: 'none', connect: () => undefined,
        identity: ({ id }) => ({ names: [id], place: 'outside' }),
        teardown: async () => gone('absent'),
      });
      console.log(mine.name, decodeRequest('{}').ok, Object.keys(testing).length > 0);`;
    writeFileSync(join(project, 'mine.ts'), handler);
    expect(run(process.execPath, ['mine.ts'], project)).toBe('mine false true\n');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', 'false'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(run(process.execPath, [tsc, ...flags, ...types, 'mine.ts'], project)).toBe('');
  }, 600_000);

  it('brings no package that only builds or tests', () => {
    const names = readdirSync(join(project, 'node_modules'));
    expect(names).toEqual(expect.arrayContaining(['finalizer-bridge', 'zod']));
    expect(names.filter((name) => ['esbuild', 'vitest', 'typescript', 'serverless', 'fauxqs'].includes(name))).toEqual(
      [],
    );
  });
});
