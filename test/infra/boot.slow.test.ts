/*
 * The bootstrap as a person or CI meets it: real processes, real signals, a project in a temp folder.
 * What it does with the real registry is shown by running a script in a fresh clone.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isNewEnough } from '../../infra/boot/node.mjs';
import { BootProject, lockOf } from '../support/boot-project.ts';

const projects: BootProject[] = [];

function project(options: ConstructorParameters<typeof BootProject>[0] = {}): BootProject {
  const made = new BootProject(options);
  projects.push(made);
  return made;
}

afterEach(() => {
  for (const made of projects.splice(0)) made.remove();
});

const platform = `node-${process.platform}-${process.arch}`;
const begun = (line: string) => line.startsWith('begin');
// Says `ready`, counts the signals it gets, and ends a while after the first with what it counted.
const COUNTS_SIGNALS = `
  const counted = { SIGINT: 0, SIGTERM: 0, SIGHUP: 0 };
  const alive = setInterval(() => {}, 1000);
  for (const signal of Object.keys(counted)) process.on(signal, () => {
    counted[signal]++;
    setTimeout(() => { console.log(JSON.stringify(counted)); clearInterval(alive); process.exit(7); }, 400);
  });
  console.log('ready');`;

describe('starting the entry', () => {
  it('passes arguments, stdin and the exit code on, and leaves stdout to the entry', async () => {
    const made = project({
      entry: `let text = ''; for await (const part of process.stdin) text += part;
        console.log(JSON.stringify([...process.argv.slice(2), text])); process.exitCode = 5;`,
    });
    const ended = await made.run(['--keep', 'a b'], { input: 'from stdin' });
    expect(ended.stdout).toBe('["--keep","a b","from stdin"]\n');
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain('boot: installing the packages of this project');
  });

  it('puts the chosen Node.js first on the PATH and in the variables that npm hands down', async () => {
    const made = project({ entry: 'console.log(process.env.PATH, process.env.NODE, process.env.npm_node_execpath);' });
    const { stdout } = await made.run([], { env: { NODE: '/old/node', npm_node_execpath: '/old/node' } });
    const [path, ...nodes] = stdout.trim().split(' ');
    expect(path?.startsWith(join(process.execPath, '..'))).toBe(true);
    expect(nodes).toEqual([process.execPath, process.execPath]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes %s on once, however often it comes at a time',
    async (signal) => {
      const made = project({ entry: COUNTS_SIGNALS });
      const started = made.start();
      await vi.waitUntil(() => started.stdout().includes('ready'), { timeout: 60_000 });
      started.process.kill(signal);
      started.process.kill(signal);
      const { stdout, code } = await started.ended;
      expect(JSON.parse(stdout.split('\n')[1] ?? '')).toEqual({ SIGINT: 0, SIGTERM: 0, SIGHUP: 0, [signal]: 1 });
      expect(code).toBe(7);
    },
  );

  it('dies by the signal that ended the entry', async () => {
    const made = project({ entry: `process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);` });
    expect(await made.run()).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('does not outlive a bootstrap that was killed', async () => {
    const made = project({ entry: COUNTS_SIGNALS });
    const started = made.start();
    await vi.waitUntil(() => started.stdout().includes('ready'), { timeout: 60_000 });
    started.process.kill('SIGKILL');
    // The pipes close only when the entry, which holds them too, has ended.
    const { stdout, signal } = await started.ended;
    expect([signal, JSON.parse(stdout.split('\n')[1] ?? '')]).toEqual([
      'SIGKILL',
      { SIGINT: 0, SIGTERM: 1, SIGHUP: 0 },
    ]);
  });

  it('ends with the npm that started it, also when npm takes only the shell between with it', async () => {
    const made = project({ entry: COUNTS_SIGNALS });
    const started = made.start([], { env: { npm_lifecycle_event: 'demo' }, shell: true });
    await vi.waitUntil(() => started.stdout().includes('ready'), { timeout: 60_000 });
    started.process.kill('SIGTERM');
    const { stdout } = await started.ended;
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toEqual({ SIGINT: 0, SIGTERM: 1, SIGHUP: 0 });
  });

  it('says which entry does not exist, before anything is installed', async () => {
    const made = project();
    const { code, stderr } = await made.run([], { entry: 'nowhere.ts' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^boot: starting nowhere.ts: there is no such file in .*\n$/);
    expect(made.npmLog()).toEqual([]);
  });
});

describe('installing packages', () => {
  it('installs once for a lock file, without scripts, and again when the lock file has changed', async () => {
    const made = project();
    await made.run();
    await made.run();
    expect(made.npmLog().filter(begun)).toHaveLength(1);
    expect(made.npmLog()[0]).toContain(' ci --ignore-scripts --include=dev');
    made.write('package-lock.json', lockOf({ 'node_modules/a': { version: '1.0.1' } }));
    const { stderr } = await made.run();
    expect(made.npmLog().filter(begun)).toHaveLength(2);
    expect(stderr).toContain('(package-lock.json or the platform has changed)');
  });

  it('installs nothing over what a manual npm install has brought to the same state', async () => {
    const made = project();
    const packages = {
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
      'node_modules/b': { version: '1.0.0', optional: true, os: ['none'] },
      'node_modules/needed-by-b': { version: '1.0.0', optional: true },
    };
    made.write('package-lock.json', lockOf(packages));
    const { 'node_modules/a': present } = packages;
    made.write('node_modules/.package-lock.json', lockOf({ 'node_modules/a': present }));
    expect(await made.run()).toMatchObject({ code: 0 });
    expect(made.npmLog()).toEqual([]);
  });

  it.each([
    ['another version', { 'node_modules/a': { version: '0.9.0', integrity: 'sha512-a' } }],
    ['a package missing', {}],
    ['a package too many', { 'node_modules/a': { version: '1.0.0' }, 'node_modules/c': { version: '1.0.0' } }],
  ])('installs where the packages present are not those locked: %s', async (_, packages) => {
    const made = project();
    const locked = { 'node_modules/a': { version: '1.0.0' } };
    made.write('package-lock.json', lockOf(locked));
    made.write('node_modules/.package-lock.json', lockOf(packages));
    await made.run();
    expect(made.npmLog().filter(begun)).toHaveLength(1);
  });

  it('lets two that start at once install one after the other, the second finding it done', async () => {
    const made = project({ entry: `console.log('ran');` });
    const ended = await Promise.all([made.run(), made.run(), made.run()]);
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(Array(3).fill([0, 'ran\n']));
    expect(made.npmLog().map((line) => line.split(' ')[0])).toEqual(['begin', 'end']);
  });

  it('takes over the lock of a process that has died', async () => {
    const made = project();
    const { pid } = spawnSync(process.execPath, ['--version']);
    const lock = join(made.folder, '.cache/boot.lock');
    mkdirSync(lock, { recursive: true });
    writeFileSync(join(lock, 'owner.json'), JSON.stringify({ pid, host: hostname(), token: 'dead' }));
    const ended = await Promise.all([made.run(), made.run()]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(made.npmLog().map((line) => line.split(' ')[0])).toEqual(['begin', 'end']);
  });

  it('passes a signal on to npm, dies of it, and installs again the next time', async () => {
    const made = project();
    const started = made.start([], { env: { NPM_PLAN: 'slow' } });
    await vi.waitUntil(() => made.npmLog().length === 1, { timeout: 60_000 });
    started.process.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ signal: 'SIGTERM' });
    expect(made.npmLog()).toContain('interrupted');
    expect(await made.run()).toMatchObject({ code: 0 });
    expect(made.npmLog().filter(begun)).toHaveLength(2);
  });

  it('fails, now and the next time, where npm took a package that it could not fetch for one not wanted', async () => {
    const made = project({ entry: `console.log('ran');` });
    made.write(
      'package-lock.json',
      lockOf({ 'node_modules/a': { version: '1.0.0', optional: true, os: [process.platform] } }),
    );
    for (const _ of ['now', 'next time']) {
      const { code, stdout, stderr } = await made.run([], { env: { NPM_PLAN: 'left out' } });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('npm ci brought no node_modules/a: the package registry cannot be reached');
    }
  });

  it('says in one line that the registry cannot be reached, and does not start the entry', async () => {
    const made = project({ entry: `console.log('ran');` });
    const { code, stdout, stderr } = await made.run([], { env: { NPM_PLAN: 'unreachable' } });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the package registry cannot be reached');
  });
});

describe('choosing a Node.js', () => {
  const script = `#!/bin/sh\nMARK=packaged exec "${process.execPath}" "$@"\n`;

  it('brings the packaged one where the host has an older one, and starts the entry with it', async () => {
    const made = project({ engines: '>=99.1', entry: 'console.log(process.env.MARK, process.env.PATH);' });
    made.writeToolchain({ [platform]: '99.9.9' }, script);
    const { stdout, stderr } = await made.run();
    const [mark, path] = stdout.trim().split(' ');
    expect(mark).toBe('packaged');
    expect(path?.startsWith(join(made.folder, `infra/toolchain/node_modules/${platform}/bin`))).toBe(true);
    expect(stderr).toContain(`installing Node.js 99.9.9 for ${platform.slice(5)}, because Node.js >=99.1 is needed`);
  });

  it('says what to install where none is packaged for the platform', async () => {
    const made = project({ engines: '>=99.1' });
    made.writeToolchain({ 'node-other-cpu': '99.9.9' }, script);
    const { code, stderr } = await made.run();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^boot: Node.js >=99.1 is needed and this is [^;]+; none is packaged for [^:]+: install .*\n$/,
    );
  });

  it('says so where the packaged one does not run', async () => {
    const made = project({ engines: '>=99.1' });
    made.writeToolchain({ [platform]: '99.9.9' }, '#!/bin/sh\necho no such loader >&2\nexit 127\n');
    const { code, stderr } = await made.run();
    expect(code).toBe(1);
    expect(stderr).toMatch(/does not run here \(no such loader\): install Node\.js/);
  });

  it('says in one line that npm is missing', async () => {
    const made = project({ engines: '>=99.1', npm: false });
    made.writeToolchain({ [platform]: '99.9.9' }, script);
    const { code, stderr } = await made.run([], { env: { PATH: made.bin } });
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^boot: npm is not on the PATH and is needed/);
  });

  it.each([
    ['22.19.0', '>=22.19', true],
    ['22.18.9', '>=22.19', false],
    ['24.0.0', '>=22.19', true],
    ['22.19.0', '>=22.19.1', false],
    ['9.99.0', '>=22', false],
  ])('holds %s against %s: %s', (version, range, expected) => {
    expect(isNewEnough(version, range)).toBe(expected);
  });

  it('refuses a range that it does not understand rather than guess', () => {
    expect(() => isNewEnough('24.0.0', '^22 || ^24')).toThrow('"^22 || ^24" is not ">=x.y.z"');
  });
});
