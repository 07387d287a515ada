/*
 * The cache of things that are costly to get: server binaries, the Python environment of the cloud emulator.
 * An entry is a folder whose name holds everything that decides its content; it is filled in a temporary folder beside it
 * and renamed, so it is either absent or whole. Used by binaries and cloud.
 */
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod/mini';
import type { Say } from './progress.ts';

/** Environment variables as a caller hands them in. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The project's cache folder: `$XDG_CACHE_HOME/finalizer-bridge`, else `~/.cache/finalizer-bridge`. */
export function cacheRoot(env: Environment): string {
  const configured = env.XDG_CACHE_HOME;
  // The XDG specification says that a relative path there is to be ignored.
  const base = configured !== undefined && isAbsolute(configured) ? configured : join(env.HOME ?? homedir(), '.cache');
  return join(base, 'finalizer-bridge');
}

export async function exists(path: string): Promise<boolean> {
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
  /**
   * Fills the entry. `folder` is temporary and renamed afterwards: what must know its own final place is told `final`
   * (which does not exist yet).
   */
  readonly fill: (folder: string, final: string) => Promise<void>;
}

/** The entry's folder, filled by this process if nobody did before. Errors of `fill` are passed on and leave nothing behind. */
export async function cached({ root, key, say, fill }: CacheEntry): Promise<string> {
  const final = join(root, key);
  if (await exists(final)) return final;
  await mkdir(root, { recursive: true });
  const release = await acquireLock(`${final}.lock`, () => say(`waiting for another process that prepares ${key}`));
  try {
    if (await exists(final)) return final;
    // Left behind by processes that were killed while they filled it.
    for (const name of await readdir(root)) {
      if (name.startsWith(`${key}.tmp-`)) await rm(join(root, name), { recursive: true, force: true });
    }
    const folder = await mkdtemp(`${final}.tmp-`);
    try {
      await fill(folder, final);
      await rename(folder, final);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return final;
  } finally {
    await release();
  }
}

/**
 * A lock file with the holder's process id. A holder that is gone loses it. Two waiters may then both get in;
 * the atomic rename makes that a waste, not a fault.
 */
async function acquireLock(path: string, onWait: () => void): Promise<() => Promise<void>> {
  for (let tries = 0; ; tries++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      return () => rm(path, { force: true });
    } catch (cause) {
      if (!hasCode(cause, 'EEXIST')) throw new Error(`locking ${path}`, { cause });
    }
    if (await isAbandoned(path)) await rm(path, { force: true });
    else {
      if (tries % 100 === 0) onWait();
      await wait(200);
    }
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const holder = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(holder, 10);
  if (Number.isNaN(pid)) {
    // Just made and not yet written, or gone again: only an old empty file is nobody's.
    const made = await stat(path).then(
      (facts) => facts.mtimeMs,
      () => Date.now(),
    );
    return Date.now() - made > 10_000;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

const coded = z.object({ code: z.string() });

/** Whether an error is the system's error of that code (`ENOENT`, `EADDRINUSE`). */
export function hasCode(error: unknown, code: string): boolean {
  const parsed = z.safeParse(coded, error);
  return parsed.success && parsed.data.code === code;
}
