/*
 * Which packages of the lock file are really in a bundle, by the files that esbuild took bytes from. Called by build.ts for
 * what is shipped with a bundle: the licences (notices.ts) and the bill of materials (sbom.ts).
 * The lock file alone lists ten times as many, and says nothing of what a tree-shaken bundle holds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Bundle } from '../bundle.ts';

const root = join(import.meta.dirname, '../..');
const MODULES = 'node_modules/';

const entrySchema = z.object({
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  license: z.optional(z.string()),
  integrity: z.optional(z.string()),
  dependencies: z._default(z.record(z.string(), z.string()), {}),
  optionalDependencies: z._default(z.record(z.string(), z.string()), {}),
  peerDependencies: z._default(z.record(z.string(), z.string()), {}),
});
const lockSchema = z.object({ packages: z.record(z.string(), entrySchema) });

/** A package that gave bytes to a bundle. */
export interface BundledPackage {
  /** Its folder from the root of the tree, as the lock file has it: unique where a package is there twice. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** SPDX identifier or expression. */
  readonly license: string;
  /** Subresource integrity of its archive: `sha512-<base64>`. */
  readonly integrity: string;
  /** Folders of the bundled packages that it leans on, sorted. */
  readonly dependsOn: readonly string[];
}

/**
 * The packages in some bundles, sorted by folder.
 * @throws Error naming the package that the lock file does not fully know
 */
export function packagesOf(bundles: readonly Bundle[]): readonly BundledPackage[] {
  const lock = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const folders = new Set(bundles.flatMap(({ bytesOf }) => foldersOf(bytesOf)));
  return [...folders].sort().map((folder) => {
    const entry = lock.packages[folder];
    const name = entry?.name ?? nameOf(folder);
    const { version, license, integrity } = entry ?? {};
    if (entry === undefined || version === undefined || license === undefined || integrity === undefined) {
      throw new Error(`looking up ${folder} in package-lock.json: version, license or integrity is missing`);
    }
    const wanted = Object.keys({
      ...entry.dependencies,
      ...entry.optionalDependencies,
      ...entry.peerDependencies,
    });
    const dependsOn = wanted.flatMap((dependency) => resolve(folder, dependency, folders) ?? []).sort();
    return { folder, name, version, license, integrity, dependsOn };
  });
}

function foldersOf(bytesOf: Bundle['bytesOf']): readonly string[] {
  return Object.entries(bytesOf).flatMap(([path, bytes]) => {
    // The path may lead out of the tree first, where node_modules is a link.
    const start = path.indexOf(MODULES);
    if (bytes === 0 || start < 0) return [];
    const inside = path.slice(start);
    const name = inside.lastIndexOf(MODULES) + MODULES.length;
    const parts = inside.slice(name).split('/');
    return [inside.slice(0, name) + parts.slice(0, inside.startsWith('@', name) ? 2 : 1).join('/')];
  });
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf(MODULES) + MODULES.length);
}

/** Where Node.js finds a package from another: beside it, or in a folder further out. */
function resolve(from: string, name: string, folders: ReadonlySet<string>): string | undefined {
  for (let base = `${from}/`; ; base = base.slice(0, base.lastIndexOf(MODULES))) {
    const found = `${base}${MODULES}${name}`;
    if (folders.has(found)) return found;
    if (base === '') return undefined;
  }
}
