/*
 * The terminal of a process, out of its streams. Made by main.ts; commands get it through program.ts. Whoever reads may stop
 * reading, as `head` does: that is no fault, and changes nothing about what the command ends with.
 */
import { createInterface } from 'node:readline/promises';
import type { Terminal } from './command.ts';

/** What of a process is spoken through. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** `lost` is called when data could not be written although somebody may still want it, as on a full disk. */
export function createTerminal({ stdin, stdout, stderr }: Streams, lost: () => void): Terminal {
  return {
    out: writing(stdout, lost),
    // Where words cannot be written the data and the exit code still say all.
    err: writing(stderr, () => {}),
    isTty: stdin.isTTY === true && stderr.isTTY === true,
    async ask(question) {
      const lines = createInterface({ input: stdin, output: stderr });
      // Whoever ends the input, by Ctrl-D or Ctrl-C, has given no answer.
      const ended = new Promise<string>((resolve) => void lines.once('close', () => resolve('')));
      try {
        return (await Promise.race([lines.question(question).catch(() => ''), ended])).trim();
      } finally {
        lines.close();
      }
    },
  };
}

function writing(stream: NodeJS.WritableStream, lost: () => void): (line: string) => void {
  let isOver = false;
  stream.on('error', (error: Error) => {
    if (isOver) return;
    isOver = true;
    if (!('code' in error && error.code === 'EPIPE')) lost();
  });
  return (line) => {
    if (!isOver) stream.write(`${line}\n`);
  };
}
