/*
 * The options that everything about the functions' stack has in common: whose values. The same for package.ts, deploy.ts,
 * remove.ts, bridge-values.ts and bridge-policy.ts, and handed on to the framework.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { VALUES_FILE } from './functions/values.ts';

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
  /** Whether a file is there; looked up in the file system unless told. */
  readonly exists?: (file: string) => boolean;
}

/** What the command line says. */
export interface StackOptions {
  readonly deployed: Deployed;
  readonly has: (flag: string) => boolean;
  readonly text: (name: string) => string | undefined;
}

/**
 * Reads a command line. A stage has its values in functions.values.<stage>.yml, or in functions.values.yml where that is
 * not there, unless `--values` names another file.
 * @throws with the name of an option that there is not, or the two files of which neither is there
 */
export function stackOptions(args: readonly string[], options: OwnOptions = {}): StackOptions {
  const { flags = [], texts = [], exists = existsSync } = options;
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
  const values = text('values') ?? (stage === undefined ? undefined : fileOf(stage, exists));
  return { deployed: { values, stage }, has: (flag) => given[flag] === true, text };
}

/** What stage the file says is held against the one that was asked for when it is read. */
function fileOf(stage: string, exists: (file: string) => boolean): string {
  const own = `functions.values.${stage}.yml`;
  const found = [own, VALUES_FILE].find(exists);
  if (found !== undefined) return found;
  throw new Error(
    `looking for the values of stage ${stage}: there is neither ${own} nor ${VALUES_FILE}; ` +
      'functions.values.example.yml shows what belongs in one, and --values FILE names another',
  );
}

/** The same for the framework. */
export function frameworkArgs({ values, stage }: Deployed): readonly string[] {
  return [
    ...(values === undefined ? [] : ['--param', `values=${resolve(values)}`]),
    ...(stage === undefined ? [] : ['--stage', stage]),
  ];
}
