/*
 * The types of the npm package in a project that checks as strictly as TypeScript can, its libraries too: a handler's target,
 * options and settings are those of its schemas, of either edition of the schema library. One run of the compiler for all.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PackedKit, packKit } from '../support/kit-project.ts';

const STRICT = [
  ...['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'],
  ...['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext.collection,esnext.iterator'],
  ...['--types', 'node', '--pretty', 'false'],
];

const WHOLE = `
  const found = await calls.look('own:Find', () => client(region).find(target.id));
  if (found.means === 'gone') return gone('absent');
  if (found.means !== 'done') return refused({ reason: found.reason, message: settings(settingsSchema).url });
  if (!calls.prove(new Map(found.value.tags)).owned) return refused({ reason: 'NotOwned', message: String(target.size) });
  return options.force === true ? gone('deleted') : pending({ reason: 'Later', retryAt: inSeconds(30) });`;

/** A module with a handler whose teardown is the given text. */
const moduleOf = (body: string, zod = 'zod/mini') => `
  import { defineHandler, gone, pending, refused, type Outcome } from 'finalizer-bridge/functions';
  import type { ServiceOptions } from 'finalizer-bridge/infra';
  import { tryTeardown } from 'finalizer-bridge/testing';
  import { s3Bucket } from 'finalizer-bridge/handlers/s3-bucket';
  import * as z from '${zod}';
  const settingsSchema = z.strictObject({ url: z.string() });
  class Client {
    constructor(readonly place: string) {}
    async find(id: string): Promise<{ tags: [string, string][] }> { return { tags: [[id, this.place]] }; }
  }
  export const own = defineHandler({
    name: 'own', version: '1', permissions: [], service: 'own', settings: settingsSchema,
    target: z.strictObject({ id: z.string(), size: z.int() }),
    options: z.strictObject({ force: ${zod === 'zod' ? 'z.boolean().optional()' : 'z.optional(z.boolean())'} }),
    dangerous: ['force'],
    errors: { 'own:Find': { Missing: { means: 'gone', reason: 'NotFound' } } },
    identity: ({ id }) => ({ names: [id], place: 'outside' }),
    connect: ({ region }) => new Client(region),
    async teardown({ target, options, settings, client, region, calls, inSeconds }): Promise<Outcome> { ${body} },
  });
  export const used: [typeof tryTeardown, typeof s3Bucket.name, ServiceOptions['folder']] = [tryTeardown, s3Bucket.name, ''];`;

const good = { 'schemas of zod/mini': moduleOf(WHOLE), 'schemas of zod': moduleOf(WHOLE, 'zod') };

const bad: Readonly<Record<string, readonly [text: string, words: RegExp]>> = {
  'a field that the target does not have': [moduleOf('return gone(target.name);'), /'name' does not exist on type/],
  'a field of the target as another type': [
    moduleOf('const text: string = target.size; return refused({ reason: "A", message: text });'),
    /'number' is not assignable to type 'string'/,
  ],
  'an option that is not in the schema': [moduleOf('return gone(options.hard);'), /Property 'hard' does not exist/],
  'an evidence that there is not': [moduleOf('return gone("probably");'), /'"probably"' is not assignable/],
  'an answer that is no outcome': [moduleOf('return true;'), /'boolean' is not assignable to type/],
  'the value of a call that may not be done': [
    moduleOf('return gone((await calls.look("own:Find", async () => "absent")).value);'),
    /Property 'value' does not exist/,
  ],
  'a call that its client does not have': [
    moduleOf('client(region).lose(); return gone("absent");'),
    /'lose' does not/,
  ],
  'a setting by another name': [
    moduleOf('return refused({ reason: "A", message: settings(settingsSchema).uri });'),
    /Property 'uri' does not exist/,
  ],
  'a danger that is no option': [
    moduleOf(WHOLE).replace("dangerous: ['force']", "dangerous: ['harm']"),
    /'"harm"' is not assignable to type '"force"'/,
  ],
  'a code that means nothing known': [
    moduleOf(WHOLE).replace("means: 'gone'", "means: 'maybe'"),
    /'"maybe"' is not assignable/,
  ],
};

const fileOf = (title: string) => `${title.replaceAll(/[^a-z]+/g, '-')}.ts`;
let kit: PackedKit;
let said: readonly string[];

beforeAll(async () => {
  kit = await packKit();
  const folder = kit.folder('types');
  kit.install(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const texts = { ...good, ...Object.fromEntries(Object.entries(bad).map(([title, [text]]) => [title, text])) };
  for (const [title, text] of Object.entries(texts)) writeFileSync(join(folder, fileOf(title)), text);
  said = kit.run(folder, 'tsc', [...STRICT, ...Object.keys(texts).map(fileOf)]).out.split('\n');
}, 600_000);
afterAll(() => kit?.remove());

const complaintsOf = (title: string) => said.filter((line) => line.startsWith(`${fileOf(title)}(`)).join('\n');

describe('a handler in a strict project', () => {
  it.each(Object.keys(good))('compiles with %s', (title) => {
    expect(complaintsOf(title)).toBe('');
  });

  it.each(Object.entries(bad))('does not compile with %s', (title, [, words]) => {
    expect(complaintsOf(title)).toMatch(words);
  });

  it('makes the compiler complain of nothing else, the types of the package among it', () => {
    const files = Object.keys(bad).map((title) => `${fileOf(title)}(`);
    expect(said.filter((line) => /^\S/.test(line) && !files.some((file) => line.startsWith(file)))).toEqual([]);
  });
});
