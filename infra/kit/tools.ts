/*
 * Tools that a project brings itself, so that who only runs the bridge or a function does not get them: esbuild to bundle,
 * fauxqs to have queues on one machine. Looked for from the project's folder, not from where this package lies, so that it
 * makes no difference how a package manager lays packages out. Called by ../bundle.ts and by ../local/queue-server.ts.
 */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { KitError } from './error.ts';

/** A tool: its package, what it is for, and what it has to export. */
interface Tool<T> {
  readonly name: string;
  readonly purpose: string;
  readonly isWhole: (exported: object) => exported is T & object;
}

type Esbuild = Pick<typeof import('esbuild'), 'build'>;
type Fauxqs = Pick<typeof import('fauxqs'), 'buildApp'>;

const has = (exported: object, name: string) => typeof Reflect.get(exported, name) === 'function';

/** Loads esbuild for the project in a folder. @throws KitError when it is not installed there. */
export function loadEsbuild(folder: string): Promise<Esbuild> {
  const isWhole = (exported: object): exported is Esbuild => has(exported, 'build');
  return load(folder, { name: 'esbuild', purpose: 'bundling functions', isWhole });
}

/** Loads fauxqs for the project in a folder. @throws KitError when it is not installed there. */
export function loadFauxqs(folder: string): Promise<Fauxqs> {
  const isWhole = (exported: object): exported is Fauxqs => has(exported, 'buildApp');
  return load(folder, { name: 'fauxqs', purpose: 'queues on this machine', isWhole });
}

const manifestShape = z.object({ main: z.string() });

/** The main module of a package, as a URL, where the project in a folder finds it; undefined when it is not installed. */
export function findInProject(folder: string, name: string): URL | undefined {
  const manifest = manifestOf(folder, name);
  if (manifest === undefined) return undefined;
  const { main } = manifestShape.parse(JSON.parse(readFileSync(manifest, 'utf8')));
  return new URL(main, pathToFileURL(manifest));
}

function manifestOf(folder: string, name: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(join(folder, 'package.json')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

async function load<T>(folder: string, { name, purpose, isWhole }: Tool<T>): Promise<T> {
  const main = findInProject(folder, name);
  if (main === undefined) {
    throw new KitError(`${purpose} needs ${name}, which is not installed: npm install --save-dev ${name}`);
  }
  const exported: object = await import(main.href);
  if (isWhole(exported)) return exported;
  throw new KitError(`${purpose} needs another version of ${name} than the one in ${main.pathname}`);
}
