/*
 * A small project in a temp folder that starts through the real bootstrap, with an npm of our making on the PATH.
 * The npm writes down when it ran, so that tests can tell how often and whether two ran at once.
 * Used by the boot tests; the real npm and registry are exercised by every fresh clone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What the npm of the project does when it is asked for `ci`: the text of a JavaScript module. */
const NPM = `#!/usr/bin/env node
import { appendFileSync, mkdirSync, writeFileSync, existsSync, readFileSync } from 'node:fs';
const log = (line) => appendFileSync(process.env.NPM_LOG, line + '\\n');
log('begin ' + process.cwd() + ' ' + process.argv.slice(2).join(' '));
const plan = process.env.NPM_PLAN ?? '';
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
if (plan === 'left out') lock.packages = {};
if (plan === 'unreachable') { console.error('npm error code ECONNREFUSED'); process.exit(1); }
process.on('SIGTERM', () => { log('interrupted'); process.exit(0); });
await new Promise((done) => setTimeout(done, plan === 'slow' ? 60_000 : 60));
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify(lock));
if (existsSync('packaged')) {
  const folder = 'node_modules/node-' + process.platform + '-' + process.arch + '/bin';
  mkdirSync(folder, { recursive: true });
  writeFileSync(folder + '/node', readFileSync('packaged', 'utf8'), { mode: 0o755 });
}
log('end');
`;

/** A lock file over packages given by path. */
export function lockOf(packages: Readonly<Record<string, object>>): string {
  return JSON.stringify({ lockfileVersion: 3, packages });
}

/** How a started script ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A started script. */
export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written to stdout so far. */
  readonly stdout: () => string;
}

/** A project in a temp folder. */
export class BootProject {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'boot-test-'));
  /** The only folder of the PATH apart from that of Node.js; empty when there is no npm. */
  readonly bin: string = join(this.folder, 'path');

  constructor({ engines = '>=18', npm = true, entry = '' } = {}) {
    cpSync(join(root, 'infra/boot.mjs'), join(this.folder, 'infra/boot.mjs'));
    cpSync(join(root, 'infra/boot'), join(this.folder, 'infra/boot'), { recursive: true });
    this.write('package.json', JSON.stringify({ name: 'project', type: 'module', engines: { node: engines } }));
    this.write('package-lock.json', lockOf({ 'node_modules/a': { version: '1.0.0' } }));
    this.write('entry.ts', entry);
    mkdirSync(this.bin);
    if (npm) this.write('path/npm', NPM, 0o755);
  }

  /** Writes a file of the project. */
  write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text, { mode });
  }

  /** A toolchain package whose Node.js is the given shell script. */
  writeToolchain(packages: Readonly<Record<string, string>>, script: string): void {
    this.write('infra/toolchain/package.json', JSON.stringify({ optionalDependencies: packages }));
    this.write(
      'infra/toolchain/package-lock.json',
      lockOf({ 'node_modules/node': { version: '99.9.9', optional: true, os: [process.platform] } }),
    );
    this.write('infra/toolchain/packaged', script);
  }

  /** Starts the entry through the bootstrap, under a shell that waits for it if asked to, as under npm. */
  start(args: readonly string[] = [], { env = {}, input = '', entry = 'entry.ts', shell = false } = {}): Started {
    const line = [process.execPath, join(this.folder, 'infra/boot.mjs'), entry, ...args];
    const [command = '', ...rest] = shell ? ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...line] : line;
    const child = spawn(command, rest, {
      cwd: this.folder,
      env: {
        PATH: [this.bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
        NPM_LOG: join(this.folder, 'npm.log'),
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(input);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<Ended>((settle) => {
      child.once('close', (code, signal) => settle({ code, signal, stdout, stderr }));
    });
    return { process: child, ended, stdout: () => stdout };
  }

  /** Runs the entry through the bootstrap to its end. */
  run(...start: Parameters<BootProject['start']>): Promise<Ended> {
    return this.start(...start).ended;
  }

  /** What npm wrote down, a line for each beginning and end. */
  npmLog(): readonly string[] {
    const file = join(this.folder, 'npm.log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
