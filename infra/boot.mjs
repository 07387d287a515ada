// @ts-check
/*
 * The first step of every script: `node infra/boot.mjs <entry.ts> [arguments]`, on Node 20 with nothing installed.
 * Chooses a Node.js that runs the sources (boot/node.mjs), installs what the lock file says (boot/packages.mjs), then
 * starts the entry and passes arguments, stdin, signals and the exit code on (boot/child.mjs). All its words go to
 * stderr: stdout belongs to the entry.
 */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dieBy, endWithParent, Interrupted, runChild } from './boot/child.mjs';
import { chooseNode } from './boot/node.mjs';
import { ensureInstalled } from './boot/packages.mjs';
import { letReadersGo } from './boot/readers.mjs';
import { BootError, say } from './boot/say.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The environment of everything that is started: `node` and `npm` mean the chosen Node.js, also for grandchildren.
 * @param {string} node
 * @returns {NodeJS.ProcessEnv}
 */
function environmentFor(node) {
  const path = [dirname(node), ...(process.env.PATH ? [process.env.PATH] : [])].join(delimiter);
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: path, FINALIZER_BRIDGE_BOOT_PID: String(process.pid) };
  // npm hands its own node down in these two; a nested npm would go back to it.
  for (const key of ['NODE', 'npm_node_execpath']) if (env[key] !== undefined) env[key] = node;
  return env;
}

async function main() {
  const [entry, ...rest] = process.argv.slice(2);
  if (entry === undefined) throw new BootError('usage: node infra/boot.mjs <entry.ts> [arguments]');
  const file = resolve(root, entry);
  if (!existsSync(file)) throw new BootError(`starting ${entry}: there is no such file in ${root}`);
  if (process.env.npm_lifecycle_event !== undefined) endWithParent();
  const node = await chooseNode(root);
  const env = environmentFor(node.path);
  await ensureInstalled({
    what: 'the packages of this project',
    directory: root,
    lockDirectory: join(root, '.cache'),
    node: node.path,
    // An optional package is left out where its `engines` exclude the running Node.js, so the major counts.
    salt: `node ${node.major}`,
    env,
  });
  const lifeline = new URL('./boot/lifeline.mjs', import.meta.url).href;
  return runChild(node.path, ['--import', lifeline, file, ...rest], { env, stdio: 'inherit' });
}

letReadersGo();
try {
  const { code, signal } = await main();
  if (signal === null) process.exitCode = code ?? 1;
  else dieBy(signal);
} catch (error) {
  if (error instanceof Interrupted) dieBy(error.signal);
  else {
    say(error instanceof BootError ? error.message : error instanceof Error ? String(error.stack) : String(error));
    process.exitCode = 1;
  }
}
