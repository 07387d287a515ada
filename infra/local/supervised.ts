/*
 * A child process that cannot outlive its parent: a small shell stands between, whose standard input is a pipe that only
 * the parent holds. When the parent ends in any way, SIGKILL included, the pipe closes and the shell ends the child.
 * Used for etcd, kube-apiserver, the cloud emulator, function hosts and the queue process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from './environment.ts';

/*
 * fd 3 takes the child's process id, fd 4 is the parent's pipe. `read` is a builtin, so ending the watcher leaves nothing.
 * The watcher is ended before the shell: it can never signal a process id that was given away again.
 */
const SHELL = `
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
( while read -r line <&4; do :; done; kill -TERM "$child"; sleep 2; kill -KILL "$child" ) >/dev/null 2>&1 &
watcher=$!
exec 4<&-
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`;

export interface SupervisedOptions {
  /** For messages: "etcd". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment. */
  readonly env: Environment;
  readonly cwd?: string;
  /** Takes standard error and standard output, without the announcement. Appended to. */
  readonly logFile: string;
  /** The child prints a first line on standard output when it is ready. */
  readonly announces?: boolean;
}

export interface Supervised {
  readonly name: string;
  /** The child itself, not the shell. */
  readonly pid: number;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  /** The first line on standard output; rejects if the child ends without one. Only with `announces`. */
  readonly firstLine: Promise<string>;
  /** The last lines of the log, for an error message. */
  logTail(lines?: number): Promise<string>;
  /** Sends a signal to the child; nothing happens if it is gone. */
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, after `graceMs` (5 s) SIGKILL to all that is left of it. Resolves when it is gone. */
  stop(graceMs?: number): Promise<void>;
}

/** At an orderly end nobody has to wait for the watchers' grace. */
const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const shell of alive) if (shell.pid !== undefined) killIfThere(-shell.pid, 'SIGKILL');
});

/** Starts a process under the watcher. Throws when the shell cannot be started; a missing command ends with code 127. */
export async function startSupervised(options: SupervisedOptions): Promise<Supervised> {
  const { name, command, args, env, cwd, logFile, announces = false } = options;
  const log = openSync(logFile, 'a', 0o600);
  const shell = spawn('/bin/sh', ['-c', SHELL, 'sh', command, ...args], {
    // A process group of its own: Ctrl-C in a terminal reaches the parent only, which then stops all in order.
    detached: true,
    stdio: ['pipe', announces ? 'pipe' : log, log, 'pipe'],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  // Open until the last word was taken down, also when the file has been removed meanwhile.
  if (shell.stdout === null) closeSync(log);
  else shell.stdout.once('close', () => setImmediate(() => closeSync(log)));
  // The child may be gone before the pipe is; that is not this process's fault to die of.
  shell.stdin?.on('error', () => undefined);
  alive.add(shell);
  const exited = new Promise<number>((resolve, reject) => {
    shell.once('error', (cause) => reject(new Error(`starting ${name}`, { cause })));
    shell.once('exit', (code) => {
      alive.delete(shell);
      resolve(code ?? 137);
    });
  });
  exited.catch(() => undefined);
  // What follows the announcement is log as well; an append in between lines keeps both readable.
  const firstLine = announces
    ? readFirstLine(name, shell.stdout, { exited, onMore: (line) => writeSync(log, `${line}\n`) })
    : Promise.reject(new Error(`${name} announces nothing`));
  firstLine.catch(() => undefined);
  const pid = Number.parseInt(await readFirstLine(name, pipeOf(shell), { exited }), 10);
  return { name, pid, exited, firstLine, ...controls(shell, { pid, exited, logFile }) };
}

function pipeOf(shell: ChildProcess): Readable | null {
  const pipe = shell.stdio[3];
  return pipe && 'read' in pipe ? pipe : null;
}

type Controls = Pick<Supervised, 'hasExited' | 'logTail' | 'signal' | 'stop'>;

function controls(shell: ChildProcess, facts: { pid: number; exited: Promise<number>; logFile: string }): Controls {
  const hasExited = () => shell.exitCode !== null || shell.signalCode !== null;
  const signal = (name: NodeJS.Signals) => {
    if (!hasExited()) killIfThere(facts.pid, name);
  };
  return {
    hasExited,
    signal,
    logTail: async (lines = 8) => {
      const text = await readFile(facts.logFile, 'utf8').catch(() => '');
      return text.trimEnd().split('\n').slice(-lines).join('\n');
    },
    stop: async (graceMs = 5000) => {
      signal('SIGTERM');
      // One that stands still hears of it only when it goes on.
      signal('SIGCONT');
      if (!(await endsWithin(facts.exited, graceMs))) signal('SIGKILL');
      // The shell ends after its child, which it has then reaped; should it not, it goes with all its group.
      if (!(await endsWithin(facts.exited, 2000)) && shell.pid !== undefined) killIfThere(-shell.pid, 'SIGKILL');
      await facts.exited.catch(() => undefined);
    },
  };
}

async function endsWithin(exited: Promise<number>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = wait(ms, false, { signal: timer.signal }).catch(() => false);
  const ended = exited.then(
    () => true,
    () => true,
  );
  return await Promise.race([ended, late]).finally(() => timer.abort());
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    const isGone = cause instanceof Error && 'code' in cause && cause.code === 'ESRCH';
    if (!isGone) throw new Error(`sending ${signal} to process ${pid}`, { cause });
  }
}

interface Reading {
  readonly exited: Promise<number>;
  readonly onMore?: (line: string) => void;
}

function readFirstLine(name: string, stream: Readable | null, { exited, onMore }: Reading): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!stream) return reject(new Error(`starting ${name}: no pipe to it`));
    const lines = createInterface({ input: stream });
    let isFirst = true;
    // Later lines are read in any case, so that the child never blocks on a full pipe.
    lines.on('line', (line) => {
      if (isFirst) resolve(line);
      else onMore?.(line);
      isFirst = false;
    });
    lines.once('close', () => {
      exited.then((code) => reject(new Error(`${name} ended with code ${code} before it said anything`)), reject);
    });
  });
}
