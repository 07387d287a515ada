/*
 * A site for one file of end-to-end tests: the run's API server and cloud, with queues, namespace, API group and names of
 * its own, so that files do not disturb one another. Functions and bridges started here end with it. With `tripwires`,
 * what they say to the API server, SQS and S3 goes through proxies that a test can watch, cut and change; with `faults`
 * what bridges say to the API server goes through one that strikes.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { stringify } from 'yaml';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import type { Kind } from '../../infra/local/bridge-rights.ts';
import type { CloudClient } from '../../infra/local/cloud.ts';
import type { FunctionProcess } from '../../infra/local/function-process.ts';
import { type Site, startBridge, startDeadLetters, startFunction } from '../../infra/local/installation.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { type Queues, startQueues } from '../../infra/local/queues.ts';
import { createSystemQueues, type SystemQueues, systemSenders } from '../../infra/local/system-queues.ts';
import { built } from './built.ts';
import { sharedCloud, sharedKube } from './e2e.ts';
import { bridgeBundle, functionBundles } from './made-once.ts';
import { restarted } from './restarted.ts';
import { type Faults, startFaults } from './site-faults.ts';
import { bucketKind, type Rules, ruleFor } from './site-kind.ts';
import { startTripwire, type Tripwire } from './tripwire.ts';

export interface SiteOptions {
  /** An API server of the file's own, for what is the whole cluster's; the run's unless told. */
  readonly kube?: KubeClient;
  /** A short DNS label; everything of this site carries it. */
  readonly name: string;
  readonly handlers?: readonly string[];
  readonly tripwires?: boolean;
  readonly faults?: boolean;
  /** A bridge that has lost its lease is not started again; with `faults` it never is. */
  readonly endsForGood?: boolean;
  /** Makes another bridge than the one that is shipped, in the site's folder; resolves to its entry point. */
  readonly bridgeEntry?: (folder: string) => Promise<string>;
  /** Runs the function as it is shipped, bundled, instead of its sources; the bridge always is. */
  readonly bundled?: boolean;
  /** Seconds until what was received and not deleted comes again; 60 for results, 1,800 for requests unless told. */
  readonly resultVisibility?: number;
  readonly requestVisibility?: number;
  readonly maxReceiveCount?: number;
  /** Arguments of Node.js for the bridges. */
  readonly nodeArgs?: readonly string[];
}

/** The proxies of a site. */
export interface Wires {
  readonly api: Tripwire;
  readonly sqs: Tripwire;
  readonly s3: Tripwire;
}

/** What a bridge over the API may do beside holding buckets. */
export interface ApiRights {
  readonly kinds?: readonly Kind[];
  readonly namespaceSelectors?: boolean;
  /** What the configuration lists; nothing unless told. */
  readonly listedKinds?: readonly (Kind & { readonly version?: string })[];
}

