/*
 * A mutant: a copy of the product with one known-bad edit, loaded from a folder of its own.
 * Called by mutants.slow.test.ts; the edits themselves are in mutations.ts. An edit whose text no longer stands in the product
 * exactly once is an error, so that the list cannot rot.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FleetProduct } from './fleet/fleet-bridges.ts';

const root = join(import.meta.dirname, '../..');

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
 * Makes and loads a mutant.
 * @throws Error if the edit does not fit the product.
 */
export async function loadMutant({ what, also = [], ...edit }: Omit<Mutation, 'caughtBy'>): Promise<Mutant> {
  const edited = new Map<string, string>();
  for (const { file, from, to } of [edit, ...also]) {
    const text = edited.get(file) ?? (await readFile(join(root, file), 'utf8'));
    const places = text.split(from).length - 1;
    if (places !== 1) throw new Error(`mutating ${file} so that it ${what}: its text stands there ${places} times`);
    edited.set(
      file,
      text.replace(from, () => to),
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'));
  await Promise.all([
    ...['bridge', 'functions'].map((part) => cp(join(root, part), join(folder, part), { recursive: true })),
    cp(join(root, 'package.json'), join(folder, 'package.json')),
    symlink(join(root, 'node_modules'), join(folder, 'node_modules')),
  ]);
  for (const [file, text] of edited) await writeFile(join(folder, file), text);
  const load = (path: string) => import(pathToFileURL(join(folder, path)).href);
  const [{ startBridge }, { createDispatch }, { Candidate }, { startRuleKeeper }, { ApiError }]: [
    Pick<FleetProduct, 'startBridge'>,
    Pick<FleetProduct, 'createDispatch'>,
    Pick<FleetProduct, 'Candidate'>,
    Pick<FleetProduct, 'startRuleKeeper'>,
    Pick<FleetProduct, 'ApiError'>,
  ] = await Promise.all([
    load('bridge/bridge.ts'),
    load('functions/dispatch.ts'),
    load('bridge/leader.ts'),
    load('bridge/rule-keeper.ts'),
    load('bridge/ports.ts'),
  ]);
  const dispose = async () => await rm(folder, { recursive: true, force: true });
  return { product: { startBridge, createDispatch, Candidate, startRuleKeeper, ApiError }, dispose };
}
