/*
 * Runs a command to its end. Used where files are unpacked, built or installed; long-running servers go through `supervised`.
 * Failures are told in one line, since their readers are people who have to install something.
 */
import { type ExecFileException, execFile } from 'node:child_process';
import type { Environment } from './cache.ts';

export interface RunOptions {
  readonly cwd?: string;
  /** The whole environment; this process's own unless told. */
  readonly env?: Environment;
  /** ms after which the command is ended, 20 min unless told. */
  readonly timeout?: number;
}

/** Standard output of the command. Throws with the last line of its standard error when it cannot be started or fails. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env, timeout = 1_200_000 } = options;
  const settings = { timeout, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' as const };
  const place = { ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env: { ...env } }) };
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], { ...settings, ...place }, (error, stdout, stderr) => {
      process.off('exit', end);
      if (error) reject(failure(error, { command, args, stderr }));
      else resolve(stdout);
    });
    // A build does not go on when the process that wanted it is gone.
    const end = () => child.kill();
    process.once('exit', end);
  });
}

interface Failed {
  readonly command: string;
  readonly args: readonly string[];
  readonly stderr: string;
}

function failure(error: ExecFileException, { command, args, stderr }: Failed): Error {
  if (error.code === 'ENOENT') return new Error(`running ${command}: there is no such command`);
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  const why = last === '' ? `code ${error.code ?? error.signal}` : last;
  return new Error(`running ${[command, ...args.slice(0, 1)].join(' ')}: ${why}`, { cause: error });
}
