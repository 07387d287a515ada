/*
 * A mutant: the product with one known-bad edit, made into one module in a folder of its own, which Node.js loads by itself: what
 * runs the tests would take a second for the hundreds of files of each.
 * Called by mutants.slow.test.ts; the edits themselves are in mutations.ts. An edit whose text no longer stands in the product
 * exactly once is an error, so that the list cannot rot.
 */
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { FleetProduct } from './fleet/fleet-bridges.ts';

const root = join(import.meta.dirname, '../..');

/** The parts of the product that run in a world. */
const PARTS = `
  export { startBridge } from './bridge/bridge.ts';
  export { createDispatch } from './functions/dispatch.ts';
  export { Candidate } from './bridge/leader.ts';
  export { startRuleKeeper } from './bridge/rule-keeper.ts';
  export { ApiError } from './bridge/ports.ts';`;

/** One text of the product, and what stands there instead. */
export interface Edit {
  /** File of the product, from the root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** One known-bad edit. */
export interface Mutation extends Edit {
  /** What the edit makes the product do. */
  readonly what: string;
  /** Where something is shut twice: what has to be edited as well before it is open. */
  readonly also?: readonly Edit[];
  /** Id of the scenario that must catch it. */
  readonly caughtBy: string;
}

/** A loaded mutant. */
export interface Mutant {
  readonly product: FleetProduct;
  /** Removes its folder. */
  dispose(): Promise<void>;
}

/**
 * The files of the product that an edit changes, as they read then, by their paths from the root.
 * @throws Error if the edit does not fit the product.
 */
export async function edit({ what, also = [], ...first }: Omit<Mutation, 'caughtBy'>): Promise<Map<string, string>> {
  const edited = new Map<string, string>();
  for (const { file, from, to } of [first, ...also]) {
    const text = edited.get(file) ?? (await readFile(join(root, file), 'utf8'));
    const places = text.split(from).length - 1;
    if (places !== 1) throw new Error(`mutating ${file} so that it ${what}: its text stands there ${places} times`);
    edited.set(
      file,
      text.replace(from, () => to),
    );
  }
  return edited;
}

/**
 * Makes and loads a mutant.
 * @throws Error if the edit does not fit the product.
 */
export async function loadMutant(mutation: Omit<Mutation, 'caughtBy'>): Promise<Mutant> {
  const edited = await edit(mutation);
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'));
  const outfile = join(folder, 'product.mjs');
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await build({
    stdin: { contents: PARTS, resolveDir: root, loader: 'ts' },
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'silent' },
    plugins: [instead(edited)],
  });
  const product: FleetProduct = createRequire(import.meta.url)(outfile);
  return { product, dispose: async () => await rm(folder, { recursive: true, force: true }) };
}

/** Has texts stand in the place of the product's files, by their paths from the root. */
function instead(texts: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'instead',
    setup({ onLoad }) {
      for (const [file, contents] of texts) {
        const path = join(root, file).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
        onLoad({ filter: new RegExp(`^${path}$`) }, () => ({ contents, loader: 'ts' }));
      }
    },
  };
}
