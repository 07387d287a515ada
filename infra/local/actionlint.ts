/*
 * actionlint, which finds faults in GitHub workflows: syntax, types of expressions, unknown inputs, injections. Called by the
 * test of the workflows; built on demand from its Go module (go-tool.ts), in seconds.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';

const PACKAGE = 'github.com/rhysd/actionlint/cmd/actionlint';

/** Absolute path of the command, built if need be (seconds). */
export async function findActionlint(say: Say): Promise<string> {
  return await goTool({ name: 'actionlint', package: PACKAGE, folder: join(import.meta.dirname, 'actionlint'), say });
}

/** What it finds in some files, a line each; none when all is well. `root` is the folder with `.github`. */
export async function lintWorkflows(files: readonly string[], root: string, say: Say): Promise<readonly string[]> {
  const command = await findActionlint(say);
  // Without the two linters of scripts that it would call where they happen to be installed.
  const args = ['-oneline', '-no-color', '-shellcheck=', '-pyflakes=', ...files];
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0 && status !== 1) throw new Error(`running actionlint: it ended with ${status}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
