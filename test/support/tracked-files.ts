/*
 * The files that belong to the project: what git tracks and what it would track next, so that a new file is held to
 * the rules before it is committed. Used by test/architecture.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the tree. */
export const root = join(import.meta.dirname, '../..');

/** Paths within the tree, with slashes. */
export function trackedFiles(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return listed
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
}
