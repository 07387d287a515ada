/*
 * `finalizer-bridge init <folder>`: a repository of handlers to start from, a copy of ../template. Called by the command line.
 * It writes into a new or empty folder only, and runs nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { KitError } from './error.ts';

const TEMPLATE = join(import.meta.dirname, '../template');
/** Where a repository keeps the package itself: a path of somebody's machine would serve nobody else. */
const VENDOR = 'vendor';
const manifestSchema = z.object({ name: z.string(), version: z.string() });
/** A tree that was cloned empty is empty. */
const IGNORED = new Set(['.git']);

/** What to make, and where. */
export interface InitOptions {
  /** Relative to the working directory. */
  readonly folder: string;
  /**
   * The package that the repository is to have: the path of a tarball, which is copied into it, or what package.json may name.
   * The tarball of the checkout unless told.
   */
  readonly spec?: string | undefined;
}

/**
 * Copies the template.
 * @returns the absolute path of the folder
 * @throws KitError when something is in the folder, or the package is not there
 */
export async function init({ folder: asked, spec }: InitOptions): Promise<string> {
  const folder = resolve(asked);
  const source = sourceOf(spec);
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
  if (source.file !== undefined) await cp(source.file, join(folder, VENDOR, basename(source.file)));
  const file = join(folder, 'package.json');
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text
      .replace('"name": "teardown-handlers"', `"name": ${JSON.stringify(packageName(folder))}`)
      .replace(/("finalizer-bridge": )"[^"]+"/, `$1${JSON.stringify(source.named)}`),
  );
  return folder;
}

/** Where the package comes from: what package.json names, and the file to be taken along. */
function sourceOf(spec: string | undefined): { readonly named: string; readonly file?: string } {
  // No package is published: a version would bring whatever somebody else has published under the name.
  const given = spec ?? packed();
  if (given === undefined) {
    throw new KitError('no package is published yet: "npm pack" in a checkout makes it; name that by --package FILE');
  }
  if (!/\.tgz$/.test(given) || /^[a-z+]+:\/\//.test(given)) return { named: given };
  const file = resolve(given.replace(/^file:/, ''));
  if (!existsSync(file)) throw new KitError(`there is no ${file}: "npm pack" in a checkout makes the package`);
  return { named: `file:${VENDOR}/${basename(file)}`, file };
}

/** What `npm pack` makes in a checkout, if this stands in one and it was run; where the package is installed there is none. */
function packed(): string | undefined {
  const file = createRequire(import.meta.url).resolve('finalizer-bridge/package.json');
  const { name, version } = manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const tarball = join(dirname(file), `${name}-${version}.tgz`);
  return existsSync(tarball) ? tarball : undefined;
}

/** A folder's name as a package may have it. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'teardown-handlers' : name;
}
