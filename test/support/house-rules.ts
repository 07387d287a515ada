/*
 * The rules of the house as checks over one source file each, with a file that breaks each of them.
 * test/architecture.test.ts holds the tree against them, and them against their own bad examples.
 */
import { basename } from 'node:path';
import type { Import, SourceFile } from './source-file.ts';

/** A rule: what it forbids in a file, and files that must not pass. */
export interface Rule {
  readonly title: string;
  /** What is wrong with the file; nothing when the rule holds or says nothing about it. */
  readonly faults: (file: SourceFile) => readonly string[];
  readonly broken: readonly { readonly path: string; readonly text: string }[];
}

const isContract = (path: string) => path === 'bridge/contract.ts' || path.startsWith('bridge/contract/');
const isCel = (path: string) => path === 'bridge/cel.ts' || path.startsWith('bridge/cel/');
/** Files that the rules hold to be pure: no I/O, no clock, no logger. */
export const isPure = (path: string): boolean =>
  isContract(path) ||
  isCel(path) ||
  /^bridge\/(at-admission|aws-partitions|budget-blocks|carried-record|checksum|decide|doubling|event-note|finalizer|injects|kept-status|kind-key|kind-schema|leader-state|managed-fields|next-command|object-meta|patch-body|record|rule-facts|rule-fields|rule-namespaces|run|served|shell-words|slowness|sqs-(?:refusal|region|signature)|stand-in|target|teardown-rules|wire|words)\.ts$/.test(
    path,
  ) ||
  /^functions\/(aws-errors|ec2-errors|guards|not-found-yet|outcomes|ownership|places|visibility|handlers\/(s3-bucket\/(errors|page-text|policy-text)|webhook\/(answer|errors|signature)))\.ts$/.test(
    path,
  );
const isShipped = (path: string) => /^(bridge|functions)\//.test(path);

/** Libraries that pure files may call: they have no clock and reach nothing. */
export const PURE_LIBRARIES = ['zod/mini', 'zod/v4/core', 'node:crypto'];
const CEL_LIBRARIES = ['@marcbachmann/cel-js', 're2js'];
/** What both sides are made of. */
const SHARED = [
  ...['bridge/contract.ts', 'bridge/checksum.ts', 'bridge/aws-partitions.ts'],
  ...['bridge/sqs-refusal.ts', 'bridge/sqs-signature.ts'],
];
const SQS_LIBRARY = '@aws-sdk/client-sqs';
const KUBERNETES = '@kubernetes/client-node';

/** Files that may not see real time or chance, and the names by which both are had. */
const TIME = /^(Date\.now|new Date\(\)|Date\(\)|performance\.now|Math\.random|set(Timeout|Interval|Immediate)\(\))$/;
const CHANCE_AND_TIMERS = /^(node:)?(timers(\/promises)?|perf_hooks)$/;
const knowsTime = (path: string) =>
  /^(bridge\/(main|clock)|functions\/(entry|dead-letter-entry|clock))\.ts$/.test(path);

/** Says of each import that does not pass where it goes. */
function forbid(imports: readonly Import[], passes: (made: Import) => boolean): readonly string[] {
  return imports.filter((made) => !passes(made)).map(({ from }) => `imports ${from}`);
}

