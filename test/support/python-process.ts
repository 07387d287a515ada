/*
 * The handler in Python as Lambda would call it: a process gets an event and gives a response. Used by tests that show that the
 * JSON Schemas and the documents are enough to write a handler in another language.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const folder = join(import.meta.dirname, 'python-handler');

/** What Python said. */
export interface PythonRan {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

/** Runs Python where it can import the handler; `input` goes to its standard input. */
export async function runPython(
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>> = {},
): Promise<PythonRan> {
  const child = spawn('python3', args, {
    cwd: folder,
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Calls the handler with an event, as Lambda does. */
export async function callPython(event: unknown, env: Readonly<Record<string, string>>): Promise<unknown> {
  const { code, out, err } = await runPython(['handler.py'], JSON.stringify(event), env);
  if (code !== 0) throw new Error(`calling the handler in Python: code ${code}: ${err}`);
  return JSON.parse(out);
}
