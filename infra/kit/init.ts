/*
 * `finalizer-bridge init <folder>`: a repository of handlers to start from, a copy of ../template. Called by the command line.
 * It writes into a new or empty folder only, and runs nothing.
 */
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { KitError } from './error.ts';

const TEMPLATE = join(import.meta.dirname, '../template');
/** A tree that was cloned empty is empty. */
const IGNORED = new Set(['.git']);

/** What to make, and where. */
export interface InitOptions {
  /** Relative to the working directory. */
  readonly folder: string;
  /** What package.json names for this package: a version, or the path of a tarball. */
  readonly spec: string;
}

/**
 * Copies the template.
 * @returns the absolute path of the folder
 * @throws KitError when something is in the folder
 */
export async function init({ folder: asked, spec }: InitOptions): Promise<string> {
  const folder = resolve(asked);
  const there = await mkdir(folder, { recursive: true }).then(
    () => readdir(folder),
    (cause: unknown) => {
      throw new KitError(`making ${folder}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    },
  );
  const others = there.filter((name) => !IGNORED.has(name));
  if (others.length > 0) {
    throw new KitError(`${folder} is not empty (${others.slice(0, 3).join(', ')}): name a new folder`);
  }
  await cp(TEMPLATE, folder, { recursive: true });
  // The package manager leaves files of this name out of packages.
  await rename(join(folder, 'gitignore'), join(folder, '.gitignore'));
  const manifest = join(folder, 'package.json');
  const text = await readFile(manifest, 'utf8');
  await writeFile(
    manifest,
    text
      .replace('"name": "teardown-handlers"', `"name": ${JSON.stringify(packageName(folder))}`)
      .replace(/("finalizer-bridge": )"[^"]+"/, `$1${JSON.stringify(spec)}`),
  );
  return folder;
}

/** A folder's name as a package may have it. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'teardown-handlers' : name;
}
