/*
 * Words and flags of all commands in the documents, also of those that stand in a sentence or that nobody runs: scripts of
 * package.json, commands of finalizer-bridge, kubectl and helm exist, have the flags that are named, and the chart has the values.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { EXIT } from '../bridge/cli/command.ts';
import { findHelm } from '../infra/local/helm.ts';
import { findKubectl } from '../infra/local/kubectl.ts';
import { scripts } from './support/checkout.ts';
import { CommandLine } from './support/command-line.ts';
import { commandsOf, documents, shellBlocks } from './support/document-blocks.ts';
import { root } from './support/tracked-files.ts';

const PROGRAMS = /^(?:npm run|finalizer-bridge|kubectl|helm) /;
const FENCE = /^\s*```[\s\S]*?^\s*```$/gm;

/** Verbs of kubectl whose flags are those of the word after them. */
const GROUPS = new Set(['rollout']);

/** A command, and where it stands. */
interface Told {
  readonly document: string;
  readonly command: string;
}

/** Of blocks and of sentences. */
function toldCommands(): readonly Told[] {
  const ofBlocks = shellBlocks().flatMap((block) =>
    commandsOf(block).map((command) => ({ document: block.document, command })),
  );
  const ofSentences = documents().flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8').replace(FENCE, '');
    const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' '));
    return spans.flatMap((span) => span.split(' && ')).map((command) => ({ document, command }));
  });
  // The repository that the template makes has scripts of its own.
  const isTemplate = ({ document, command }: Told) =>
    /^npm/.test(command) && (document.startsWith('infra/template/') || TEMPLATE_SCRIPTS.test(command));
  return [...ofBlocks, ...ofSentences].filter((told) => PROGRAMS.test(told.command) && !isTemplate(told));
}
const TEMPLATE_SCRIPTS = /^npm run (dev|typecheck)\b/;

const commands = toldCommands();
const words = (command: string) =>
  [...command.matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) => word.replace(/^(['"])([\s\S]*)\1$/, '$2'));
/** Long ones without their values, short ones as they are. */
const flagsOf = (command: string) =>
  words(command)
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/, ''));

/** The text of some help. */
function helpOf(command: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, [...args], { cwd: root, encoding: 'utf8' });
  return `${stdout}${stderr}`;
}

const helps = new Map<string, string>();
function once(key: string, make: () => string): string {
  const text = helps.get(key) ?? make();
  helps.set(key, text);
  return text;
}

const names = (help: string, flag: string) => new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(help);

/** Flags of a command that its help does not name. */
function unknown({ document, command }: Told, help: string): readonly string[] {
  return flagsOf(command)
    .filter((flag) => !names(help, flag))
    .map((flag) => `${document}: ${command}: there is no ${flag}`);
}

describe('npm run', () => {
  const known = scripts();

  /** What a script says of its flags: its help where it has one, else its source. */
  function helpOfScript(name: string): string {
    const [entry = ''] = (known.get(name) ?? '').split(' ');
    const source = readFileSync(join(root, entry), 'utf8');
    const own = [...source.matchAll(/^\s+'?([a-z-]+)'?: \{ type: '/gm)].map(([, flag = '']) => `--${flag}`).join(' ');
    return /helped\(|USAGE/.test(source) ? helpOf(process.execPath, [entry, '--help']) : own;
  }

  it('names scripts that there are, with flags that they have', () => {
    const told = commands.filter(({ command }) => command.startsWith('npm run '));
    expect(told.length).toBeGreaterThan(30);
    const faults = told.flatMap((one) => {
      const [, , name = ''] = words(one.command);
      if (!known.has(name)) return [`${one.document}: ${one.command}: there is no script ${name}`];
      return unknown(
        one,
        once(name, () => helpOfScript(name)),
      );
    });
    expect(faults).toEqual([]);
  });
});

describe('finalizer-bridge', () => {
  it('is told with commands and flags that it has, also as a plug-in of kubectl', async () => {
    const line = new CommandLine();
    const faults: string[] = [];
    const told = commands.filter(({ command }) => /^(kubectl )?finalizer-bridge /.test(command));
    expect(told.length).toBeGreaterThan(15);
    for (const one of told) {
      const command = one.command.replace(/^kubectl /, '');
      const [, name = ''] = words(command);
      const { exit, out, err } = await line.run(`${name.startsWith('-') ? '' : name} --help`);
      faults.push(...(exit === EXIT.ok ? [] : [`${one.document}: ${one.command}: ${err}`]));
      faults.push(...unknown({ ...one, command }, out));
    }
    expect(faults).toEqual([]);
  });
});

describe('kubectl and helm', () => {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const programs: Record<string, string> = {};
  beforeAll(async () => {
    programs.kubectl = await findKubectl(say);
    programs.helm = await findHelm({ say });
  }, 120_000);

  /** Help of a command, and of the flags that all commands have. */
  function helpOfProgram(program: string, verb: string): string {
    const path = programs[program] ?? '';
    const all = program === 'kubectl' ? once('kubectl', () => helpOf(path, ['options'])) : '';
    return once(`${program} ${verb}`, () => helpOf(path, [...verb.split(' '), '--help'])) + all;
  }

  it.each(['kubectl', 'helm'])('%s is told with verbs and flags that it has', (program) => {
    const told = commands.filter(({ command }) => new RegExp(`^${program} (?!finalizer-bridge)`).test(command));
    expect(told.length).toBeGreaterThan(8);
    const faults = told.flatMap((one) => {
      const [, ...rest] = words(one.command.replace(/ (-n|--namespace) \S+/g, ' '));
      const [first = '', second = ''] = rest.filter((word) => !word.startsWith('-'));
      const verb = GROUPS.has(first) ? `${first} ${second}` : first;
      const help = helpOfProgram(program, verb);
      if (!help.includes(`${program} ${verb}`)) return [`${one.document}: ${one.command}: there is no ${verb}`];
      return unknown(one, help);
    });
    expect(faults).toEqual([]);
  });

  it('helm is told with values that the chart has', () => {
    const schema = z.object({ properties: z.record(z.string(), z.unknown()) });
    const chart = schema.parse(JSON.parse(readFileSync(join(root, 'infra/chart/values.schema.json'), 'utf8')));
    const set = commands.flatMap(({ document, command }) =>
      [...command.matchAll(/--set '?([\w.[\]]+)=/g)].map(([, path = '']) => ({ document, path })),
    );
    expect(set.length).toBeGreaterThan(2);
    const isKnown = (path: string) => {
      let here: unknown = chart;
      for (const step of path.replaceAll(/\[\d+\]/g, '.*').split('.')) {
        const node = z.looseObject({
          properties: z.optional(z.record(z.string(), z.unknown())),
          items: z.optional(z.unknown()),
        });
        const { properties, items } = node.parse(here ?? {});
        here = step === '*' ? items : properties?.[step];
      }
      return here !== undefined;
    };
    expect(set.filter(({ path }) => !isKnown(path))).toEqual([]);
    expect(isKnown('kinds[0].grup')).toBe(false);
  });
});

it('a flag that is not there would be found', () => {
  const told = { document: 'page.md', command: 'kubectl get pods --frob=1 -n x' };
  expect(unknown(told, 'Options: -n, --namespace')).toEqual([`page.md: ${told.command}: there is no --frob`]);
});
