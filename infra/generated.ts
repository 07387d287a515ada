/*
 * Files that are made from sources and kept in the tree: written anew, or with `--check` only held against them.
 * Called by the entries that make them: schemas.ts (`npm run schemas`) and crd/generate.ts (`npm run crd`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');

/** A generated file: its path from the root of the project, and its whole text. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** Writes what has changed, or says what has; reads `--check` from the command line. `command` is what makes the files. */
export function keepGenerated(files: readonly GeneratedFile[], command: string): void {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  for (const { path, text } of files) {
    const file = join(root, path);
    const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (current === text) continue;
    if (values.check) {
      console.error(`${path} is not what its sources give: run ${command} and commit it`);
      process.exitCode = 1;
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${path}`);
  }
}
