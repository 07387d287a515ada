/*
 * What the build makes, looked at as those who get it do: bundles started under plain Node.js without the tree, and
 * the npm package imported and type-checked from a project of its own.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sha256Hex } from '../../bridge/contract.ts';
import { registry } from '../../functions/registry.ts';
import { type Bundles, buildBridge, buildFunctions } from '../../infra/build.ts';
import { ownBytesOf } from '../../infra/function-budgets.ts';
import { coldStartOf, faultsOf } from '../bench/cold-starts.ts';
import { bridgeBundle, functionBundles, npmPackage } from '../support/made-once.ts';
import { root } from '../support/tracked-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'build-test-'));
const BUILD_TIME_MS = 600_000;
const manifest = z.object({ bin: z.record(z.string(), z.string()) });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts Node.js in an empty environment, outside the tree. */
function node(...args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: folder, env: {}, encoding: 'utf8' });
}

/** The digest of each file; a difference in bytes would fill the screen. */
function digestsOf(made: Bundles): readonly string[] {
  return [...filesOf(made)].map(([name, text]) => `${name} ${sha256Hex(text)}`);
}

function filesOf({ outDir }: Bundles): ReadonlyMap<string, string> {
  const names = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  return new Map(names.sort().map((name) => [name, readFileSync(join(outDir, name), 'utf8')]));
}

describe('the bridge', () => {
  let made: Bundles;
  beforeAll(async () => {
    made = await bridgeBundle();
  }, BUILD_TIME_MS);

  it('is one module that starts with no package beside it', () => {
    const { stderr, status } = node(join(made.outDir, 'main.mjs'));
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^usage: /)]);
  });

  it('says which Node.js it needs on one that is too old, and how it is used when asked', () => {
    const old = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.18.9'}})`;
    const { stderr, status } = node('--import', `data:text/javascript,${old}`, join(made.outDir, 'main.mjs'));
    expect([status, stderr]).toEqual([2, 'needs Node.js 22.19 or newer; this is 22.18.9\n']);
    expect(node(join(made.outDir, 'main.mjs'), '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^usage: /),
    });
    const unknown = node(join(made.outDir, 'main.mjs'), '--verbose');
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringMatching(/^Unknown option .*\nusage: /s)]);
  });

  it('is ASCII: one other character would double what its text takes in memory', () => {
    const text = readFileSync(made.bundles[0]?.file ?? '', 'utf8');
    const at = text.search(/[\u0080-\uffff]/);
    expect(at < 0 ? '' : text.slice(Math.max(0, at - 80), at + 20)).toBe('');
  });

  it('leaves out the APIs of the Kubernetes client that it does not use', () => {
    const text = filesOf(made).get('main.mjs');
    expect(['KUBECONFIG', '/apis/autoscaling/v2'].map((word) => text?.includes(word))).toEqual([true, false]);
  });

  it(
    'has equal bytes when it is built again elsewhere',
    async () => {
      const again = await buildBridge(join(folder, 'again/bridge'));
      expect(digestsOf(again)).toEqual(digestsOf(made));
    },
    BUILD_TIME_MS,
  );
});

