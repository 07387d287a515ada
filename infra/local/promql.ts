/*
 * Prometheus' own query engine over a script of series and expectations (promql/main.go). Built from its Go module when the
 * test of the chart's alerts wants it.
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';

/** Absolute path of the command, built if need be (two minutes on two cores). */
export async function findPromql(say: Say, env: Environment = process.env): Promise<string> {
  return await goTool({ name: 'promql', package: '.', folder: join(import.meta.dirname, 'promql'), say, env });
}
