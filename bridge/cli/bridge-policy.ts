/*
 * `finalizer-bridge bridge-policy`: what the role of a bridge may do with the functions that were deployed of this folder's
 * registry, and how it trusts the bridge. The kit makes it (infra/kit/bridge-policy.ts); here are its flags. Beside
 * bridge-values.ts, which is about the chart.
 */
import * as z from 'zod/mini';
import { stackFlags, stackOptions, writeMade } from './bridge-values.ts';
import { defineLocalCommand, EXIT, misused } from './command.ts';
import { withKit } from './kit.ts';

export const bridgePolicy = defineLocalCommand({
  name: 'bridge-policy',
  summary: "Writes the policy and the trust of the bridge's role, for the functions deployed from this folder",
  usage: (command) =>
    stackFlags(command)
      .option('--service-account <namespace/name>', 'of the bridge; finalizer-bridge/finalizer-bridge unless told')
      .option('--oidc-provider <url>', "the cluster's, for IAM roles for service accounts; else that trust is left out")
      .option('--out <file>', 'where to write; standard output unless told'),
  options: z.object({
    ...stackOptions,
    ...{ serviceAccount: z.optional(z.string()), oidcProvider: z.optional(z.string()), out: z.optional(z.string()) },
  }),
  async run(context, _args, { for: cluster, serviceAccount, oidcProvider, out, ...files }) {
    const bridge = serviceAccount === undefined ? undefined : accountOf(serviceAccount);
    const asked = { ...files, cluster, bridge, oidcProvider, folder: process.cwd() };
    const made = await withKit(async (kit) => z.string().parse(await kit.bridgePolicy(asked)));
    writeMade(context, made, out);
    return EXIT.ok;
  },
});

function accountOf(text: string) {
  const [, namespace, serviceAccount] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(text) ?? [];
  if (namespace === undefined || serviceAccount === undefined)
    throw misused(`--service-account ${text}: write <namespace>/<name>`);
  return { namespace, serviceAccount };
}
