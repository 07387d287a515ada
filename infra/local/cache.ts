/*
 * The cache of things that are costly to get: server binaries, the Python environment of the cloud emulator.
 * An entry is a folder whose name holds everything that decides its content; it is filled in a temporary folder beside it
 * and renamed, so it is either absent or whole. Used by binaries and cloud.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { withLock } from '../boot/lock.mjs';
import type { Environment } from './environment.ts';
import type { Say } from './progress.ts';

export type { Environment } from './environment.ts';

/** The project's cache folder: `$XDG_CACHE_HOME/finalizer-bridge`, else `~/.cache/finalizer-bridge`. */
export function cacheRoot(env: Environment): string {
  const configured = env.XDG_CACHE_HOME;
  // The XDG specification says that a relative path there is to be ignored.
  const base = configured !== undefined && isAbsolute(configured) ? configured : join(env.HOME ?? homedir(), '.cache');
  return join(base, 'finalizer-bridge');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export interface CacheEntry {
  readonly root: string;
  /** Folder name; everything that decides the content is in it. */
  readonly key: string;
  readonly say: Say;
  /** Fills the entry. The folder is temporary and renamed afterwards, so nothing in it may lean on its name. */
  readonly fill: (folder: string) => Promise<void>;
}

/** The entry's folder, filled by this process if nobody did before. Errors of `fill` are passed on and leave nothing behind. */
export async function cached({ root, key, say, fill }: CacheEntry): Promise<string> {
  const final = join(root, key);
  if (await exists(final)) return final;
  await mkdir(root, { recursive: true });
  const onWait = () => say(`waiting for another process that prepares ${key}`);
  return await withLock({ directory: join(root, 'locks'), name: key, onWait }, async () => {
    if (await exists(final)) return final;
    // Left behind by processes that were killed while they filled it.
    for (const name of await readdir(root)) {
      if (name.startsWith(`${key}.tmp-`)) await rm(join(root, name), { recursive: true, force: true });
    }
    const folder = await mkdtemp(`${final}.tmp-`);
    try {
      await fill(folder);
      await rename(folder, final);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return final;
  });
}
