/*
 * The options that everything about the functions' stack has in common: whose values. The same for package.ts, deploy.ts,
 * remove.ts, bridge-values.ts and bridge-policy.ts, and handed on to the framework.
 */
import { resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** Which stack is meant. */
export interface Deployed {
  /** A values file; functions.values.yml unless told. */
  readonly values?: string | undefined;
  /** The stage that it has to say; held against it before anything is done. */
  readonly stage?: string | undefined;
}

const COMMON = { values: { type: 'string' }, stage: { type: 'string' } } as const satisfies ParseArgsOptionsConfig;

/** Options of one command beside the common ones: flags, and those that take a text. */
export interface OwnOptions {
  readonly flags?: readonly string[];
  readonly texts?: readonly string[];
}

/** What the command line says. */
export interface StackOptions {
  readonly deployed: Deployed;
  readonly has: (flag: string) => boolean;
  readonly text: (name: string) => string | undefined;
}

/**
 * Reads a command line. A stage has its values in functions.values.<stage>.yml, unless `--values` names another file.
 * @throws with the name of an option that there is not
 */
export function stackOptions(args: readonly string[], { flags = [], texts = [] }: OwnOptions = {}): StackOptions {
  const own: ParseArgsOptionsConfig = Object.fromEntries([
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
    ...texts.map((name) => [name, { type: 'string' }] as const),
  ]);
  const given: Readonly<Record<string, unknown>> = parseArgs({
    args: [...args],
    options: { ...own, ...COMMON },
  }).values;
  const text = (name: string) => {
    const value = given[name];
    return typeof value === 'string' ? value : undefined;
  };
  const stage = text('stage');
  const values = text('values') ?? (stage === undefined ? undefined : `functions.values.${stage}.yml`);
  return { deployed: { values, stage }, has: (flag) => given[flag] === true, text };
}

/** The same for the framework. */
export function frameworkArgs({ values, stage }: Deployed): readonly string[] {
  return [
    ...(values === undefined ? [] : ['--param', `values=${resolve(values)}`]),
    ...(stage === undefined ? [] : ['--stage', stage]),
  ];
}
