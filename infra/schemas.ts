/*
 * Entry of `npm run schemas`: writes the messages' JSON Schemas to docs/schemas; with `--check` it only says whether
 * they are what the contract gives, and fails if not.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageSchemas } from './message-schemas.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

for (const { path, text } of messageSchemas()) {
  const file = join(root, path);
  const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (current === text) continue;
  if (values.check) {
    console.error(`${path} is not what the contract gives: run npm run schemas and commit it`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${path}`);
}
