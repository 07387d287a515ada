/*
 * What a command of the command line is and what it is given, so that it runs without a process: the cluster through
 * ports, a terminal, a clock. Each command is one file that exports one `defineCommand({ … })`, and stands in commands.ts.
 * Run by program.ts. Data goes to `out`, words to `err`; what goes wrong is thrown as a Failure or an ApiError.
 */
import type { Command as Usage } from 'commander';
import * as z from 'zod/mini';
import type { Clock, Cluster, Kinds } from '../ports.ts';
import type { Catalogue } from './catalogue.ts';
import type { DrainApi } from './drain/api.ts';

/**
 * Exit codes. `ok`: done, or all is well. `failed`: it could not be done, or is not clean (`status` found something held,
 * `drain` left something). `usage`: the command line itself was wrong, nothing was done.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** How data is printed: words for people, or one document for programs. */
export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** Where a command speaks. Texts are lines without their end. */
export interface Terminal {
  /** Data, to standard output. */
  out(line: string): void;
  /** Words, to standard error. */
  err(line: string): void;
  /** Whether a person is there to be asked. */
  readonly isTty: boolean;
  /** Asks, and resolves to the line that was typed, without blanks around it. */
  ask(question: string): Promise<string>;
}

/** The cluster that the flags chose, with the caller's own rights. */
export interface World {
  readonly cluster: Cluster;
  readonly kinds: Kinds;
  readonly catalogue: Catalogue;
  readonly drainApi: DrainApi;
  /** Of --namespace, else of the context, else `default`. */
  readonly namespace: string;
  /** Whether --namespace was given. */
  readonly isNamespaceGiven: boolean;
}

/** All that a command is given beside its own arguments and options. */
export interface Context extends World, Terminal {
  readonly clock: Clock;
  readonly format: Format;
  /** How a command on the same cluster as the same caller begins; quoted for a shell. */
  readonly self: string;
  /** The same flags for kubectl, each after a blank. */
  readonly kubectlFlags: string;
}

/** What is thrown when something expected is in the way: its message is all that a person gets to see. */
export class Failure extends Error {
  readonly exit: Exit;

  constructor(message: string, { exit = EXIT.failed, cause }: { readonly exit?: Exit; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'Failure';
    this.exit = exit;
  }
}

/** A mistake in the command line itself. */
export function misused(message: string): Failure {
  return new Failure(message, { exit: EXIT.usage });
}

/** One command. `Options` are its own options as commander gives them, once `options` has seen them. */
export interface CommandDefinition<Options> {
  readonly name: string;
  readonly summary: string;
  /** Adds arguments, options and examples; the global flags are there already. */
  readonly usage: (command: Usage) => Usage;
  readonly options: z.ZodMiniType<Options>;
  run(context: Context, args: readonly string[], options: Options): Promise<Exit>;
}

/** A command with its options' type closed off. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: (command: Usage) => Usage;
  run(context: Context, args: readonly string[], options: unknown): Promise<Exit>;
}

/** Makes a command. */
export function defineCommand<Options>(definition: CommandDefinition<Options>): Command {
  const { name, summary, usage, options: schema } = definition;
  return {
    ...{ name, summary, usage },
    run: (context, args, options) => definition.run(context, args, z.parse(schema, options)),
  };
}
