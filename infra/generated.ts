/*
 * Files that are made from sources and kept in the tree: written anew, or with `--check` only held against them.
 * Called by the entries that make them: schemas.ts (`npm run schemas`) and crd/generate.ts (`npm run crd`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from './command.ts';

const root = join(import.meta.dirname, '..');

/** A generated file: its path from the root of the project, and its whole text. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** Writes what has changed, or with `--check` on the command line says what has. `command` is what makes the files. */
export async function keepGenerated(files: readonly GeneratedFile[], command: string): Promise<void> {
  await runCommand({
    usage: `usage: ${command} [-- --check]\n  --check   writes nothing, and fails where a file is not what its sources give`,
    read: (args) => parseArgs({ args: [...args], options: { check: { type: 'boolean', default: false } } }),
    run: async ({ values }) => keep(files, { command, isOnlyChecked: values.check }),
  });
}

function keep(
  files: readonly GeneratedFile[],
  { command, isOnlyChecked }: { readonly command: string; readonly isOnlyChecked: boolean },
): number {
  let exit = 0;
  for (const { path, text } of files) {
    const file = join(root, path);
    const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (current === text) continue;
    if (isOnlyChecked) {
      console.error(`${path} is not what its sources give: run ${command} and commit it`);
      exit = 1;
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${path}`);
  }
  return exit;
}
