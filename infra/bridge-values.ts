/*
 * Entry of `npm run bridge-values [-- --stage S] [--values FILE] [--cluster C] [--outputs FILE] [--irsa] [--out FILE]`: writes
 * what the bridge's chart has to be told of the deployed functions. `--outputs` takes a file that
 * `aws cloudformation describe-stacks` or a deployment wrote; without it CloudFormation is asked.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartValues } from './functions/bridge-papers.ts';
import { bridgeSide, clusterOf, readOutputs } from './functions/stack-outputs.ts';
import { fetchOutputs, queuesClient, requireCredentials, valuesOf } from './stack.ts';
import { stackOptions } from './stack-options.ts';
import { helped, type Usage } from './stack-usage.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** Text of --help. */
const USAGE: Usage = {
  command: 'bridge-values',
  does: [
    'Writes the values of the chart for a bridge: queues, clusters and handlers of the functions that are deployed.',
  ],
  own: {
    '--cluster CLUSTER': 'name or uid of a cluster of the values; needed when there are several',
    '--outputs FILE':
      'outputs of the stack, as `aws cloudformation describe-stacks` prints them; asked for unless told',
    '--irsa': 'with the annotation of the role, for IAM roles for service accounts',
    '--out FILE': 'where to write; stdout unless told',
  },
};

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (helped(args, USAGE)) return 0;
  const texts = ['cluster', 'outputs', 'out'];
  const { deployed, has, text } = stackOptions(args, { flags: ['irsa'], texts });
  const place = { deployed, serviceDir: root };
  const values = valuesOf(place);
  const cluster = clusterOf(values, text('cluster'));
  const file = text('outputs');
  if (file === undefined) await requireCredentials(queuesClient(values.region));
  const outputs = file === undefined ? await fetchOutputs(place) : readOutputs(file);
  const made = chartValues({ side: bridgeSide(outputs, values, cluster), values, cluster, withRole: has('irsa') });
  const out = text('out');
  if (out === undefined) process.stdout.write(made);
  else writeFileSync(out, made);
  return 0;
}

if (import.meta.main) await runEntry(main);
