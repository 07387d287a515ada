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
 * `drain` left something). `usage`: the command line itself was wrong, nothing was done. `pending` and `refused` are answers
 * of a handler, for `dev`.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, pending: 3, refused: 4 } as const;
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

/** What a command is given that needs no cluster. */
export interface LocalContext extends Terminal {
  readonly format: Format;
}

/** All that a command is given beside its own arguments and options. */
export interface Context extends World, LocalContext {
  readonly clock: Clock;
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

/** What a command begins with: the cluster is only there for those that ask for it. */
export interface Beginning {
  readonly local: LocalContext;
  /** Throws a Failure when the kubeconfig does not have what the flags name. */
  connect(): Context;
}

/** One command. `Options` are its own options as commander gives them, once `options` has seen them. */
export interface CommandDefinition<Options, Given = Context> {
  readonly name: string;
  readonly summary: string;
  /** Adds arguments, options and examples; the global flags are there already. */
  readonly usage: (command: Usage) => Usage;
  readonly options: z.ZodMiniType<Options>;
  run(context: Given, args: readonly string[], options: Options): Promise<Exit>;
}

/** A command with its options' type closed off. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: (command: Usage) => Usage;
  run(beginning: Beginning, args: readonly string[], options: unknown): Promise<Exit>;
}

/** Makes a command. */
export function defineCommand<Options>(definition: CommandDefinition<Options>): Command {
  const { name, summary, usage, options: schema } = definition;
  return {
    ...{ name, summary, usage },
    run: async ({ connect }, args, options) => await definition.run(connect(), args, z.parse(schema, options)),
  };
}

/** Makes a command that has nothing to do with a cluster, and so needs no kubeconfig. */
export function defineLocalCommand<Options>(definition: CommandDefinition<Options, LocalContext>): Command {
  const { name, summary, usage, options: schema } = definition;
  return {
    ...{ name, summary, usage },
    run: async ({ local }, args, options) => await definition.run(local, args, z.parse(schema, options)),
  };
}
