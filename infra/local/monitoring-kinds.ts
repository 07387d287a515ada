/*
 * The definitions of ServiceMonitor and PrometheusRule, from the Prometheus Operator's Go module at the version in the committed
 * go.mod, whose checksum Go verifies. Used by the tests of the chart, so that a real API server can look at what it makes of them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import type { Environment } from './cache.ts';
import type { Manifest } from './kube-apply.ts';
import { run } from './run.ts';

const MODULE = 'github.com/prometheus-operator/prometheus-operator';
const KINDS = ['servicemonitors', 'prometheusrules'];

const downloaded = z.object({ Dir: z.string() });
const definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/** The definitions, as manifests. Downloads the module if it is not in Go's cache. */
export async function monitoringKinds(env: Environment = process.env): Promise<readonly Manifest[]> {
  const options = { cwd: join(import.meta.dirname, 'prometheus-operator'), env: { ...env, GOWORK: 'off' } };
  const { Dir } = z.parse(downloaded, JSON.parse(await run('go', ['mod', 'download', '-json', MODULE], options)));
  const file = (kind: string) => join(Dir, 'example/prometheus-operator-crd', `monitoring.coreos.com_${kind}.yaml`);
  return await Promise.all(KINDS.map(async (kind) => z.parse(definition, parse(await readFile(file(kind), 'utf8')))));
}
