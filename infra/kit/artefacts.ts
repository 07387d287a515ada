/*
 * Bundles of somebody's handlers: per function one module with its own handler, and a zip of it for Lambda.
 * Called by serverless.ts when the framework packages or deploys, and by dev.ts, which runs the very same module.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { writeArchive } from '../archive.ts';
import { bundle } from '../bundle.ts';
import { DEAD_LETTERS } from '../functions/names.ts';
import type { LoadedRegistry } from './registry.ts';

/** The name of the file in a function's folder and zip. */
const MODULE = 'index.mjs';

/** A module of this package: beside this file as it runs, a source or what was compiled of it. */
function ownModule(path: string): string {
  return join(import.meta.dirname, '../..', `${path}${extname(import.meta.filename)}`);
}

/** The text of the module that Lambda loads for a function; its imports are those of a module in the project's folder. */
function functionText({ module, origins }: LoadedRegistry, name: string): string {
  if (name === DEAD_LETTERS) {
    return [
      `import { createDeadLetterEntry } from ${JSON.stringify(ownModule('functions/dead-letter-entry'))};`,
      'export const handler = createDeadLetterEntry();',
    ].join('\n');
  }
  const origin = origins.get(name);
  const entry = `import { createEntry } from ${JSON.stringify(ownModule('functions/entry'))};`;
  if (origin !== undefined) {
    return [
      entry,
      `import { ${origin.symbol} as own } from ${JSON.stringify(origin.module)};`,
      'export const handler = createEntry(own);',
    ].join('\n');
  }
  // Made where the registry is, so it comes with all that the registry imports.
  return [
    entry,
    `import { registry } from ${JSON.stringify(module)};`,
    `const own = registry.find((one) => one.name === ${JSON.stringify(name)});`,
    `if (own === undefined) throw new Error(${JSON.stringify(`starting function ${name}: the registry has it no more`)});`,
    'export const handler = createEntry(own);',
  ].join('\n');
}

/** Bundles a function into `<outDir>/<name>/index.mjs`; resolves to that path. */
export async function bundleFunction(registry: LoadedRegistry, name: string, outDir: string): Promise<string> {
  const { folder } = registry;
  const outfile = join(outDir, name, MODULE);
  await bundle({ name, folder, entry: { text: functionText(registry, name) }, outfile });
  return outfile;
}

/** What has to be made for a deployment: by function, the path of its zip, relative to the project's folder. */
export type Artefacts = Readonly<Record<string, { readonly package: { readonly artifact: string } }>>;

/** Bundles and zips functions; equal sources give equal zips, so what has not changed is not deployed again. */
export async function makeArtefacts(registry: LoadedRegistry, functions: Artefacts): Promise<void> {
  const { folder } = registry;
  for (const [name, { package: made }] of Object.entries(functions)) {
    const module = await bundleFunction(registry, name, join(folder, 'build/functions'));
    const archive = join(folder, made.artifact);
    await mkdir(dirname(archive), { recursive: true });
    await writeArchive({ bundle: module, entry: MODULE, archive });
  }
}
