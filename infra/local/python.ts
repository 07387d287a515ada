/*
 * A cached Python virtual environment with exactly the packages of a requirements.txt, checked by hash. Used by cloud, and by
 * the benchmarks for a peer. Its folder is named after those packages and the Python it was made with, so a new one of either
 * makes a new environment.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, cacheRoot, type Environment } from './cache.ts';
import { type Say, withHeartbeat } from './progress.ts';
import { run } from './run.ts';

export interface PythonOptions {
  readonly say: Say;
  readonly env: Environment;
  /** Commands to try, in order. */
  readonly candidates?: readonly string[];
}

const CANDIDATES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
/** Without venv and ensurepip, a package of its own on Debian, it is no use; an environment leans on its prefix for ever. */
const ASK =
  'import sys, venv, ensurepip; print("%d.%d.%d" % sys.version_info[:3], sys.implementation.cache_tag, sys.base_prefix)';

/** Which environment. */
export interface PythonPackages extends PythonOptions {
  /** Begins the folder's name. */
  readonly name: string;
  /** The file that names every package with its hashes. */
  readonly requirements: string;
  /** What it is for, in messages. */
  readonly what: string;
  /** Least minor version of Python 3. */
  readonly least: number;
}

/** The cloud emulator's environment, made if need be (about 20 s). Throws one line that says what to install. */
export async function cloudEnvironment(options: PythonOptions): Promise<string> {
  const requirements = join(import.meta.dirname, 'moto', 'requirements.txt');
  return await pythonEnvironment({
    ...options,
    ...{ name: 'moto', requirements, what: 'the S3 and EC2 emulator', least: 10 },
  });
}

/** The environment's folder, made if need be. Throws one line that says what to install. */
export async function pythonEnvironment(packages: PythonPackages): Promise<string> {
  const { say, env, name, requirements, what } = packages;
  const python = await findPython(packages);
  const content = createHash('sha256')
    .update(await readFile(requirements))
    .update(python.identity);
  const hash = content.digest('hex').slice(0, 16);
  return await cached({
    root: cacheRoot(env),
    key: `${name}-${hash}-${python.tag}-${process.platform}-${process.arch}`,
    say,
    fill: async (folder) => {
      await run(python.command, ['-m', 'venv', folder], { env });
      const pip = [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--require-hashes',
        '-r',
        requirements,
      ];
      await withHeartbeat({ say, what: `installing ${what} for Python ${python.version}` }, () =>
        run(join(folder, 'bin', 'python'), pip, { env }),
      );
    },
  });
}

interface Python {
  readonly command: string;
  readonly version: string;
  readonly tag: string;
  /** Everything that was told of it. */
  readonly identity: string;
}

async function findPython({ env, candidates = CANDIDATES, what, least }: PythonPackages): Promise<Python> {
  const seen: string[] = [];
  for (const command of candidates) {
    const said = await run(command, ['-c', ASK], { env, timeout: 120_000 }).catch(() => undefined);
    if (said === undefined) continue;
    const [version = '', tag = ''] = said.trim().split(' ');
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major === 3 && minor >= least) return { command, version, tag, identity: said.trim() };
    seen.push(version);
  }
  const found = seen.length === 0 ? 'none was found' : `found ${seen.join(', ')}`;
  throw new Error(`starting ${what}: install Python 3.${least} or newer with its venv module (${found})`);
}
