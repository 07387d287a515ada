/*
 * The folder in which everything lies that a run of tests makes: temporary files, what is built once for all of them, compiled
 * modules. It goes with the run; of a run that was killed it goes with the next run. Made by verify.ts, and by the set-up of
 * vitest (test/support/run-set-up.ts) where that was started by itself.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** Names the folder to the processes of a run. */
export const RUN_FOLDER = 'FINALIZER_BRIDGE_RUN';

const PREFIX = 'finalizer-bridge-run-';
const OWNER_FILE = 'owner.json';
const ownerSchema = z.object({ pid: z.number(), host: z.string() });

/** A run's folder. */
export interface RunFolder {
  /** Absolute path. */
  readonly folder: string;
  /** Variables for processes whose temporary files are to lie in a part of it, which is made. */
  readonly environment: (part: string) => Readonly<Record<string, string>>;
  readonly remove: () => void;
}

/**
 * Makes a folder for this process, and removes those of processes that have ended without doing so.
 * @param parent the system's temporary folder unless told
 */
export function makeRunFolder(parent = tmpdir()): RunFolder {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (name.startsWith(PREFIX) && isOwnerGone(folder)) removeFolder(folder);
  }
  const folder = openFolder(mkdtempSync(join(parent, PREFIX)));
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify({ pid: process.pid, host: hostname() }));
  return {
    folder,
    environment: (part) => {
      const TMPDIR = join(folder, part);
      mkdirSync(TMPDIR, { recursive: true });
      openFolder(TMPDIR);
      // What one process has compiled no other has to: the sources alone cost each bridge half a second.
      return { [RUN_FOLDER]: folder, TMPDIR, NODE_COMPILE_CACHE: join(folder, 'compiled') };
    },
    remove: () => removeFolder(folder),
  };
}

/** Others may pass through, not look: some tests start a process as another user. */
function openFolder(folder: string): string {
  chmodSync(folder, 0o711);
  return folder;
}

/** Whether the process that made it ran here and runs no more; of a folder that says nothing nobody knows. */
function isOwnerGone(folder: string): boolean {
  try {
    const owner = ownerSchema.parse(JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')));
    return owner.host === hostname() && !isRunning(owner.pid);
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function removeFolder(folder: string): void {
  // Servers that are still ending may write once more.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
