/*
 * Entry of `npm run bridge-values [-- --stage S] [--values FILE] [--cluster C] [--outputs FILE] [--irsa] [--out FILE]`: writes
 * what the bridge's chart has to be told of the deployed functions. `--outputs` takes a file that
 * `aws cloudformation describe-stacks` or a deployment wrote; without it CloudFormation is asked.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartValues } from './functions/bridge-papers.ts';
import { bridgeSide, readOutputs } from './functions/stack-outputs.ts';
import { clusterOf, fetchOutputs, valuesOf } from './stack.ts';
import { stackOptions } from './stack-options.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

async function main(): Promise<number> {
  const texts = ['cluster', 'outputs', 'out'];
  const { deployed, has, text } = stackOptions(process.argv.slice(2), { flags: ['irsa'], texts });
  const place = { deployed, serviceDir: root };
  const values = valuesOf(place);
  const cluster = clusterOf(values, text('cluster'));
  const file = text('outputs');
  const outputs = file === undefined ? await fetchOutputs(place) : readOutputs(file);
  const made = chartValues({ side: bridgeSide(outputs, values, cluster), values, cluster, withRole: has('irsa') });
  const out = text('out');
  if (out === undefined) process.stdout.write(made);
  else writeFileSync(out, made);
  return 0;
}

if (import.meta.main) await runEntry(main);
