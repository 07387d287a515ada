/*
 * The Lua interpreter that Argo CD has inside, as a command: the health check in docs/gitops.md is run by what will run it.
 * Built from its Go module when a test wants it.
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';

const PACKAGE = 'github.com/yuin/gopher-lua/cmd/glua';

/** Absolute path of the command, built if need be (a few seconds). */
export async function findGlua(say: Say, env: Environment = process.env): Promise<string> {
  return await goTool({ name: 'glua', package: PACKAGE, folder: join(import.meta.dirname, 'glua'), say, env });
}
