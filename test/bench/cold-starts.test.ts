/*
 * The figures of cold starts: sizes are held to their budgets, a function that does not start is no figure. What the shipped
 * functions weigh is held by test/infra/build.test.ts, that they start by the last test there and by the first one here.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { BUNDLE_MAX_BYTES, OWN_MAX_BYTES, ownBytesOf } from '../../infra/function-budgets.ts';
import { coldStartOf, faultsOf, tableOf } from './cold-starts.ts';

const folder = mkdtempSync(join(tmpdir(), 'cold-starts-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bundleOf(name: string, text: string) {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, text);
  return { name, file, bytes: 600_000, bytesOf: { 'functions/entry.ts': 1000, 'node_modules/zod/a.js': 20 } };
}

it('times a fresh process that imports the bundle with a configuration, and says what is in it', () => {
  const reads = `const { handler: name } = JSON.parse(process.env.FINALIZER_BRIDGE_CONFIG);
    export const handler = name === 's3-bucket' ? () => {} : undefined;`;
  const start = coldStartOf(bundleOf('s3-bucket', reads), 3);
  expect(start).toEqual({ name: 's3-bucket', bytes: 600_000, ownBytes: 1020, initMs: expect.any(Number) });
  expect(start.initMs).toBeGreaterThan(0);
  expect(tableOf([start])).toMatch(/^function .*\ns3-bucket {2}600\.0 {2}750\.0 +1\.0 +80\.0 +\d+$/);
});

it.each([
  ['does not start', `throw new Error('Dynamic require of "x"');`, 'Dynamic require'],
  ['has no handler', 'export const other = 1;', '"is":"undefined"'],
])('takes no figure of a function that %s (F2)', (_what, text, said) => {
  expect(() => coldStartOf(bundleOf('webhook', text), 1)).toThrow(said);
});

it('counts as own what is not of the SDK: own files, and the schema library', () => {
  const bytesOf = {
    'functions/a.ts': 1,
    'bridge/b.ts': 2,
    'node_modules/zod/c.js': 4,
    'node_modules/@aws-sdk/d.js': 8,
  };
  expect(ownBytesOf({ bytesOf })).toBe(7);
});

it('finds fault with what is above a budget, and with a function that has none', () => {
  const fits = { name: 's3-bucket', bytes: 749_999, ownBytes: 79_999 };
  expect(faultsOf(fits)).toEqual([]);
  expect(faultsOf({ ...fits, bytes: BUNDLE_MAX_BYTES['s3-bucket'] ?? 0 })).toEqual([
    's3-bucket: 750000 bytes, at most 750000',
  ]);
  expect(faultsOf({ ...fits, ownBytes: OWN_MAX_BYTES })).toEqual([
    's3-bucket: 80000 bytes without the SDK, at most 80000',
  ]);
  expect(faultsOf({ ...fits, name: 'new' })).toEqual(['new: infra/function-budgets.ts says nothing of its size']);
});
