/*
 * Entry of the command line, `finalizer-bridge` and `kubectl finalizer-bridge`: the process around program.ts.
 * Bundled into one file by infra/build.ts, which the npm package names in its `bin`.
 */
import { basename } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { realClock } from '../clock.ts';
import { EXIT } from './command.ts';
import { commands } from './commands.ts';
import { connect } from './connect.ts';
import { runProgram } from './program.ts';
import { createTerminal } from './terminal.ts';

let isLost = false;
const terminal = createTerminal(process, () => {
  isLost = true;
  process.exitCode = EXIT.failed;
});

const exit = await runProgram(process.argv.slice(2), {
  // As a plug-in kubectl finds it by a name of its own.
  name: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl finalizer-bridge' : 'finalizer-bridge',
  version: manifest.version,
  ...{ commands, terminal, connect, clock: realClock },
});

// A program that hangs, and was asked for credentials, keeps nobody: what was said is written first.
await Promise.all([process.stdout, process.stderr].map(written));
process.exit(isLost ? EXIT.failed : exit);

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
