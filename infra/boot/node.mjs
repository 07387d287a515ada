// @ts-check
/*
 * Which Node.js runs the sources: the host's own if it is new enough and strips types, else the one pinned in
 * infra/toolchain, installed only when it is needed. Called by boot.mjs; what comes next is packages.mjs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './packages.mjs';
import { BootError } from './say.mjs';

/**
 * @param {string} root
 * @returns {Promise<{ path: string, major: number }>} the absolute path of an executable
 */
export async function chooseNode(root) {
  const { engines } = readJson(join(root, 'package.json'));
  const needed = String(engines?.node);
  if (isNewEnough(process.versions.node, needed) && process.features.typescript) {
    return { path: process.execPath, major: majorOf(process.versions.node) };
  }
  return packagedNode(join(root, 'infra/toolchain'), join(root, '.cache'), needed);
}

/**
 * @param {string} version such as 22.19.0
 * @param {string} range only the form `>=22.19` is understood
 */
export function isNewEnough(version, range) {
  const least = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range)?.slice(1);
  if (least === undefined) throw new BootError(`reading engines.node of package.json: "${range}" is not ">=x.y.z"`);
  const have = version.split('.').map(Number);
  for (const [index, part] of least.entries()) {
    const difference = (have[index] ?? 0) - Number(part ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/**
 * @param {string} directory
 * @param {string} lockDirectory
 * @param {string} needed
 */
async function packagedNode(directory, lockDirectory, needed) {
  const { optionalDependencies } = readJson(join(directory, 'package.json'));
  const platform = `${process.platform}-${process.arch}`;
  const name = `node-${platform}`;
  const version = optionalDependencies?.[name];
  const why = `Node.js ${needed} is needed and this is ${process.versions.node}`;
  if (version === undefined) {
    throw new BootError(`${why}; none is packaged for ${platform}: install Node.js 24 and run this again`);
  }
  await ensureInstalled({
    what: `Node.js ${version} for ${platform}, because ${why}`,
    directory,
    lockDirectory,
    node: process.execPath,
    salt: '',
    env: process.env,
  });
  const path = join(directory, 'node_modules', name, 'bin/node');
  const answer = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (answer.status !== 0) {
    const said = answer.error?.message ?? answer.stderr.trim();
    throw new BootError(`${why}; the packaged ${path} does not run here (${said}): install Node.js 24 and run again`);
  }
  return { path, major: majorOf(answer.stdout.trim().replace(/^v/, '')) };
}

/** @param {string} version */
function majorOf(version) {
  return Number(version.split('.')[0]);
}

/**
 * @param {string} path
 * @returns {{ engines?: { node?: string }, optionalDependencies?: Record<string, string> }}
 */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
