/*
 * The terminal of a process whose reader goes before everything is written, as `head` does: over streams that fail, and as a
 * process of its own.
 */
import { spawn } from 'node:child_process';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createTerminal } from '../../../bridge/cli/terminal.ts';

/** A stream where every write fails. */
function failing(code: string): Writable & { tried: number } {
  const stream = Object.assign(
    new Writable({
      autoDestroy: false,
      write(_chunk, _encoding, done) {
        stream.tried += 1;
        done(Object.assign(new Error(code), { code }));
      },
    }),
    { tried: 0 },
  );
  return stream;
}

/** Two lines, each on a stream that fails so; resolves to what was called lost. */
async function spoken(code: string) {
  const [stdout, stderr] = [failing(code), failing('EPIPE')];
  let lost = 0;
  const terminal = createTerminal({ stdin: new PassThrough(), stdout, stderr }, () => {
    lost += 1;
  });
  for (const line of ['a', 'b']) {
    terminal.out(line);
    terminal.err(line);
    await new Promise(setImmediate);
  }
  return { lost, tried: stdout.tried };
}

describe('data whose reader has gone', () => {
  it('is not lost, and no more of it is written', async () => {
    expect(await spoken('EPIPE')).toEqual({ lost: 0, tried: 1 });
  });

  it('is lost where it could not be written for another reason', async () => {
    expect(await spoken('ENOSPC')).toEqual({ lost: 1, tried: 1 });
  });
});

it('a process whose readers have gone ends with the exit code of its command', { timeout: 480_000 }, async () => {
  const child = spawn(process.execPath, ['bridge/cli/main.ts', 'nonsense']);
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await new Promise((resolve) => void child.once('exit', resolve))).toBe(2);
});
