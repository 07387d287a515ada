/*
 * The facts of docs/handlers.md: for each registered handler a block between two marks, made of its schemas, permissions,
 * limits, error table and sources. What stands around the blocks is written by hand.
 * Used by schemas.ts (`npm run schemas`) and by the test that keeps the page from drifting.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import * as z from 'zod/mini';
import { GENERAL_ERRORS } from '../functions/aws-errors.ts';
import { type Handler, RESERVE_SECONDS } from '../functions/handler.ts';
import { registry } from '../functions/registry.ts';
import type { Schema } from '../functions/schema.ts';
import type { GeneratedFile } from './generated.ts';

const root = join(import.meta.dirname, '..');

/** The page, from the root of the project. */
export const HANDLERS_PAGE = 'docs/handlers.md';

/** What of a JSON Schema is shown. */
const shape = z.object({
  properties: z._default(z.record(z.string(), z.unknown()), {}),
  required: z._default(z.array(z.string()), []),
  additionalProperties: z.optional(z.unknown()),
});

/** The page with today's facts. */
export function handlersPage(handlers: readonly Handler[] = registry): GeneratedFile {
  const page = readFileSync(join(root, HANDLERS_PAGE), 'utf8');
  return { path: HANDLERS_PAGE, text: handlers.reduce(withFacts, page) };
}

/** A page with the facts of a handler; one that has no section yet gets it at the end. */
export function withFacts(page: string, handler: Handler): string {
  const begin = `<!-- facts of ${handler.name}: made by npm run schemas -->\n`;
  const end = `<!-- end of the facts of ${handler.name} -->\n`;
  const block = begin + factsOf(handler) + end;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) return `${page}\n## ${handler.name}\n\n${block}`;
  return page.slice(0, from) + block + page.slice(to + end.length);
}

/** The facts of one handler, as a table. */
export function factsOf(handler: Handler): string {
  const { schemas, dangerous, limits, permissions } = handler;
  const { timeBudgetSeconds, batchSize, maximumConcurrency, memoryMb } = limits;
  const reasons = reasonsOf(handler);
  const rows = [
    ['target', fieldsOf(schemas.target)],
    ['options', fieldsOf(schemas.options)],
    ['of these, need `allow.options`', listOf(dangerous)],
    ['settings', fieldsOf(schemas.settings)],
    ['permissions', listOf([...new Set(permissions.flatMap(({ actions }) => actions))])],
    ['refused', listOf(reasons.refused)],
    ['pending', listOf(reasons.pending)],
    ['a target that is not there', handler.absence === 'gone' ? 'gone, `absent`' : 'refused'],
    ['another account', elsewhereOf(handler)],
    [
      'limits',
      `${timeBudgetSeconds} s a run, ${timeBudgetSeconds + RESERVE_SECONDS} s a function, batches of ${batchSize}, ${maximumConcurrency} functions at once, ${memoryMb} MB`,
    ],
  ];
  return `\n| | |\n|---|---|\n${rows.map(([what, says]) => `| ${what} | ${says} |\n`).join('')}\n`;
}

function elsewhereOf({ permissions, crossAccount }: Handler): string {
  if (permissions.length === 0) return 'its targets are not in AWS';
  return crossAccount ? 'where the allow-list has it' : 'no';
}

/** Fields as paths, `?` after those that may be left out; `<name>` is any name. */
function fieldsOf(schema: Schema): string {
  return listOf(pathsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), ''));
}

function pathsOf(schema: unknown, path: string): readonly string[] {
  const { success, data } = shape.safeParse(schema);
  if (!success) return path === '' ? [] : [path];
  const { properties, required, additionalProperties } = data;
  const inner = [
    ...Object.entries(properties).flatMap(([key, value]) =>
      pathsOf(value, `${path === '' ? '' : `${path}.`}${key}${required.includes(key) ? '' : '?'}`),
    ),
    ...(typeof additionalProperties === 'object' ? pathsOf(additionalProperties, `${path}.<name>`) : []),
  ];
  return inner.length === 0 && path !== '' ? [path] : inner;
}

/** Reasons that every handler may give: those of any call, and those of the guards, which the page tells once for all. */
const general = new Set([
  ...Object.values(GENERAL_ERRORS['*'] ?? {}).map(({ reason }) => reason),
  ...['functions/guards.ts', 'functions/handler.ts'].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\breason: '(\w+)'/g)].flatMap(([, reason = '']) => reason),
  ),
]);

/** Reasons of the handler's own: those in its sources, and those in its error table. */
function reasonsOf({ name, errors }: Handler): {
  readonly refused: readonly string[];
  readonly pending: readonly string[];
} {
  const source = sourcesOf(name);
  const rows = Object.values(errors).flatMap((byCode) => Object.values(byCode));
  const said = (outcome: string, means: string) => {
    const written = [...source.matchAll(new RegExp(`\\b${outcome}\\(\\{\\s*reason: '(\\w+)'`, 'g'))];
    const tabled = rows.filter((row) => row.means === means).map(({ reason }) => reason);
    const all = new Set([...written.flatMap(([, reason = '']) => reason), ...tabled]);
    return [...all].filter((reason) => !general.has(reason)).sort();
  };
  return { refused: said('refused', 'refused'), pending: said('pending', 'again') };
}

/** The texts of the handler's file and of what it imports here, without what every handler has: the kit. */
function sourcesOf(name: string): string {
  const kit = importsOf('functions/entry.ts');
  const own = [...importsOf(`functions/handlers/${name}.ts`)].filter((file) => !kit.has(file));
  return own.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

/** A file and all that it imports by relative paths, directly or not. */
function importsOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, path = ''] of text.matchAll(/from '(\.[^']+)'/g)) importsOf(normalize(join(dirname(file), path)), seen);
  return seen;
}

function listOf(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map((item) => `\`${item}\``).join(', ');
}
