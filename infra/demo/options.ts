/*
 * The demo's command line and its --help. Called first by demo.ts, which then calls run.ts.
 * Anything it does not know is refused before something is started.
 */
import { parseArgs } from 'node:util';

/** What the command line asks for, or what is wrong with it. */
export type Options =
  | { readonly ask: 'run'; readonly keep: boolean; readonly json: boolean }
  | { readonly ask: 'help' }
  | { readonly ask: 'nonsense'; readonly fault: string };

/** Text of --help. */
export const USAGE = `usage: npm run demo [-- OPTIONS]

Runs Finalizer Bridge on this machine: a real Kubernetes API server, a bridge, the functions, and emulators of SQS, S3
and EC2, all on 127.0.0.1. Creates objects that stand for buckets and a virtual machine, deletes them, and tells what
happens; at the end it checks that what it told is so. Ends with 0 if all was as expected, else with 1.

  --keep   leave everything running afterwards, with something to play with, until Ctrl-C
  --json   the time line on stderr, and one line of JSON on stdout
  --help   this text

NO_COLOR=1 leaves the colours out; a pipe has none.
`;

/** Reads the arguments that follow the script's name. */
export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { keep: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return { ask: 'help' };
    return { ask: 'run', keep: values.keep === true, json: values.json === true };
  } catch (error) {
    return { ask: 'nonsense', fault: error instanceof Error ? error.message : String(error) };
  }
}
