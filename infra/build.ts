/*
 * Entry of `npm run build [bridge|functions|package]`: makes what is shipped. build/bridge is one module for the image,
 * build/functions one module per handler for Lambda, dist/ the npm package: for those who write handlers, and the command
 * line.
 * package.ts, image.ts and the tests call the same functions. What comes next is package.ts for the functions, image.ts for the image.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { registry } from '../functions/registry.ts';
import { type Bundle, bundle, describe } from './bundle.ts';
import { functionModule } from './function-module.ts';
import { DEAD_LETTERS } from './functions/names.ts';
import { writePapers } from './shipped/papers.ts';
import { runEntry, runTool } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** The bundles of one sort and the folder they lie in. */
export interface Bundles {
  /** Absolute path. */
  readonly outDir: string;
  readonly bundles: readonly Bundle[];
}

/** Bundles the bridge into `<outDir>/main.mjs`. */
export async function buildBridge(outDir = join(root, 'build/bridge')): Promise<Bundles> {
  const entry = { file: 'bridge/main.ts' };
  return {
    outDir,
    bundles: [await bundle({ name: 'bridge', entry, outfile: join(outDir, 'main.mjs'), checksNode: true })],
  };
}

/** Bundles the command line into `<outDir>/main.mjs`, which can be executed as it is. */
export async function buildCli(outDir = join(root, 'dist/cli')): Promise<Bundles> {
  const entry = { file: 'bridge/cli/main.ts' };
  const outfile = join(outDir, 'main.mjs');
  return { outDir, bundles: [await bundle({ name: 'cli', entry, outfile, isExecutable: true, checksNode: true })] };
}

/** All functions: one per handler, and the one for dead letters. */
export const FUNCTION_NAMES: readonly string[] = [...registry.map(({ name }) => name), DEAD_LETTERS];

/** Bundles the functions into `<outDir>/<name>/index.mjs`, each with its own handler only; all of them by default. */
export async function buildFunctions(
  outDir = join(root, 'build/functions'),
  names: readonly string[] = FUNCTION_NAMES,
): Promise<Bundles> {
  await rm(outDir, { recursive: true, force: true });
  const bundles: Bundle[] = [];
  for (const name of names) {
    const entry = { text: await functionModule(name, '.') };
    bundles.push(await bundle({ name, entry, outfile: join(outDir, name, 'index.mjs') }));
  }
  return { outDir, bundles };
}

/**
 * Makes the npm package in `outDir`: JavaScript and types of its entrances, laid out as the sources are, the template of a
 * repository of handlers, and the command line with its papers.
 */
export async function buildPackage(outDir = join(root, 'dist')): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  const code = await runTool('tsc', ['-p', 'tsconfig.build.json', '--outDir', outDir]);
  if (code !== 0) throw new Error(`compiling the npm package: tsc ended with ${code}`);
  await cp(join(root, 'infra/template'), join(outDir, 'infra/template'), { recursive: true });
  const { bundles, outDir: folder } = await buildCli(join(outDir, 'cli'));
  await writePapers({ bundles, folder });
}

async function main(what: readonly string[]): Promise<number> {
  const wanted = what.length > 0 ? what : ['bridge', 'functions', 'package'];
  for (const one of wanted) {
    const began = performance.now();
    if (one === 'bridge') print(await buildBridge());
    else if (one === 'functions') print(await buildFunctions());
    else if (one === 'package') await buildPackage();
    else throw new Error(`building ${one}: there are bridge, functions and package to build`);
    console.error(`${one}: built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  return 0;
}

function print({ bundles }: Bundles): void {
  for (const made of bundles) console.log(describe(made));
}

if (import.meta.main) await runEntry(() => main(process.argv.slice(2)));
