/*
 * A fault proxy between a site's bridges and its API server, and the ServiceAccount that bridges reach it with: its token
 * stands in a file, as in a Pod, and can be made to expire. Started by site.ts.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { BRIDGE_NAMESPACE } from '../../infra/local/installation.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

/** The proxy of a site. */
export interface Faults {
  readonly proxy: FaultProxy;
  /** What bridges are started with instead of the API server's own. */
  readonly kube: Pick<KubeClient, 'serviceAccount' | 'kubeconfigFor' | 'apply'>;
  /** The token in the file expires; nothing else happens to the file. */
  expireToken(): Promise<void>;
  /** A new token comes into the file, as the kubelet brings it; `before` runs when it is there, and not yet in the file. */
  renewToken(before?: () => Promise<void>): Promise<void>;
}

interface FaultsOptions {
  readonly kube: KubeClient;
  readonly folder: string;
  readonly account: string;
}

/** Starts it. */
export async function startFaults(
  { kube, folder, account }: FaultsOptions,
  keep: (proxy: FaultProxy) => FaultProxy,
): Promise<Faults> {
  const cert = await readFile(kube.caFile, 'utf8');
  const key = await readFile(kube.caFile.replace(/\.crt$/, '.key'), 'utf8');
  const proxy = keep(await startFaultProxy({ upstream: kube.url, cert, key }));
  const tokenFile = join(folder, 'token');
  const kubeconfigFor: KubeClient['kubeconfigFor'] = async ({ token, name }) => {
    const file = join(folder, `${name}.kubeconfig`);
    await writeFile(tokenFile, token, { mode: 0o600 });
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'local' },
      clusters: [{ name: 'local', cluster: { server: proxy.url, 'certificate-authority': kube.caFile } }],
      users: [{ name, user }],
      contexts: [{ name: 'local', context: { cluster: 'local', user: name } }],
    };
    await writeFile(file, stringify(config), { mode: 0o600 });
    return file;
  };
  return {
    proxy,
    kube: {
      ...{ apply: kube.apply, kubeconfigFor },
      serviceAccount: async (namespace, name) => {
        const { token } = await kube.serviceAccount(namespace, name);
        return { token, kubeconfig: await kubeconfigFor({ token, name: `${namespace}-${name}` }) };
      },
    },
    expireToken: async () => proxy.revoke(await readFile(tokenFile, 'utf8')),
    renewToken: async (before) => {
      const { token } = await kube.serviceAccount(BRIDGE_NAMESPACE, account);
      await before?.();
      await writeFile(tokenFile, token, { mode: 0o600 });
    },
  };
}
