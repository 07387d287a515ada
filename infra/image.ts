/*
 * Entry of `npm run image`: the files of the container image, laid out as they lie in it, under build/image/.
 * bridge/Dockerfile runs this in its build stage and copies what comes out; nothing of it depends on the processor.
 * Bytes, modes and times depend on the sources and SOURCE_DATE_EPOCH only.
 */
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildBridge, buildCli } from './build.ts';
import { writePapers } from './shipped/papers.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/**
 * Everybody may read: the image runs as whatever user the cluster says. In a folder its owner may write, who is root in the image
 * and here whoever makes it and has to be able to remove it again.
 */
const FILE_MODE = 0o444;
const FOLDER_MODE = 0o755;

/** Where the image's files come from and go to. */
export interface ImageRequest {
  /** Stands for the image's root folder; emptied first. */
  readonly outDir?: string;
  /** When the sources are from (SOURCE_DATE_EPOCH), in seconds since 1970; also the time of every file. */
  readonly builtAt?: number | undefined;
}

/**
 * Lays out `app/main.mjs` (the bridge), `app/cli/main.mjs` (the command line), the licences and the bill of materials.
 * @returns the paths of the files from outDir, sorted
 */
export async function buildImage({
  outDir = join(root, 'build/image'),
  builtAt,
}: ImageRequest = {}): Promise<readonly string[]> {
  const bundles = await mkdtemp(join(tmpdir(), 'finalizer-bridge-image-'));
  try {
    const made = [
      ...(await buildBridge(join(bundles, 'bridge'))).bundles,
      ...(await buildCli(join(bundles, 'cli'))).bundles,
    ];
    const app = join(outDir, 'app');
    await rm(outDir, { recursive: true, force: true });
    await mkdir(join(app, 'cli'), { recursive: true });
    await copyFile(join(bundles, 'bridge/main.mjs'), join(app, 'main.mjs'));
    await copyFile(join(bundles, 'cli/main.mjs'), join(app, 'cli/main.mjs'));
    await copyFile(join(root, 'LICENSE'), join(app, 'LICENSE'));
    await writePapers({ bundles: made, folder: app, builtAt });
    return await settle(outDir, builtAt ?? 0);
  } finally {
    await rm(bundles, { recursive: true, force: true });
  }
}

/** Gives every file and folder the same modes and time, innermost first: writing into a folder moves its time. */
async function settle(outDir: string, seconds: number): Promise<readonly string[]> {
  const names = (await readdir(outDir, { recursive: true })).sort().reverse();
  const files: string[] = [];
  for (const name of names) {
    const path = join(outDir, name);
    const isFolder = (await stat(path)).isDirectory();
    await chmod(path, isFolder ? FOLDER_MODE : FILE_MODE);
    await utimes(path, seconds, seconds);
    if (!isFolder) files.push(name);
  }
  return files.sort();
}

/**
 * Reads SOURCE_DATE_EPOCH.
 * @throws Error when it is set and no whole number of seconds
 */
export function sourceDate(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = env.SOURCE_DATE_EPOCH;
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new Error(`reading SOURCE_DATE_EPOCH: ${text} is no number of seconds`);
  return Number(text);
}

async function main(): Promise<number> {
  const outDir = join(root, 'build/image');
  const files = await buildImage({ outDir, builtAt: sourceDate(process.env) });
  for (const file of files) console.log(relative(root, join(outDir, file)));
  return 0;
}

if (import.meta.main) await runEntry(main);
