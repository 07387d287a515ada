/*
 * Entry of the command line, `finalizer-bridge` and `kubectl finalizer-bridge`: the process around program.ts.
 * Bundled into one file by infra/build.ts, which the npm package names in its `bin`.
 */
import { basename } from 'node:path';
import { createInterface } from 'node:readline/promises';
import manifest from '../../package.json' with { type: 'json' };
import { realClock } from '../clock.ts';
import type { Terminal } from './command.ts';
import { commands } from './commands.ts';
import { connect } from './connect.ts';
import { runProgram } from './program.ts';

const { stdin, stdout, stderr } = process;

const terminal: Terminal = {
  out: (line) => void stdout.write(`${line}\n`),
  err: (line) => void stderr.write(`${line}\n`),
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

// Whoever reads may stop reading, as `head` does: that is no fault of ours.
stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runProgram(process.argv.slice(2), {
  // As a plug-in kubectl finds it by a name of its own.
  name: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl finalizer-bridge' : 'finalizer-bridge',
  version: manifest.version,
  ...{ commands, terminal, connect, clock: realClock },
});
