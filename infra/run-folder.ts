/*
 * The folder in which everything lies that a run of tests makes: temporary files, what is built once for all of them, compiled
 * modules. It goes with the run; of a run that was killed it goes with the next run. Made by verify.ts, and by the set-up of
 * vitest (test/support/run-set-up.ts) where that was started by itself.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** Names the folder to the processes of a run. */
export const RUN_FOLDER = 'FINALIZER_BRIDGE_RUN';

const PREFIX = 'finalizer-bridge-run-';
const OWNER_FILE = 'owner.json';
const LEFT_AFTER_MS = 60_000;
const REMOVALS = 50;
/**
 * What programs in Go (esbuild, tsc, kube-apiserver, etcd, helm) let their heap grow by before they collect garbage: started so
 * often, and for so short a time, they spend a sixth of their processor's time on it with the 100 that is their own.
 */
const GARBAGE_PERCENT = '300';
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
      const compiled = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
      return { [RUN_FOLDER]: folder, TMPDIR, ...compiled, GOGC: process.env.GOGC ?? GARBAGE_PERCENT };
    },
    remove: () => removeFolder(folder),
  };
}

/** Others may pass through, not look: some tests start a process as another user. */
function openFolder(folder: string): string {
  chmodSync(folder, 0o711);
  return folder;
}

/** Whether the process that made it ran here and runs no more. */
function isOwnerGone(folder: string): boolean {
  try {
    const owner = ownerSchema.parse(JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')));
    return owner.host === hostname() && !isRunning(owner.pid);
  } catch {
    // One that says nothing is being made this very moment, or is what a removal left.
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    return Date.now() - mtimeMs > LEFT_AFTER_MS;
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

/**
 * Processes that are still ending may write once more, and what they rename away meanwhile makes Node.js think that all has
 * gone. It is not worth a failure: the next run sees to it.
 */
function removeFolder(folder: string): void {
  for (let tries = 0; tries < REMOVALS && existsSync(folder); tries += 1) {
    if (tries > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (tries === REMOVALS - 1) console.error(`removing ${folder}:`, error);
    }
  }
}