export interface TestSite extends Site {
  readonly name: string;
  readonly namespace: string;
  readonly group: string;
  /** As admin, past all tripwires. */
  readonly admin: KubeClient;
  /** Past all tripwires. */
  readonly queueServer: Queues;
  readonly s3: ReturnType<CloudClient['s3']>;
  /** Throws when the site has none. */
  wires(): Wires;
  faults(): Faults;
  /**
   * A bridge under its ServiceAccount's own few rights, ready unless told otherwise. Rules are chosen by the label `rule`
   * of an object.
   */
  startBridge(rules?: Rules, until?: 'ready' | 'started'): Promise<BridgeProcess>;
  /**
   * A bridge whose rules are the TeardownRules in the API, with rights on these kinds beside the site's own, and no more.
   * It may not be ready yet.
   */
  startBridgeOverApi(rights?: ApiRights): Promise<BridgeProcess>;
  /** Takes the lease from whoever has it, as a person can who knows that it is dead. */
  freeLease(): Promise<void>;
  /** The function of a handler; it may touch names that begin with the site's. */
  startFunction(handler?: string): Promise<FunctionProcess>;
  /** The function that takes the dead letters of all queues. */
  startDeadLetters(): Promise<FunctionProcess>;
  /** Has a process stopped at the end, if it still runs then. */
  keep<T extends { stop(): Promise<void> }>(process: T): T;
  /** What the bridges have logged. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

const FAILURE_LINES = 25;
/** API path of the lease that makes a bridge the leader. */
export const LEASE_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/finalizer-bridge';

/** Starts a site; stop it when the file is done. */
export function startSite(options: SiteOptions): Promise<TestSite> {
  return built((stack) => build(options, stack));
}

async function build(options: SiteOptions, stack: AsyncDisposableStack): Promise<TestSite> {
  const {
    name,
    handlers = ['s3-bucket'],
    tripwires = false,
    bundled = false,
    nodeArgs = [],
    kube = sharedKube(),
    ...layout
  } = options;
  const keep = <T extends { stop(): Promise<void> }>(started: T): T => {
    stack.defer(() => started.stop());
    return started;
  };
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-site-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const cloud = sharedCloud();
  stack.defer(() => kube.close());
  const s3 = cloud.s3();
  stack.defer(async () => s3.destroy());
  const queueServer = keep(await startQueues({ senders: systemSenders({ handlers, stage: name }) }));
  const clusterUid = await kube.clusterUid();
  const queues = await createSystemQueues(queueServer, { ...layout, handlers, stage: name, clusterUid });
  const upstreams = { api: kube.url, sqs: queueServer.endpoint, s3: cloud.endpoint };
  const wires = tripwires ? await startWires(upstreams, await readFile(kube.caFile, 'utf8'), keep) : undefined;
  const faults = layout.faults === true ? await startFaults({ kube, folder, account: name }, keep) : undefined;
  const { namespace, group, manifests } = bucketKind(name);
  await kube.apply(manifests);
  const functions = bundled ? (await functionBundles(['s3-bucket'])).outDir : undefined;
  const entry = (await options.bridgeEntry?.(folder)) ?? join((await bridgeBundle()).outDir, 'main.mjs');
  const logFile = join(folder, 'bridge.log');
  const kept = async (start: () => Promise<BridgeProcess>): Promise<BridgeProcess> => {
    const isKubelet = layout.faults !== true && layout.endsForGood !== true;
    return keep(isKubelet ? await restarted(start, (bridge) => bridge.ready()) : await start());
  };
  const seen: Site = {
    ...(wires === undefined ? queues : behind(queues, wires.sqs.url)),
    ...{ folder, clusterUid },
    kube: faults?.kube ?? (wires === undefined ? kube : kubeBehind(kube, wires.api.url, folder)),
    queues: { endpoint: wires?.sqs.url ?? queueServer.endpoint, region: queueServer.region },
    cloud: () => ({ endpoint: wires?.s3.url ?? cloud.endpoint }),
  };
  return {
    ...seen,
    ...{ name, namespace, group, admin: kube, queueServer, s3, keep },
    wires: () => {
      if (wires === undefined) throw new Error(`looking for the tripwires of ${name}: it has none`);
      return wires;
    },
    faults: () => {
      if (faults === undefined) throw new Error(`looking for the fault proxy of ${name}: it has none`);
      return faults;
    },
    startBridge: async (rules = { team: {} }, until = 'ready') => {
      const kinds = [{ group, resource: 'buckets' }];
      const written = Object.entries(rules).map(([rule, spec]) => ruleFor(group, rule, spec));
      const common = { kinds, account: name, logLevel: 'debug', logFile, nodeArgs, entry };
      const bridge = await kept(() => startBridge(seen, { ...common, rules: written }));
      if (until === 'ready') await bridge.ready();
      return bridge;
    },
    startBridgeOverApi: async ({ kinds = [], namespaceSelectors = false, listedKinds = [] } = {}) => {
      const rights = { kinds: [{ group, resource: 'buckets' }, ...kinds], namespaceSelectors, listedKinds };
      const common = { account: name, logLevel: 'debug', logFile, nodeArgs, entry };
      return await kept(() => startBridge(seen, { ...rights, ...common }));
    },
    freeLease: async () => {
      const { status } = await kube.request('DELETE', LEASE_PATH);
      if (status !== 200) throw new Error(`deleting the lease: status ${status}`);
    },
    startFunction: async (handler = 's3-bucket') => {
      const entry = functions === undefined ? {} : { entry: join(functions, handler, 'index.mjs') };
      return keep(await startFunction(seen, handler, { names: [`${name}-*`], ...entry }));
    },
    startDeadLetters: async () => keep(await startDeadLetters(seen)),
    log: () => readFile(logFile, 'utf8').catch(() => ''),
    stop: () => stack.disposeAsync(),
  };
}

async function startWires(
  upstreams: Readonly<Record<keyof Wires, string>>,
  ca: string,
  keep: (wire: Tripwire) => Tripwire,
): Promise<Wires> {
  const start = async (upstream: string) => keep(await startTripwire({ upstream, ca }));
  return { api: await start(upstreams.api), sqs: await start(upstreams.sqs), s3: await start(upstreams.s3) };
}

/** The same queues, by the address of the proxy. */
function behind(queues: SystemQueues, url: string): SystemQueues {
  const moved = <T extends { readonly url: string }>(queue: T): T => ({
    ...queue,
    url: url + new URL(queue.url).pathname,
  });
  const handlers = Object.fromEntries(
    Object.entries(queues.handlers).map(([name, one]) => [name, { ...one, requests: moved(one.requests) }]),
  );
  const handler = (name: string) => ({ ...queues.handler(name), requests: moved(queues.handler(name).requests) });
  return { ...queues, handlers, handler, results: moved(queues.results) };
}

/** ServiceAccounts are made directly; what is done with their tokens goes through the proxy. */
function kubeBehind(kube: KubeClient, server: string, folder: string): Site['kube'] {
  const kubeconfigFor: KubeClient['kubeconfigFor'] = async ({ token, name }) => {
    const file = join(folder, `${name}.kubeconfig`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      // The client library speaks plain HTTP only where it is told not to look at certificates.
      clusters: [{ name: 'local', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'local', context: { cluster: 'local', user: name } }],
      'current-context': 'local',
    };
    await writeFile(file, stringify(config), { mode: 0o600 });
    return file;
  };
  return {
    apply: kube.apply,
    kubeconfigFor,
    serviceAccount: async (namespace, name) => {
      const { token } = await kube.serviceAccount(namespace, name);
      return { token, kubeconfig: await kubeconfigFor({ token, namespace, name: `${namespace}-${name}` }) };
    },
  };
}

/** Prints the end of the bridges' log below a test that failed. */
export function logFailures(site: () => TestSite): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    const lines = (await site().log()).trimEnd().split('\n').slice(-FAILURE_LINES);
    console.error(`The bridge's log before ${task.name} failed:\n${lines.join('\n')}`);
  });
}
