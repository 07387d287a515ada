/*
 * The command line apart from its process: global flags as kubectl has them, commands from a list, errors as one line on
 * standard error, an exit code (command.ts says which). Called by main.ts, and by tests over fakes.
 */
import { Command as Commander, CommanderError, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';
import { parseDuration } from '../duration.ts';
import type { Clock } from '../ports.ts';
import { type Command, EXIT, type Exit, FORMATS, misused, type Terminal, type World } from './command.ts';
import { explainFailure } from './failure-words.ts';
import { printable, quoted } from './shell.ts';

/** The global flags, decoded. `requestTimeout` in ms, 0 for none. */
export type Flags = z.output<typeof flagsSchema>;

const flagsSchema = z.object({
  kubeconfig: z.optional(z.string()),
  context: z.optional(z.string()),
  cluster: z.optional(z.string()),
  user: z.optional(z.string()),
  namespace: z.optional(z.string()),
  as: z.optional(z.string()),
  asGroup: z.optional(z.array(z.string())),
  requestTimeout: z.optional(z.number()),
  output: z.enum(FORMATS),
});

/** What a program is made of. */
export interface ProgramOptions {
  /** What people type to start it. */
  readonly name: string;
  readonly version: string;
  readonly commands: readonly Command[];
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Called once a command is to run. */
  connect(flags: Flags, clock: Clock): World;
}

/** Runs one command line, without the words that started it; resolves to the exit code and never throws. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<Exit> {
  const terminal = plain(options.terminal);
  let exit: Exit = EXIT.ok;
  const program = programOf({ ...options, terminal }, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    // Help and version are thrown as well, with code 0; what is wrong with the line commander has already said.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = explainFailure(error);
    terminal.err(`error: ${failure.message}`);
    return failure.exit;
  }
}

/** Whatever objects and servers say is no more than text on one line; data is printed by print.ts. */
function plain(terminal: Terminal): Terminal {
  return {
    ...terminal,
    err: (line) => terminal.err(printable(line)),
    ask: (question) => terminal.ask(printable(question)),
  };
}

function programOf(options: ProgramOptions, finish: (exit: Exit) => void): Commander {
  const { name, version, commands, terminal } = options;
  const program = new Commander(name)
    .description('Sees to objects that Finalizer Bridge holds while their outside resource is taken down.')
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: lineWise(terminal.out), writeErr: lineWise(terminal.err) })
    .showSuggestionAfterError();
  for (const option of globalOptions()) program.addOption(option);
  program.addHelpText('after', '\nExit codes: 0 done, 1 failed or not clean, 2 the command line is wrong.');
  for (const command of commands) {
    command
      .usage(program.command(command.name))
      .summary(command.summary)
      .description(command.summary)
      .action(async (...given: readonly unknown[]) => {
        const commander = given.at(-1);
        if (commander instanceof Commander) finish(await runCommand(command, commander, options));
      });
  }
  return program;
}

async function runCommand(command: Command, commander: Commander, options: ProgramOptions): Promise<Exit> {
  const flags = z.parse(flagsSchema, commander.optsWithGlobals());
  mustSaySomething(flags);
  const { terminal, clock } = options;
  const kubectlFlags = connectionFlags(flags);
  const words = { self: options.name + kubectlFlags, kubectlFlags, format: flags.output };
  const local = { ...terminal, format: flags.output };
  const connect = () => ({ ...options.connect(flags, clock), ...terminal, ...words, clock });
  return await command.run({ local, connect }, commander.processedArgs.flat().filter(isText), commander.opts());
}

/** A flag of a script whose variable is not set must not mean some other place. */
function mustSaySomething(flags: Flags): void {
  for (const [flag, value] of Object.entries(flags)) {
    const isEmpty = value === '' || (Array.isArray(value) && value.includes(''));
    if (isEmpty) throw misused(`--${flag.replace('asGroup', 'as-group')} is empty: name one, or leave the flag out`);
  }
}

/** What is printed to be pasted must never reach another cluster. */
function connectionFlags({ kubeconfig, context, cluster, user, as, asGroup = [] }: Flags): string {
  const chosen = Object.entries({ kubeconfig, context, cluster, user, as });
  const words = chosen.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]));
  return [...words, ...asGroup.flatMap((group) => ['--as-group', group])].map((word) => ` ${quoted(word)}`).join('');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function globalOptions(): readonly Option[] {
  return [
    new Option('--kubeconfig <file>', 'kubeconfig to use; else $KUBECONFIG, ~/.kube/config, or the Pod itself'),
    new Option('--context <name>', 'context of the kubeconfig'),
    new Option('--cluster <name>', 'cluster of the kubeconfig'),
    new Option('--user <name>', 'user of the kubeconfig'),
    new Option('-n, --namespace <name>', "namespace; else the context's"),
    new Option('--as <user>', 'user to impersonate'),
    new Option('--as-group <group>', 'group to impersonate; may be given several times').argParser(
      (value: string, before: readonly string[] = []) => [...before, value],
    ),
    new Option('--request-timeout <time>', 'how long one answer may take, such as 10s; 0 for ever').argParser(
      timeoutOf,
    ),
    new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table'),
  ];
}

/** As kubectl: a number without a unit is seconds. */
function timeoutOf(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('not a duration such as 10s or 1m.');
  return ms;
}

/** Commander ends its texts with a line end, the terminal ends lines itself. */
function lineWise(write: (line: string) => void): (text: string) => void {
  return (text) => {
    for (const line of text.replace(/\n$/, '').split('\n')) write(line);
  };
}
