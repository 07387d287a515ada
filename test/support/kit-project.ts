/*
 * A project of somebody else: the npm package packed as it is published and put into an empty folder, beside the packages that
 * the project would install. Used by tests of what people who write handlers get.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { npmTarball } from './made-once.ts';
import { root } from './tracked-files.ts';

/** What a command printed, and how it ended. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The packed package, and what becomes of folders that have it. */
export interface PackedKit {
  /** Absolute path of the tarball. */
  readonly tarball: string;
  /** A new folder, removed with the rest. */
  folder(name: string): string;
  /** A new checkout as far as packing goes: built, with its packages, and not yet packed. */
  checkout(name: string): string;
  /** Does what `npm install` would: puts the package and all that this tree has into node_modules, but those left out. */
  install(project: string, leftOut?: readonly string[]): void;
  /** Runs a command in a folder, with no network, no home and no credentials. */
  run(folder: string, command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Ran;
  remove(): void;
}

/** A proxy where nobody listens: whoever asks the network fails. */
const NOWHERE = 'http://127.0.0.1:9';

/** Packs the package, unless a test before has. */
export async function packKit(): Promise<PackedKit> {
  const { tarball, source } = await npmTarball();
  const home = mkdtempSync(join(tmpdir(), 'finalizer-bridge-kit-'));
  const run: PackedKit['run'] = (folder, command, args, env = {}) => {
    const bin = join(folder, 'node_modules/.bin');
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: folder,
      env: {
        ...{ PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, NO_COLOR: '1' },
        ...{ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, GOGC: process.env.GOGC },
        ...{ HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, npm_config_offline: 'true', npm_config_audit: 'false' },
        ...env,
      },
      encoding: 'utf8',
    });
    if (error !== undefined) throw new Error(`running ${command} in ${folder}`, { cause: error });
    return { code: status, out: stdout, err: stderr };
  };
  return {
    tarball,
    folder: (name) => {
      const folder = join(home, 'projects', name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    checkout: (name) => {
      const folder = join(home, 'projects', name, 'checkout');
      cpSync(source, folder, { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      return folder;
    },
    install: (project, leftOut = []) => install(project, { tarball, leftOut, run }),
    run,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

interface Installing {
  readonly tarball: string;
  readonly leftOut: readonly string[];
  readonly run: PackedKit['run'];
}

function install(project: string, { tarball, leftOut, run }: Installing): void {
  const modules = join(project, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  const own = join(modules, 'finalizer-bridge');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(own);
  const { code, err } = run(project, 'tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  if (code !== 0) throw new Error(`unpacking ${tarball}: ${err}`);
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !/^\.|^finalizer-bridge$/.test(name))) {
    if (!leftOut.includes(name)) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  const bins = { tsc: 'typescript/bin/tsc', serverless: 'serverless/bin/serverless.js' };
  for (const [name, path] of Object.entries(bins)) symlinkSync(`../${path}`, join(modules, '.bin', name));
  symlinkSync('../finalizer-bridge/dist/cli/main.mjs', join(modules, '.bin', 'finalizer-bridge'));
}
