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
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly dispatcher: Dispatcher;
}

/** Gives credentials; `renewed` reads them again whatever their age. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  renewed(): Promise<Credentials>;
}

/** What is chosen from a kubeconfig instead of what it says itself; undefined leaves it. */
export interface Choice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
}

/**
 * Loads a kubeconfig: the given file, else what the library finds (KUBECONFIG, home, in-cluster).
 * @throws Error when there is no cluster in it, or not what was chosen.
 */
export function loadKubeConfig(file: string | undefined, choice: Choice = {}): KubeConfig {
  const place = `loading kubeconfig ${file ?? '(default)'}`;
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (cause) {
    throw new Error(`${place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  choose(config, choice, place);
  if (config.getCurrentCluster() === null) throw new Error(`${place}: it names no cluster`);
  return config;
}

function choose(config: KubeConfig, { context, cluster, user }: Choice, place: string): void {
  if (context !== undefined) {
    if (config.getContextObject(context) === null) throw new Error(`${place}: it has no context ${context}`);
    config.setCurrentContext(context);
  }
  if (cluster === undefined && user === undefined) return;
  if (cluster !== undefined && config.getCluster(cluster) === null)
    throw new Error(`${place}: it has no cluster ${cluster}`);
  if (user !== undefined && config.getUser(user) === null) throw new Error(`${place}: it has no user ${user}`);
  const base = config.getContextObject(config.getCurrentContext());
  const name = 'chosen by flags';
  config.addContext({
    ...{ ...base, name },
    cluster: cluster ?? base?.cluster ?? '',
    user: user ?? base?.user ?? '',
  });
  config.setCurrentContext(name);
}

/** The same credentials with more headers. */
export function withHeaders(source: CredentialSource, headers: Credentials['headers']): CredentialSource {
  const more = async (credentials: Promise<Credentials>): Promise<Credentials> => {
    const known = await credentials;
    return { ...known, headers: { ...known.headers, ...headers } };
  };
  return { current: () => more(source.current()), renewed: () => more(source.renewed()) };
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
