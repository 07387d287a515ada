/*
 * kubectl as people have it, of the version of the API server beside it. KUBECTL from the environment, or built from its Go
 * module (go-tool.ts), half a minute where the API server was built before. Used by the tests that follow the documents.
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';

const PACKAGE = 'k8s.io/kubernetes/cmd/kubectl';

/** Absolute path of the command. Throws with Go's last words when it cannot be built. */
export async function findKubectl(say: Say, env: Environment = process.env): Promise<string> {
  if (env.KUBECTL !== undefined && env.KUBECTL !== '') return env.KUBECTL;
  return await goTool({ name: 'kubectl', package: PACKAGE, folder: join(import.meta.dirname, 'kubectl'), say, env });
}
