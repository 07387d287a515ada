/*
 * Credentials for the API server, from the Kubernetes client's KubeConfig: address, headers, TLS. Used by cluster.ts and
 * main.ts. They are kept for a minute, because the library reads files on every call, and read again after a 401 (K14).
 */
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from './ports.ts';

const KEPT_MS = 60_000;

/** All that a call needs besides its path. `prefix` is the path part of the server's address. */
export interface Credentials {
  readonly origin: string;
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/** Gives credentials; `renewed` reads them again whatever their age. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  renewed(): Promise<Credentials>;
}

/**
 * Loads a kubeconfig: the given file, else what the library finds (KUBECONFIG, home, in-cluster).
 * @throws Error when there is no cluster in it.
 */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (file === undefined) config.loadFromDefault();
  else config.loadFromFile(file);
  if (config.getCurrentCluster() === null)
    throw new Error(`loading kubeconfig ${file ?? '(default)'}: it names no cluster`);
  return config;
}

/** Credentials from a kubeconfig. */
export function createCredentials(config: KubeConfig, clock: Clock): CredentialSource {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error('reading credentials: the kubeconfig names no cluster');
  const url = new URL(server);
  const fallback = new Agent();
  let kept: { readonly at: number; readonly credentials: Promise<Credentials> } | undefined;

  async function read(): Promise<Credentials> {
    const context = new RequestContext(server ?? url.href, HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    const dispatcher = context.getDispatcher() ?? fallback;
    return { origin: url.origin, prefix: url.pathname.replace(/\/$/, ''), headers: context.getHeaders(), dispatcher };
  }

  async function renewed(): Promise<Credentials> {
    const credentials = read();
    kept = { at: clock.monotonic(), credentials };
    credentials.catch(() => {
      kept = undefined;
    });
    return await credentials;
  }

  return {
    renewed,
    current: async () =>
      kept !== undefined && clock.monotonic() - kept.at < KEPT_MS ? await kept.credentials : await renewed(),
  };
}
