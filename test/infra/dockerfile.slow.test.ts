/*
 * bridge/Dockerfile, as far as it goes without a Docker engine: checked by BuildKit's own rules, its steps carried out in
 * folders, and its entry point started from what they made, as another user that may read that and write nothing.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sha256Hex } from '../../bridge/contract.ts';
import { buildImage } from '../../infra/image.ts';
import { type Dockerfile, readDockerfile } from '../../infra/local/dockerfile.ts';
import { freePorts } from '../../infra/local/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type BuiltImage, buildStages } from '../support/image-build.ts';
import { root } from '../support/tracked-files.ts';

const say = (line: string) => console.error(line);
const folder = mkdtempSync(join(tmpdir(), 'image-test-'));
const EPOCH = 1_770_091_506;
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

let dockerfile: Dockerfile;
beforeAll(async () => {
  dockerfile = await readDockerfile(join(root, 'bridge/Dockerfile'), say);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the Dockerfile', () => {
  it('gives no build check of BuildKit a reason to warn', () => {
    expect(dockerfile.findings).toEqual([]);
  });

  it('would be found out', async () => {
    const file = join(folder, 'Dockerfile');
    writeFileSync(file, 'FROM alpine AS Build\nWORKDIR app\nARG API_TOKEN\nCMD echo $NOWHERE\n');
    const { findings } = await readDockerfile(file, say);
    const rules = findings.map(({ rule }) => rule);
    expect(rules).toEqual(
      expect.arrayContaining([
        'StageNameCasing',
        'WorkdirRelativePath',
        'SecretsUsedInArgOrEnv',
        'JSONArgsRecommended',
      ]),
    );
  });

  it('names both base images by arguments, so that a release can name their digests', () => {
    expect(dockerfile.stages.map(({ base }) => base.replace(/[${}]+/g, '%'))).toEqual([
      '%BUILD_IMAGE%',
      '%RUNTIME_IMAGE%',
    ]);
    expect(dockerfile.args.RUNTIME_IMAGE).toMatch(/^gcr\.io\/distroless\/nodejs24-debian13:nonroot$/);
  });
});

describe('the image', () => {
  let image: BuiltImage;
  beforeAll(() => {
    image = buildStages(dockerfile, { SOURCE_DATE_EPOCH: String(EPOCH), REVISION: 'abc', RUNTIME_IMAGE: 'r@sha256:1' });
  }, 600_000);
  afterAll(() => image?.remove());

  it('has the files that the tree makes, byte by byte', async () => {
    const outDir = join(folder, 'image');
    const files = await buildImage({ outDir, builtAt: EPOCH });
    const digests = (base: string) => files.map((file) => [file, sha256Hex(readFileSync(join(base, file), 'utf8'))]);
    expect(digests(image.folder)).toEqual(digests(outDir));
    expect(readdirSync(join(image.folder, 'app')).sort()).toEqual(readdirSync(join(outDir, 'app')).sort());
  }, 600_000);

  it('is labelled with its version, its sources and what it is based on', () => {
    expect(image.labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'abc',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.base.name': 'r@sha256:1',
    });
  });

  it('starts the bridge as a user without rights, writes nothing, and ends on SIGTERM with 0', async () => {
    const [port = 0] = await freePorts(1);
    configure(port);
    const before = snapshot(image.folder);
    const bridge = start([...image.entrypoint, ...image.command]);
    const errors = text(bridge.stderr);
    const log = text(bridge.stdout);
    try {
      const healthy = () =>
        fetch(`http://127.0.0.1:${port}/healthz`)
          .then(({ ok }) => ok)
          .catch(() => false);
      await eventually('the bridge serves', healthy);
      bridge.kill('SIGTERM');
      expect(await once(bridge, 'close')).toEqual([0, null]);
    } finally {
      bridge.kill('SIGKILL');
    }
    expect(await errors).toBe('');
    expect(await log).toContain('stopping the bridge: done');
    expect(snapshot(image.folder)).toEqual(before);
  });

  it('has the command line that the chart runs before an uninstall', async () => {
    const child = start(['/nodejs/bin/node', '/app/cli/main.mjs', 'drain', '--help']);
    const [out, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect([errors, end]).toEqual(['', [0, null]]);
    expect(out).toContain('Usage: finalizer-bridge drain');
    // `node` is found without its path, as a Job's command has it.
    expect(image.env.PATH?.split(':')).toContain('/nodejs/bin');
  });

  /** Where the image's own paths lie on this machine. */
  const here = (path: string) => (/^\/(app|nodejs|etc)\//.test(path) ? join(image.folder, path) : path);

  /** Puts a configuration where the image looks for it, for a cluster that does not answer. */
  function configure(port: number): void {
    const mounted = here('/etc/finalizer-bridge/');
    mkdirSync(mounted, { recursive: true });
    const kubeconfig = join(mounted, 'kubeconfig');
    const nowhere = 'http://127.0.0.1:9/q';
    const handlers = { 's3-bucket': { queue: nowhere, sender: 'AROAEXAMPLE' } };
    const queues = { region: 'eu-west-1', results: nowhere };
    const server = { host: '127.0.0.1', port };
    writeFileSync(join(mounted, 'bridge.yaml'), JSON.stringify({ kubeconfig, queues, handlers, server }));
    const named = (name: string, rest: object) => [{ name, ...rest }];
    const cluster = named('a', { cluster: { server: 'https://127.0.0.1:9' } });
    const contexts = named('a', { context: { cluster: 'a', user: 'a' } });
    const users = named('a', { user: { token: 'none' } });
    const config = { apiVersion: 'v1', kind: 'Config', clusters: cluster, contexts, users, 'current-context': 'a' };
    writeFileSync(kubeconfig, JSON.stringify(config));
    for (const name of readdirSync(mounted)) chmodSync(join(mounted, name), 0o444);
  }

  /**
   * Starts a command of the image with nothing in its environment but what the image says, as the image's user, or as
   * ourselves where we have no right to become that one. Node.js itself refuses it every file outside the image and
   * every write, wherever it is.
   */
  function start(words: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const { env, user, workdir } = image;
    const [command = '', ...args] = words.map(here);
    const [uid = 0, gid = 0] = user.split(':').map(Number);
    const other = process.getuid?.() === 0 ? { uid, gid } : {};
    const barred = ['--permission', `--allow-fs-read=${join(image.folder, '*')}`];
    const options = { ...other, env, cwd: here(`${workdir}/`) };
    return spawn(command, [...barred, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  }
});

/** Every path below a folder with the digest of what is in it. */
function snapshot(base: string): readonly string[] {
  const entries = readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries
    .map(
      ({ parentPath, name }) =>
        `${join(parentPath, name)} ${sha256Hex(readFileSync(join(parentPath, name), 'latin1'))}`,
    )
    .sort();
}
