/*
 * Entry of `npm run bridge-policy [-- --cluster C] [--outputs FILE] [--namespace N] [--service-account S] [--oidc-provider P]`:
 * prints the policy of the bridge's role and its two possible trust policies, as one JSON object. Without `--oidc-provider`
 * the trust for IRSA is left out; bridge-values.ts has the other options.
 */
import { join } from 'node:path';
import { bridgePolicy, irsaTrust, podIdentityTrust } from './functions/bridge-papers.ts';
import { bridgeSide, readOutputs } from './functions/stack-outputs.ts';
import { clusterOf, fetchOutputs, valuesOf } from './stack.ts';
import { stackOptions } from './stack-options.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

async function main(): Promise<number> {
  const texts = ['cluster', 'outputs', 'namespace', 'service-account', 'oidc-provider'];
  const { deployed, text } = stackOptions(process.argv.slice(2), { texts });
  const place = { deployed, serviceDir: root };
  const values = valuesOf(place);
  const cluster = clusterOf(values, text('cluster'));
  const file = text('outputs');
  const outputs = file === undefined ? await fetchOutputs(place) : readOutputs(file);
  const bridge = {
    namespace: text('namespace') ?? 'finalizer-bridge',
    serviceAccount: text('service-account') ?? 'finalizer-bridge',
  };
  const provider = text('oidc-provider')?.replace(/^https:\/\//, '');
  const papers = {
    policy: bridgePolicy(bridgeSide(outputs, values, cluster), values),
    ...(provider === undefined ? {} : { irsaTrust: irsaTrust(cluster, provider, bridge) }),
    podIdentityTrust: podIdentityTrust(bridge),
  };
  process.stdout.write(`${JSON.stringify(papers, null, 2)}\n`);
  return 0;
}

if (import.meta.main) await runEntry(main);