describe('the functions', () => {
  let made: Bundles;
  beforeAll(async () => {
    made = await functionBundles();
  }, BUILD_TIME_MS);

  it.each([
    ['s3-bucket', 'ListObjectVersions', 'TerminateInstances'],
    ['ec2-instance', 'TerminateInstances', 'ListObjectVersions'],
    ['ebs-volume', 'DeleteVolume', 'ListObjectVersions'],
    ['sns-notify', 'ListTagsForResource', 'TerminateInstances'],
    ['webhook', 'webhook-signature', 'ListTagsForResource'],
    ['dead-letters', 'SendMessageBatch', 'ListObjectVersions'],
  ])('have %s in a module of its own, without the others', (name, own, other) => {
    const bundle = made.bundles.find((one) => one.name === name);
    const text = filesOf(made).get(`${name}/index.mjs`);
    expect([own, other].map((word) => text?.includes(word))).toEqual([true, false]);
    expect(bundle?.bytes).toBe(Buffer.byteLength(text ?? ''));
  });

  it.each([
    ['dead-letters', []],
    ['ebs-volume', ['ec2']],
    ['ec2-instance', ['auto-scaling', 'ec2']],
    ['s3-bucket', ['s3']],
    ['sns-notify', ['sns']],
    ['webhook', []],
  ])('have in %s the SDK clients %j, and neither another handler’s nor one of the queue', (name, clients) => {
    const { bytesOf = {} } = made.bundles.find((one) => one.name === name) ?? {};
    const packages = Object.entries(bytesOf).flatMap(([path, bytes]) =>
      bytes > 0 ? (/node_modules\/@aws-sdk\/client-([^/]+)/.exec(path)?.[1] ?? []) : [],
    );
    expect([...new Set(packages)].sort()).toEqual(clients);
  });

  it('are as many as the registry has handlers, and one', () => {
    expect(made.bundles.map(({ name }) => name).sort()).toEqual(
      [...registry.map(({ name }) => name), 'dead-letters'].sort(),
    );
  });

  it('are within their budgets: less than 80 KB each without the AWS SDK, and with it as design and function say', () => {
    for (const bundle of made.bundles) {
      const { name, bytes, bytesOf } = bundle;
      expect(Object.keys(bytesOf)).toContain(
        name === 'dead-letters' ? 'functions/dead-letter-entry.ts' : 'functions/entry.ts',
      );
      const ownBytes = ownBytesOf(bundle);
      expect(ownBytes, name).toBeGreaterThan(20_000);
      expect(faultsOf({ name, bytes, ownBytes })).toEqual([]);
    }
  });

  it('leave out of s3-bucket what only its role is made of', () => {
    const text = filesOf(made).get('s3-bucket/index.mjs');
    const actions = registry.find(({ name }) => name === 's3-bucket')?.permissions.flatMap((one) => one.actions);
    expect(actions).toContain('s3:ListAllMyBuckets');
    expect(text).not.toContain('s3:ListAllMyBuckets');
  });

  it('start with a configuration, each as a handler', () => {
    for (const bundle of made.bundles) expect(coldStartOf(bundle, 1).initMs).toBeGreaterThan(0);
  });

  it('F2: load under plain Node.js, as far as reading the configuration that is not there', () => {
    for (const { file } of made.bundles) {
      const { stderr } = node('--input-type=module', '--eval', `await import(${JSON.stringify(file)})`);
      expect(stderr).toMatch(/ConfigError\]?: reading FINALIZER_BRIDGE_CONFIG: the variable is not set/);
    }
  });

  it(
    'have equal bytes when they are built again elsewhere',
    async () => {
      const again = await buildFunctions(join(folder, 'again/functions'));
      expect(digestsOf(again)).toEqual(digestsOf(made));
    },
    BUILD_TIME_MS,
  );

  it('are refused when the registry has no such handler', async () => {
    await expect(buildFunctions(join(folder, 'none'), ['no-such'])).rejects.toThrow('the registry has no such handler');
  });
});

describe('the npm package', () => {
  const project = join(folder, 'project');
  beforeAll(async () => {
    const modules = join(project, 'node_modules');
    const installed = join(modules, 'finalizer-bridge');
    mkdirSync(installed, { recursive: true });
    cpSync(join(await npmPackage(), 'dist'), join(installed, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(installed, 'package.json'));
    for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'))) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(
      join(project, 'own.ts'),
      `import { decodeRequest, type Request } from 'finalizer-bridge/contract';
       import { defineHandler, gone } from 'finalizer-bridge/functions';
       import * as testing from 'finalizer-bridge/testing';
       const decoded = decodeRequest('{}');
       const request: Request | null = decoded.ok ? decoded.message : null;
       console.log(decoded.ok, request, typeof defineHandler, typeof gone, Object.keys(testing).length > 0);`,
    );
  }, BUILD_TIME_MS);

  it('is imported by its three entrances under plain Node.js', () => {
    const { stdout, stderr } = node(join(project, 'own.ts'));
    expect([stdout, stderr]).toEqual(['false null function function true\n', '']);
  });

  it.each([
    ['finalizer-bridge', 'finalizer-bridge'],
    ['kubectl-finalizer_bridge', 'kubectl finalizer-bridge'],
  ])('has the command line in one file, which is executed as %s', (name, called) => {
    const { bin } = z.parse(manifest, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    const file = join(project, 'node_modules/finalizer-bridge', bin[name] ?? 'is not named');
    // Where nothing is beside it that it could import, and under the name by which a person or kubectl calls it.
    const alone = mkdtempSync(join(folder, 'alone-'));
    cpSync(file, join(alone, 'main.mjs'));
    symlinkSync('main.mjs', join(alone, name));
    const env = { PATH: dirname(process.execPath) };
    const { stdout, stderr, status } = spawnSync(join(alone, name), ['--help'], { cwd: alone, env, encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
    expect(stdout).toContain(`Usage: ${called} `);
  });

  it('has types that a strict project can use', () => {
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...flags, 'own.ts'],
      { cwd: project, encoding: 'utf8' },
    );
    expect([stdout, status]).toEqual(['', 0]);
  });
});
