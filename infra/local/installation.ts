/*
 * One installation on top of a running local system: the functions of the named handlers, the bridge's ServiceAccount
 * with its rights, and the bridge. Used by the demo and by tests that want the product as a user would have it.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { registry } from '../../functions/registry.ts';
import { functionModule } from '../function-module.ts';
import { DEAD_LETTERS } from '../functions/names.ts';
import { type BridgeProcess, type BridgeProcessOptions, startBridgeProcess } from './bridge-process.ts';
import { bridgeRights, type Kind } from './bridge-rights.ts';
import type { CloudClient } from './cloud.ts';
import { type FunctionProcess, startFunctionProcess } from './function-process.ts';
import type { KubeClient } from './kube-client.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from './places.ts';
import type { SystemQueues } from './system-queues.ts';

/** The servers that an installation stands on: a local system, or servers that several installations share. */
export interface Site extends SystemQueues {
  readonly kube: Pick<KubeClient, 'serviceAccount' | 'kubeconfigFor' | 'apply'>;
  readonly clusterUid: string;
  readonly queues: { readonly endpoint: string; readonly region: string };
  /** Private folder for what the processes need. */
  readonly folder: string;
  cloud(): Pick<CloudClient, 'endpoint'>;
}

/** What a function may touch, and what else its configuration says. */
export interface FunctionSettings {
  /** Name patterns. */
  readonly names: readonly string[];
  /** The module to run; made from the source unless told. */
  readonly entry?: string;
  readonly [setting: string]: unknown;
}

/** The namespace that the bridge's ServiceAccount lives in. */
export const BRIDGE_NAMESPACE = 'finalizer-bridge';

/** Starts a handler's function as Lambda would run it. */
export async function startFunction(
  site: Site,
  handler: string,
  { names, entry, ...settings }: FunctionSettings,
): Promise<FunctionProcess> {
  const queues = site.handlers[handler];
  const definition = registry.find(({ name }) => name === handler);
  if (queues === undefined || definition === undefined)
    throw new Error(`starting function ${handler}: no such handler`);
  const environment = {
    handler,
    account: LOCAL_ACCOUNT_ID,
    requestQueueUrl: queues.requests.url,
    clusters: clustersOf(site),
    allow: { accounts: [LOCAL_ACCOUNT_ID], regions: [LOCAL_REGION], names },
    ...settings,
  };
  const cloud = site.cloud().endpoint;
  return await startFunctionProcess({
    functionName: queues.functionName,
    entry: entry ?? (await entryOf(site.folder, handler)),
    queues: [queues.requests],
    batchSize: definition.limits.batchSize,
    functionTimeoutMs: 300_000,
    concurrency: 4,
    accessKeyId: queues.accessKeyId,
    region: LOCAL_REGION,
    endpoints: { sqs: site.queues.endpoint, others: cloud },
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(environment) },
    folder: site.folder,
  });
}

/** Starts the function that takes the dead letters of all queues. */
export async function startDeadLetters(site: Site): Promise<FunctionProcess> {
  const { functionName, accessKeyId, archive } = site.deadLetters;
  const environment = { clusters: clustersOf(site), archiveQueueUrl: archive.url };
  return await startFunctionProcess({
    functionName,
    entry: await entryOf(site.folder, DEAD_LETTERS),
    queues: [...Object.values(site.handlers).map(({ deadLetters }) => deadLetters), site.resultDeadLetters],
    batchSize: 10,
    functionTimeoutMs: 30_000,
    concurrency: 1,
    accessKeyId,
    region: LOCAL_REGION,
    endpoints: { sqs: site.queues.endpoint },
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(environment) },
    folder: site.folder,
  });
}

function clustersOf({ clusterUid, bridge, results }: Site) {
  return [{ uid: clusterUid, sender: roleOf(bridge.senderId), resultQueueUrl: results.url }];
}

/** The module that the packager bundles, as source. */
async function entryOf(folder: string, handler: string): Promise<string> {
  const file = join(await mkdtemp(join(folder, 'entry-')), 'index.mjs');
  await writeFile(file, await functionModule(handler), { mode: 0o600 });
  return file;
}

/** Gives the bridge's ServiceAccount its rights and starts a bridge under it. */
export async function startBridge(
  site: Site,
  options: Pick<BridgeProcessOptions, 'rules' | 'listedKinds' | 'entry' | 'nodeArgs' | 'logLevel' | 'logFile'> & {
    readonly kinds: readonly Kind[];
    readonly account?: string;
    readonly namespaceSelectors?: boolean;
  },
): Promise<BridgeProcess> {
  const account = { namespace: BRIDGE_NAMESPACE, name: options.account ?? 'bridge' };
  const { kubeconfig } = await site.kube.serviceAccount(account.namespace, account.name);
  const { namespaceSelectors = false, rules } = options;
  const extent = { rulesFromApi: rules === undefined, namespaceSelectors };
  await site.kube.apply(bridgeRights(options.kinds, account, extent));
  const handlers = Object.entries(site.handlers).map(([name, { requests, senderId }]) => [
    name,
    { queue: requests.url, sender: roleOf(senderId) },
  ]);
  return await startBridgeProcess({
    ...options,
    kubeconfig,
    queues: { endpoint: site.queues.endpoint, region: site.queues.region, results: site.results.url },
    handlers: Object.fromEntries(handlers),
    deadLetters: { sender: roleOf(site.deadLetters.senderId) },
    accessKeyId: site.bridge.accessKeyId,
    folder: site.folder,
  });
}

/** The role of `<roleId>:<session>`. */
function roleOf(senderId: string): string {
  return senderId.split(':', 1)[0] ?? senderId;
}
