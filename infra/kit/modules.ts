/*
 * Modules of somebody's project, loaded whatever dialect of TypeScript they are written in: esbuild makes one module of what
 * the project wrote, what it installed is left to Node.js. Called by registry.ts, and by dev.ts for what it starts beside.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildOptions } from 'esbuild';
import * as z from 'zod/mini';
import { KitError } from './error.ts';
import { loadEsbuild } from './tools.ts';

/** The exports of a module. */
export type Exported = Readonly<Record<string, unknown>>;

const READING: BuildOptions = {
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  logLevel: 'silent',
};
const exportsShape = z.record(z.string(), z.record(z.string(), z.unknown()));

/** A path in the project as modules of its folder import it. */
export function asModule(file: string): string {
  return `./${file.replaceAll('\\', '/').replace(/^\.\//, '')}`;
}

/**
 * The exports of each module, all loaded together, so that a value is the same wherever it shows.
 * @throws KitError when they do not build or load.
 */
export async function importAll(folder: string, modules: readonly string[]): Promise<readonly Exported[]> {
  const text = modules.map((module, index) => `export * as m${index} from ${JSON.stringify(module)};`).join('\n');
  const place = join(folder, 'build');
  await mkdir(place, { recursive: true });
  // Where the project's packages are found, and under a name that no other run has.
  const outfile = join(place, `loaded-${process.pid}-${performance.now()}.mjs`);
  try {
    const stdin = { contents: text, resolveDir: folder, sourcefile: 'modules.ts', loader: 'ts' } as const;
    await buildModules(folder, { stdin, outfile });
    const loaded: unknown = await import(pathToFileURL(outfile).href).catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new KitError(`loading ${modules[0]}: ${said.replaceAll(relative(folder, outfile), 'it')}`, { cause });
    });
    const exported = exportsShape.parse({ ...Object(loaded) });
    return modules.map((_, index) => exported[`m${index}`] ?? {});
  } finally {
    await rm(outfile, { force: true });
  }
}

/** Builds modules of a project, as they are read. @throws KitError with esbuild's words. */
export async function buildModules(folder: string, options: BuildOptions) {
  const { build } = await loadEsbuild(folder);
  return await build({ ...READING, absWorkingDir: folder, ...options }).catch((cause: unknown) => {
    throw new KitError(`building: ${cause instanceof Error ? cause.message : cause}`, { cause });
  });
}
