/*
 * The command line of a script: its --help, and what is said of options that it does not have, before anything is begun. Used by
 * entries that are not about the functions' stack (stack-usage.ts is for those); what the work ends with is as in tool.ts.
 */
import { runEntry } from './tool.ts';

/** A script as its command line sees it. */
export interface Command<Options> {
  /** Text of --help, without a line end at its end. */
  readonly usage: string;
  /** @throws TypeError of parseArgs, RangeError for what is no option */
  readonly read: (args: readonly string[]) => Options;
  /** Does the work. @returns the exit code */
  readonly run: (options: Options) => Promise<number>;
}

/** Reads the arguments and does the work; ends with 2, a line that says why and the usage where they cannot be read. */
export async function runCommand<Options>(
  { usage, read, run }: Command<Options>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  await runEntry(async () => {
    if (args.includes('--help') || args.includes('-h')) {
      console.log(usage);
      return 0;
    }
    const asked = readOr(read, args);
    if (asked.ok) return await run(asked.options);
    console.error(`${asked.why}\n\n${usage}`);
    return 2;
  });
}

type Asked<Options> = { readonly ok: true; readonly options: Options } | { readonly ok: false; readonly why: string };

function readOr<Options>(read: Command<Options>['read'], args: readonly string[]): Asked<Options> {
  try {
    return { ok: true, options: read(args) };
  } catch (error) {
    if (error instanceof Error && isAboutArguments(error)) return { ok: false, why: error.message };
    throw error;
  }
}

function isAboutArguments(error: Error): boolean {
  if (error instanceof RangeError) return true;
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_PARSE_ARGS_');
}
