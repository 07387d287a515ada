/*
 * Runs the deployment framework (osls) of node_modules, by absolute path and on the Node.js that runs this file: neither
 * `serverless` nor `node` is looked for on the PATH. It reports no usage and asks for no newer version of itself.
 * Called by package.ts, deploy.ts, remove.ts and stack.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The script of the framework that is installed with the project. */
const FRAMEWORK = join(import.meta.dirname, '../node_modules/serverless/bin/serverless.js');

/** Where the framework runs. */
export interface FrameworkPlace {
  /** Folder with serverless.yml. */
  readonly cwd: string;
  /** Its environment variables; by default ours. */
  readonly env?: NodeJS.ProcessEnv;
  /** Told each piece of what it says, while it says it. */
  readonly say?: (text: string) => void;
}

/** What became of a run. */
export interface FrameworkRun {
  readonly code: number;
  /** All that it said. */
  readonly output: string;
}

/** Runs one command to its end. */
export async function runFramework(args: readonly string[], place: FrameworkPlace): Promise<FrameworkRun> {
  const { say, ...where } = place;
  const child = spawn(process.execPath, [FRAMEWORK, ...args], { ...where, stdio: ['ignore', 'pipe', 'pipe'] });
  if (say !== undefined)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => say(`${piece}`));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: typeof code === 'number' ? code : 1, output: `${out}${err}`.trim() };
}
