// @ts-check
/*
 * A lock between processes, so that two that make the same thing at once never write over one another.
 * Used by packages.mjs and by the local system's cache. The lock is a directory that is renamed into place with its owner's name already inside, so
 * there is no moment at which it is held by nobody known; a dead owner's lock is renamed away, once only.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BootError } from './say.mjs';

const POLL_MS = 200;
const HEARTBEAT_MS = 2_000;
/** A live pid says nothing when it belongs to another machine, or was given to another process; silence does. */
const SILENT_MS = 600_000;

/** @typedef {{ pid: number, host: string, token: string }} Owner */
/**
 * A lock by its place. `onWait` is told once, with the process id of the holder, when it has to be waited for.
 * @typedef {{ directory: string, name: string, onWait: (pid: number) => void }} Lock
 */

/**
 * Does work while holding a lock; waits for as long as another holds it, in this process or in another.
 * @template T
 * @param {Lock} lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock({ directory, name, onWait }, work) {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  const mine = { pid: process.pid, host: hostname(), token: randomUUID() };
  await acquire(path, mine, onWait);
  const heartbeat = setInterval(() => touch(path), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    // Moved away first: what is removed file by file would, half gone, be a lock without an owner.
    const leaving = `${path}.${mine.token}`;
    if (readOwner(path)?.token === mine.token) renameSync(path, leaving);
    rmSync(leaving, { recursive: true, force: true });
  }
}

/**
 * @param {string} path
 * @param {Owner} mine
 * @param {Lock['onWait']} onWait
 */
async function acquire(path, mine, onWait) {
  const prepared = `${path}.${mine.token}`;
  mkdirSync(prepared);
  writeFileSync(ownerFile(prepared), JSON.stringify(mine));
  let told = false;
  while (!moved(prepared, path)) {
    if (!existsSync(prepared)) throw new BootError(`locking ${path}: ${prepared} was removed meanwhile`);
    const owner = readOwner(path);
    if (owner !== null && isGone(path, owner)) {
      // The dead owner's token is in the new name, and a directory that is not empty is never replaced: of all who
      // saw the dead lock only one can move it, and nobody can move the lock that comes after it.
      moved(path, `${path}.dead-${owner.token}`);
      continue;
    }
    if (!told && owner !== null) {
      onWait(owner.pid);
      told = true;
    }
    await delay(POLL_MS);
  }
}

/**
 * @param {string} from
 * @param {string} to
 */
function moved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EPERM'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** @param {string} path */
function ownerFile(path) {
  return join(path, 'owner.json');
}

/**
 * @param {string} path
 * @returns {Owner | null}
 */
function readOwner(path) {
  try {
    return JSON.parse(readFileSync(ownerFile(path), 'utf8'));
  } catch {
    return null;
  }
}

/**
 * @param {string} path
 * @param {Owner} owner
 */
function isGone(path, owner) {
  if (owner.host === hostname()) {
    try {
      process.kill(owner.pid, 0);
    } catch (error) {
      if (codeOf(error) === 'ESRCH') return true;
    }
  }
  const touched = statSync(ownerFile(path), { throwIfNoEntry: false })?.mtimeMs;
  return touched !== undefined && Date.now() - touched > SILENT_MS;
}

/** @param {string} path */
function touch(path) {
  const now = new Date();
  try {
    utimesSync(ownerFile(path), now, now);
  } catch {
    // The lock was taken from a process that slept too long; the work itself says what became of it.
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