/** The rules about who may import what. */
export const importRules: readonly Rule[] = [
  {
    title: 'the contract imports only the schema library and hashing',
    faults: ({ path, imports }) =>
      isContract(path) ? forbid(imports, ({ from }) => isContract(from) || PURE_LIBRARIES.includes(from)) : [],
    broken: [
      { path: 'bridge/contract/terms.ts', text: `import { read } from '../config.ts';` },
      { path: 'bridge/contract.ts', text: `export * from 'node:fs';` },
    ],
  },
  {
    title: 'pure files import types, pure files and libraries without I/O',
    faults: ({ path, imports }) =>
      isPure(path)
        ? forbid(
            imports,
            ({ from, typeOnly }) => typeOnly || isPure(from) || [...PURE_LIBRARIES, ...CEL_LIBRARIES].includes(from),
          )
        : [],
    broken: [
      { path: 'bridge/decide.ts', text: `import { now } from './clock.ts';` },
      { path: 'bridge/finalizer.ts', text: `import { type Log, log } from './log.ts';` },
      { path: 'bridge/record.ts', text: `const fs = await import('node:fs');` },
    ],
  },
  {
    title: 'what calls itself pure is held to it',
    faults: ({ path, comments }) =>
      isShipped(path) && /\bpure\b/i.test(comments[0] ?? '') && !isPure(path)
        ? ['is not in the list of pure files']
        : [],
    broken: [{ path: 'bridge/clock.ts', text: `/*\n * Reads a clock. Pure.\n * Called by main.ts.\n */` }],
  },
  {
    title: 'the CEL libraries are known only to cel and target',
    faults: ({ path, imports }) =>
      isCel(path) || path === 'bridge/target.ts' || !isShipped(path)
        ? []
        : forbid(imports, ({ from }) => !CEL_LIBRARIES.includes(from)),
    broken: [{ path: 'bridge/reconcile.ts', text: `import { Environment } from '@marcbachmann/cel-js';` }],
  },
  {
    title:
      'functions import from the bridge only the contract, checksums, the partitions of AWS, and how SQS is asked, and nothing from infra or test',
    faults: ({ path, imports }) =>
      path.startsWith('functions/')
        ? forbid(imports, ({ from }) => SHARED.includes(from) || !/^(bridge|infra|test)\//.test(from))
        : [],
    broken: [
      { path: 'functions/dispatch.ts', text: `import type { Rule } from '../bridge/rule.ts';` },
      { path: 'functions/handlers/a.ts', text: `import { root } from '../../infra/build.ts';` },
    ],
  },
  {
    title: 'the bridge imports nothing from functions, infra or test',
    faults: ({ path, imports }) =>
      path.startsWith('bridge/') ? forbid(imports, ({ from }) => !/^(functions|infra|test)\//.test(from)) : [],
    broken: [{ path: 'bridge/inbox.ts', text: `export type { Handler } from '../functions/handler.ts';` }],
  },
  {
    title: 'only cluster, main and cli know the Kubernetes client, by name',
    faults: ({ path, imports }) => {
      const knows = /^bridge\/(cluster[^/]*\.ts|cluster\/.+|main\.ts|cli\/.+)$/.test(path) || !isShipped(path);
      return forbid(imports, ({ from, wholesale }) => !isOf(from, KUBERNETES) || (knows && !wholesale));
    },
    broken: [
      { path: 'bridge/watch.ts', text: `import { KubeConfig } from '@kubernetes/client-node';` },
      { path: 'bridge/cluster.ts', text: `import * as kubernetes from '@kubernetes/client-node';` },
      { path: 'functions/report.ts', text: `import type { V1Pod } from '@kubernetes/client-node/dist/api.js';` },
    ],
  },
  {
    title: 'only what gets the keys of the bridge knows the client of SQS, since that costs more than all the rest',
    faults: ({ path, imports }) =>
      path === 'bridge/sqs-keys.ts' || !isShipped(path) ? [] : forbid(imports, ({ from }) => !isOf(from, SQS_LIBRARY)),
    broken: [
      { path: 'bridge/reconcile.ts', text: `import { SQSClient } from '@aws-sdk/client-sqs';` },
      { path: 'functions/dispatch.ts', text: `export type { Message } from '@aws-sdk/client-sqs';` },
      { path: 'functions/sqs.ts', text: `import { SQSClient } from '@aws-sdk/client-sqs';` },
      { path: 'bridge/sqs-polling.ts', text: `import { SQSClient } from '@aws-sdk/client-sqs';` },
    ],
  },
  {
    title: 'handlers never import each other',
    faults: ({ path, imports }) => {
      const own = handlerOf(path);
      return own === undefined ? [] : forbid(imports, ({ from }) => [undefined, own].includes(handlerOf(from)));
    },
    broken: [
      { path: 'functions/handlers/s3-bucket.ts', text: `import { age } from './ec2-instance.ts';` },
      { path: 'functions/handlers/s3-bucket/pages.ts', text: `import { age } from '../ec2-instance.ts';` },
    ],
  },
];

/** The rules about what stands in a file. */
export const contentRules: readonly Rule[] = [
  {
    title: 'the environment is read only in the two config files',
    faults: ({ path, uses }) =>
      isShipped(path) && !/^(bridge|functions)\/config\.ts$/.test(path) && uses.has('process.env')
        ? ['reads process.env']
        : [],
    broken: [
      { path: 'bridge/log.ts', text: `const level = process.env.LEVEL;` },
      { path: 'functions/entry.ts', text: `const { env } = process;` },
    ],
  },
  {
    title: 'time and chance are arguments',
    faults: ({ path, uses, imports }) =>
      isShipped(path) && !knowsTime(path)
        ? [
            ...[...uses].filter((use) => TIME.test(use)).map((use) => `uses ${use}`),
            ...forbid(imports, ({ from, typeOnly }) => typeOnly || !CHANCE_AND_TIMERS.test(from)),
          ]
        : [],
    broken: [
      { path: 'bridge/decide.ts', text: `const now = Date.now();` },
      { path: 'bridge/record.ts', text: `const since = new Date().toISOString();` },
      { path: 'functions/dispatch.ts', text: `setTimeout(() => {}, Math.random());` },
      { path: 'bridge/watch.ts', text: `import { setTimeout as delay } from 'node:timers/promises';` },
    ],
  },
  {
    title: 'exports have names',
    faults: ({ path, hasDefaultExport }) =>
      hasDefaultExport && !/\.config\.ts$/.test(path) ? ['has a default export'] : [],
    broken: [
      { path: 'bridge/main.ts', text: `export default 1;` },
      { path: 'infra/a.ts', text: `const a = 1; export { a as default };` },
    ],
  },
  {
    title: 'no type is let go and no work left for later',
    faults: ({ uses, comments }) => [
      ...(uses.has('as … as') ? ['casts twice'] : []),
      ...comments.filter((text) => /@ts-(ignore|expect-error|nocheck)|\b(TODO|FIXME|XXX|HACK)\b/.test(text)),
    ],
    broken: [
      { path: 'bridge/a.ts', text: `const a = 1 as unknown as string;` },
      { path: 'bridge/b.ts', text: `// @ts-ignore\nconst a: string = 1;` },
      { path: 'test/c.ts', text: `// ${'TO'}DO: more` },
    ],
  },
  {
    title: 'every test runs',
    faults: ({ uses }) =>
      [...uses].filter((use) => /^(it|test|describe)\.(skip|skipIf|runIf|only|todo|fails)$/.test(use)),
    broken: [{ path: 'test/a.test.ts', text: `it.skip('later', () => {});` }],
  },
  {
    title: 'file names are kebab-case and say what the file is',
    faults: ({ path }) => {
      const [name = ''] = basename(path).split('.');
      const isKebab = path.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part));
      return [
        ...(isKebab ? [] : ['is not kebab-case']),
        ...(/^(utils?|helpers?|common|types?|misc)$/.test(name) ? ['says nothing'] : []),
      ];
    },
    broken: [
      { path: 'bridge/workQueue.ts', text: '' },
      { path: 'functions/Handlers/a.ts', text: '' },
      { path: 'infra/utils.ts', text: '' },
    ],
  },
];

/** A file that no rule objects to. */
export const goodFile = {
  path: 'functions/handlers/good.ts',
  text: `/*\n * What it is.\n * What comes next.\n */\nimport { z } from 'zod/mini';\nexport const a = z;\n`,
};

function isOf(from: string, packageName: string): boolean {
  return from === packageName || from.startsWith(`${packageName}/`);
}

/** The handler that a file belongs to: `functions/handlers/<name>.ts` or a file in `functions/handlers/<name>/`. */
function handlerOf(path: string): string | undefined {
  return /^functions\/handlers\/([^/]+?)(\.ts|\/.+)$/.exec(path)?.[1];
}
