/*
 * Entry of `npm run bridge-policy [-- --cluster C] [--outputs FILE] [--namespace N] [--service-account S] [--oidc-provider P]`:
 * prints the policy of the bridge's role and its two possible trust policies, as one JSON object. Without `--oidc-provider`
 * the trust for IRSA is left out; bridge-values.ts has the other options.
 */
import { join } from 'node:path';
import { bridgePapers } from './functions/bridge-papers.ts';
import { bridgeSide, clusterOf, readOutputs } from './functions/stack-outputs.ts';
import { fetchOutputs, queuesClient, requireCredentials, valuesOf } from './stack.ts';
import { stackOptions } from './stack-options.ts';
import { helped, type Usage } from './stack-usage.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** Text of --help. */
const USAGE: Usage = {
  command: 'bridge-policy',
  does: ["Prints the policy and the trust policies of the bridge's role, as one JSON object."],
  own: {
    '--cluster CLUSTER': 'name or uid of a cluster of the values; needed when there are several',
    '--outputs FILE':
      'outputs of the stack, as `aws cloudformation describe-stacks` prints them; asked for unless told',
    '--namespace NAMESPACE': 'of the bridge; finalizer-bridge unless told',
    '--service-account NAME': 'of the bridge; finalizer-bridge unless told',
    '--oidc-provider URL': "the cluster's, for IAM roles for service accounts; without it that trust is left out",
  },
};

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (helped(args, USAGE)) return 0;
  const texts = ['cluster', 'outputs', 'namespace', 'service-account', 'oidc-provider'];
  const { deployed, text } = stackOptions(args, { texts });
  const place = { deployed, serviceDir: root };
  const values = valuesOf(place);
  const cluster = clusterOf(values, text('cluster'));
  const file = text('outputs');
  if (file === undefined) await requireCredentials(queuesClient(values.region));
  const outputs = file === undefined ? await fetchOutputs(place) : readOutputs(file);
  const [namespace, serviceAccount] = [text('namespace'), text('service-account')];
  const bridge = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  };
  const known = { side: bridgeSide(outputs, values, cluster), values, cluster };
  const papers = bridgePapers(known, { bridge, oidcProvider: text('oidc-provider') });
  process.stdout.write(`${JSON.stringify(papers, null, 2)}\n`);
  return 0;
}

if (import.meta.main) await runEntry(main);
