/*
 * What is shipped, made once in a run for all tests that look at it or start it: the bundles, the npm package, its tarball.
 * It lies in the run's folder under a digest of the sources; whichever process comes first makes it, the others wait for it.
 * Nobody changes what is in there; a test of how something is made makes it itself (build.slow.test.ts).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as z from 'zod/mini';
import {
  type Bundles,
  buildBridge,
  buildCli,
  buildFunctions,
  buildPackage,
  FUNCTION_NAMES,
} from '../../infra/build.ts';
import { cached } from '../../infra/local/cache.ts';
import { RUN_FOLDER } from '../../infra/run-folder.ts';
import { root, trackedFiles } from './tracked-files.ts';

/** The bridge, as `<outDir>/main.mjs`. */
export const bridgeBundle = (): Promise<Bundles> => bundlesOnce('bridge', buildBridge);

/** The command line, as `<outDir>/main.mjs`. */
export const cliBundle = (): Promise<Bundles> => bundlesOnce('cli', buildCli);

/** Functions, as `<outDir>/<name>/index.mjs`. */
export const functionBundles = (names: readonly string[] = FUNCTION_NAMES): Promise<Bundles> =>
  bundlesOnce(['functions', ...names].join('-'), (outDir) => buildFunctions(outDir, names));

/** What is published on npm: a folder with dist/ and what is packed beside it. */
export const npmPackage = (): Promise<string> =>
  madeOnce('package', async (folder) => {
    await buildPackage(join(folder, 'dist'));
    for (const path of ['package.json', 'docs', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
  });

/** The file that npm makes of it, and that folder. */
export async function npmTarball(): Promise<{ readonly tarball: string; readonly source: string }> {
  const source = await npmPackage();
  const folder = await madeOnce('tarball', async (made) => {
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', made];
    const { status, stderr } = spawnSync('npm', args, { cwd: source, encoding: 'utf8' });
    if (status !== 0) throw new Error(`packing the package: ${stderr}`);
  });
  const [name = 'nothing'] = readdirSync(folder);
  return { tarball: join(folder, name), source };
}

const factsSchema = z.array(
  z.object({ name: z.string(), file: z.string(), bytes: z.number(), bytesOf: z.record(z.string(), z.number()) }),
);

async function bundlesOnce(name: string, build: (outDir: string) => Promise<Bundles>): Promise<Bundles> {
  const folder = await madeOnce(name, async (made) => {
    const { outDir, bundles } = await build(join(made, 'out'));
    const facts = bundles.map((one) => ({ ...one, file: relative(outDir, one.file) }));
    writeFileSync(join(made, 'bundles.json'), JSON.stringify(facts));
  });
  const outDir = join(folder, 'out');
  const facts = factsSchema.parse(JSON.parse(readFileSync(join(folder, 'bundles.json'), 'utf8')));
  return { outDir, bundles: facts.map((one) => ({ ...one, file: join(outDir, one.file) })) };
}

/** The folder that `fill` has filled, in this process or in another, of the sources as they are now. */
async function madeOnce(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const run = process.env[RUN_FOLDER];
  if (run === undefined) throw new Error(`making ${name}: the set-up of the tests has named no folder for it`);
  const key = `${name}-${digestOfSources()}`;
  return await cached({ root: join(run, 'made'), key, say: () => undefined, fill });
}

/** Whatever may be in what is made; the tests are not. */
function digestOfSources(): string {
  const digest = createHash('sha256');
  for (const path of trackedFiles().filter((one) => !one.startsWith('test/'))) {
    digest.update(`${path}\0`).update(readFileSync(join(root, path)));
  }
  return digest.digest('hex').slice(0, 16);
}
