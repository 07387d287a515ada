/*
 * Writes what is made from the schema of TeardownRule: the manifest and the reference for people.
 * `node infra/crd/generate.ts`; with `--check` it only says whether the files are what the schema gives, and fails if not.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ruleFiles } from './files.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

for (const { path, text } of ruleFiles()) {
  const file = join(root, path);
  const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (current === text) continue;
  if (values.check) {
    console.error(`${path} is not what the schema gives: run node infra/crd/generate.ts and commit it`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${path}`);
}
