// @ts-check
/*
 * Brings node_modules in line with a lock file by `npm ci --ignore-scripts`, only when it is not.
 * Called by node.mjs (the packaged Node.js) and boot.mjs (the project). A stamp inside node_modules says for which lock
 * file it was made: it is written last and removed first, so an interrupted installation is never taken for a whole one.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Interrupted, runChild } from './child.mjs';
import { withLock } from './lock.mjs';
import { BootError, say, timed } from './say.mjs';

const UNREACHABLE =
  'the package registry cannot be reached; see to the network or proxy, or to "npm config get registry"';

/**
 * @typedef {object} Installation
 * @property {string} what what is installed and why, for the person who waits
 * @property {string} directory where package.json and package-lock.json are
 * @property {string} lockDirectory where the lock between processes is kept
 * @property {string} node the Node.js that npm runs on
 * @property {string} salt whatever else decides what gets installed
 * @property {NodeJS.ProcessEnv} env
 */

/** @param {Installation} installation */
export async function ensureInstalled(installation) {
  const { what, directory, lockDirectory, salt } = installation;
  const lockFile = readFileSync(join(directory, 'package-lock.json'));
  const stamp = createHash('sha256')
    .update(lockFile)
    .update(`${process.platform} ${process.arch} ${salt}`)
    .digest('hex');
  const modules = join(directory, 'node_modules');
  const stampFile = join(modules, '.boot-stamp');
  const current = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (current()) return;
  /** @param {number} pid */
  const onWait = (pid) => say(`waiting for another run (process ${pid}) that is installing`);
  await withLock({ directory: lockDirectory, name: 'boot.lock', onWait }, async () => {
    if (current()) return;
    if (missing(lockFile, modules) === null) say('node_modules is what package-lock.json says');
    else {
      const why = existsSync(stampFile) ? ' (package-lock.json or the platform has changed)' : '';
      rmSync(stampFile, { force: true });
      rmSync(hiddenLockFile(modules), { force: true });
      await timed(`installing ${what}${why}`, () => install(installation));
      // npm takes an optional package that it could not fetch for one that is not wanted, and says nothing.
      const left = missing(lockFile, modules);
      if (left !== null) throw new BootError(`installing in ${directory}: npm ci brought no ${left}: ${UNREACHABLE}`);
    }
    mkdirSync(modules, { recursive: true });
    writeFileSync(stampFile, stamp);
  });
}

/** @param {Installation} installation */
async function install({ directory, node, env }) {
  const npm = findNpm(node, env);
  // Named both ways, so that NODE_ENV=production or an `omit` in somebody's configuration leaves nothing out.
  const flags = ['--ignore-scripts', '--include=dev', '--include=optional', '--include=peer'];
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  let said = '';
  const { code, interrupted } = await runChild(npm.command, [...npm.args, 'ci', ...flags, ...quiet], {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    onStderr: (text) => {
      said += text;
      process.stderr.write(text);
    },
  }).catch((/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new BootError('npm is not on the PATH and is needed to install packages: install it, or Node.js with it');
  });
  if (interrupted !== null) throw new Interrupted(interrupted);
  if (code !== 0) throw new BootError(`installing in ${directory}: npm ci ended with ${code}: ${advice(said)}`);
}

/**
 * The npm that called us, else the one on the PATH; run by the given Node.js either way, since npm's own first line
 * asks the PATH for `node`.
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
function findNpm(node, env) {
  const caller = env.npm_execpath;
  if (caller !== undefined && basename(caller) === 'npm-cli.js' && existsSync(caller)) {
    return { command: node, args: [caller] };
  }
  return { command: 'npm', args: [] };
}

/** @param {string} said what npm wrote to stderr */
function advice(said) {
  if (
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/.test(said)
  ) {
    return UNREACHABLE;
  }
  if (/\bENOTCACHED\b/.test(said)) return 'npm is set to work offline and its cache lacks a package';
  if (/\bEINTEGRITY\b/.test(said)) return 'a package is not what package-lock.json says; try "npm cache verify"';
  if (/\bEUSAGE\b/.test(said)) return 'package.json and package-lock.json disagree; run "npm install" and try again';
  return 'see its own words above';
}

/** @param {string} modules */
function hiddenLockFile(modules) {
  return join(modules, '.package-lock.json');
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Locked */

/**
 * The first difference between the lock file and npm's own record of what is in node_modules; null when there is none,
 * as after a manual `npm install`.
 * @param {Buffer} lockFile
 * @param {string} modules
 */
function missing(lockFile, modules) {
  const wanted = packagesOf(lockFile);
  const record = hiddenLockFile(modules);
  const present = existsSync(record) ? packagesOf(readFileSync(record)) : new Map();
  for (const [path, locked] of wanted) {
    const have = present.get(path);
    if (have === undefined && mayBeAbsent(locked)) continue;
    if (have?.version !== locked.version || have?.integrity !== locked.integrity) return path;
  }
  return [...present.keys()].find((path) => !wanted.has(path)) ?? null;
}

/**
 * @param {Buffer} text
 * @returns {Map<string, Locked>}
 */
function packagesOf(text) {
  const { packages } = JSON.parse(text.toString('utf8'));
  return new Map(Object.entries(packages ?? {}).filter(([path]) => path !== ''));
}

/**
 * Whether npm may have left a package out: an optional one that is made for other machines, or that is needed only by
 * such (those name no machine). One that names this machine is never left out with good reason.
 * @param {Locked} locked
 */
function mayBeAbsent({ optional, os, cpu, libc }) {
  if (optional !== true) return false;
  const isForHere =
    (os ?? cpu) !== undefined &&
    (os?.includes(process.platform) ?? true) &&
    (cpu?.includes(process.arch) ?? true) &&
    (libc?.includes(libcOf()) ?? true);
  return !isForHere;
}

/** The C library by npm's names; Node.js tells of glibc only. */
function libcOf() {
  const report = process.report.getReport();
  const header = typeof report === 'object' && 'header' in report ? report.header : {};
  return typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header ? 'glibc' : 'musl';
}
