/*
 * Plain access to the local API server for tests, demo and benchmarks: raw requests, kubeconfigs, ServiceAccounts, apply.
 * Independent of the bridge's own client, so that a fault there cannot hide itself. Made by kube; a process that did not start
 * the server connects with the facts it was given.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request as send } from 'undici';
import { stringify } from 'yaml';
import { z } from 'zod/mini';
import { applyManifests, type Manifest } from './kube-apply.ts';

/** What is needed to reach the server; plain data, may go to another process. */
export interface KubeFacts {
  readonly url: string;
  /** PEM file that vouches for the server's certificate. */
  readonly caFile: string;
  readonly adminToken: string;
  /** Where kubeconfigs are written. */
  readonly kubeconfigFolder: string;
}

export interface KubeResponse {
  readonly status: number;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
}

export interface KubeRequestOptions {
  /** `application/json` unless told; patches need theirs. */
  readonly contentType?: string;
  /** The admin's unless told; null sends none. */
  readonly token?: string | null;
  /** A user to act as, where the caller may. */
  readonly as?: string;
  /** What the answer is to be; JSON unless told. */
  readonly accept?: string;
}

export interface KubeconfigOptions {
  readonly token: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface KubeClient extends KubeFacts {
  /** One request. Every HTTP status is a value; throws only when there is no answer. A string body is sent as it is. */
  request(method: string, path: string, body?: unknown, options?: KubeRequestOptions): Promise<KubeResponse>;
  isReady(): Promise<boolean>;
  /** Writes a kubeconfig with that token, readable by this user only. */
  kubeconfigFor(options: KubeconfigOptions): Promise<string>;
  /** Makes namespace and ServiceAccount if need be and requests a token that lasts 6 h. */
  serviceAccount(namespace: string, name: string): Promise<{ readonly token: string; readonly kubeconfig: string }>;
  /** Server-side apply, in order; waits for a CustomResourceDefinition to be served. Returns the objects as stored. */
  apply(manifests: readonly Manifest[]): Promise<readonly Manifest[]>;
  /** uid of namespace kube-system, by which messages name the cluster. */
  clusterUid(): Promise<string>;
  /** Closes this client's connections. */
  close(): Promise<void>;
}

const tokenRequest = z.object({ status: z.object({ token: z.string() }) });

const withUid = z.object({ metadata: z.object({ uid: z.string() }) });

/** A client of a server, which need not run yet. */
export function connectKube(facts: KubeFacts): KubeClient {
  const { request, close } = connection(facts);
  const kubeconfigFor: KubeClient['kubeconfigFor'] = async (options) => {
    const path = join(facts.kubeconfigFolder, `${options.name}.kubeconfig`);
    await writeFile(path, stringify(kubeconfig(facts, options)), { mode: 0o600 });
    return path;
  };
  const apply: KubeClient['apply'] = (manifests) => applyManifests(request, manifests);
  return {
    ...{ ...facts, request, kubeconfigFor, apply, close },
    isReady: () =>
      request('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    serviceAccount: async (namespace, name) => {
      await apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
      ]);
      const token = await requestToken(request, namespace, name);
      return { token, kubeconfig: await kubeconfigFor({ token, namespace, name: `${namespace}-${name}` }) };
    },
    clusterUid: async () => {
      const { status, body } = await request('GET', '/api/v1/namespaces/kube-system');
      if (status !== 200) throw new Error(`reading namespace kube-system: status ${status}`);
      return z.parse(withUid, body).metadata.uid;
    },
  };
}

/** A server of this machine that stands still is waited for: the ten seconds of undici are for one that is far away. */
const CONNECT_MS = 60_000;
/** What has a body is not given up: over HTTP/2 that would take all memory, if it was not sent yet (bridge/unsent-bodies.ts). */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 } as const;

function connection(facts: KubeFacts): Pick<KubeClient, 'request' | 'close'> {
  // The certificate is written by the server itself, so it is read at the first request, not now.
  let agent: Agent | undefined;
  return {
    async request(
      method,
      path,
      body,
      { contentType = 'application/json', accept = 'application/json', token, as } = {},
    ) {
      agent ??= new Agent({ connect: { ca: readCertificate(facts.caFile), timeout: CONNECT_MS } });
      const bearer = token === undefined ? facts.adminToken : token;
      const response = await send(`${facts.url}${path}`, {
        dispatcher: agent,
        method: z.parse(httpMethod, method),
        headers: {
          accept,
          ...(as === undefined ? {} : { 'impersonate-user': as }),
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
        ...(body === undefined ? {} : PATIENT),
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.body.text();
      const isJson = String(response.headers['content-type'] ?? '').includes('json');
      return { status: response.statusCode, body: isJson ? JSON.parse(text) : text };
    },
    async close() {
      await agent?.destroy();
      agent = undefined;
    },
  };
}

/** What is taken of a file that the server has opened and not yet written would be trusted, in vain, for good. */
function readCertificate(file: string): string {
  const text = readFileSync(file, 'utf8');
  if (text.trimEnd().endsWith('-----END CERTIFICATE-----')) return text;
  throw new Error(`reading ${file}: the certificate is not whole yet`);
}

async function requestToken(request: KubeClient['request'], namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: 21_600 };
  const answer = await request('POST', path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
  if (answer.status !== 201) throw new Error(`requesting a token for ${namespace}/${name}: ${JSON.stringify(answer)}`);
  return z.parse(tokenRequest, answer.body).status.token;
}

const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

function kubeconfig(facts: KubeFacts, { token, name, namespace }: KubeconfigOptions) {
  const context = { cluster: 'local', user: name, ...(namespace === undefined ? {} : { namespace }) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster: { server: facts.url, 'certificate-authority': facts.caFile } }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'local', context }],
    'current-context': 'local',
  };
}
