/*
 * kubeconform, which holds manifests against JSON Schemas without an API server. Built from its Go module when the tests of
 * the chart want it; its schemas are made from the API server's own (test/support/kube-schemas.ts).
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';

const PACKAGE = 'github.com/yannh/kubeconform/cmd/kubeconform';

/** Absolute path of the command, built if need be (half a minute). */
export async function findKubeconform(say: Say, env: Environment = process.env): Promise<string> {
  return await goTool({
    name: 'kubeconform',
    package: PACKAGE,
    folder: join(import.meta.dirname, 'kubeconform'),
    say,
    env,
  });
}
