/*
 * Runs a tool of node_modules/.bin on the Node.js that runs this file, with its output on ours, and ends it when this
 * run is interrupted. Called by verify.ts, lint.ts and build.ts, whose last lines are runEntry.
 */
import type { StdioOptions } from 'node:child_process';
import { join } from 'node:path';
import { dieBy, Interrupted, runChild } from './boot/child.mjs';
import { letReadersGo } from './boot/readers.mjs';

const root = join(import.meta.dirname, '..');

/** What a tool is given beside its arguments. */
export interface ToolOptions {
  /** Variables to add to our own. */
  readonly env?: Readonly<Record<string, string>>;
  /** File descriptor for its stdout; ours unless told. */
  readonly stdout?: number;
}

/**
 * Runs a tool to its end; a signal that comes meanwhile goes to the tool.
 * @returns its exit code, 1 when a signal ended it
 * @throws Interrupted when a signal came, after the tool has ended; Error naming the tool when it is not installed
 */
export async function runTool(
  name: string,
  args: readonly string[],
  { env = {}, stdout }: ToolOptions = {},
): Promise<number> {
  const tool = join(root, 'node_modules/.bin', name);
  // Some tools colour their words for a pipe as well, when they think that they run in CI.
  const colour = process.stdout.isTTY ? {} : { NO_COLOR: '1' };
  const stdio: StdioOptions = ['inherit', stdout ?? 'inherit', 'inherit'];
  const options = { cwd: root, stdio, env: { ...colour, ...process.env, ...env } };
  const { code, interrupted } = await runChild(tool, args, options).catch((cause: unknown) => {
    throw new Error(`running ${name}: it is not installed as ${tool}`, { cause });
  });
  if (interrupted !== null) throw new Interrupted(interrupted);
  return code ?? 1;
}

/**
 * Does the work of an entry and ends the process as it ended: with its exit code, by the signal that interrupted it, or
 * with 1 and the message of what it threw. Nobody has to read what it says to the end.
 */
export async function runEntry(work: () => Promise<number>): Promise<void> {
  letReadersGo();
  try {
    process.exitCode = await work();
  } catch (error) {
    if (error instanceof Interrupted) return dieBy(error.signal);
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
