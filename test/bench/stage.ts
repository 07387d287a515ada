/*
 * What the scenes of the benchmarks stand on: a real API server, the queues in a process of their own, the no-op function
 * from its bundle, and bridges from theirs. Set up once by run.ts; every scene starts the bridges that it measures.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { buildBridge } from '../../infra/build.ts';
import type { Role } from '../../infra/local/bridge-process.ts';
import { type FunctionProcess, startFunctionProcess } from '../../infra/local/function-process.ts';
import { startBridge } from '../../infra/local/installation.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import type { Say } from '../../infra/local/progress.ts';
import type { CallCounts } from '../../infra/local/queue-calls.ts';
import type { Queues } from '../../infra/local/queues.ts';
import { startLocalSystem } from '../../infra/local/system.ts';
import { sumOf } from '../support/metrics-page.ts';
import { bundleNoOp, HANDLER } from './no-op-function.ts';
import type { Candidate } from './options.ts';
import { startPeer } from './peers.ts';

export const NAMESPACE = 'bench';
const RULE = 'bench';
/** The entry of the only rule. */
export const ENTRY = `finalizer-bridge.dev/${RULE}`;
/** What the rule selects. */
export const LABELS = { bench: 'bench' };

/** Calls that servers have counted so far. */
export interface Calls {
  /** Of single ConfigMaps, by the API server's own count. */
  readonly gets: number;
  readonly patches: number;
  /** By the queue server's own count; receives that brought nothing are apart. */
  readonly bridge: number;
  readonly bridgeEmpty: number;
  readonly function: number;
}

/** A bridge that is measured, or a peer. */
export interface Contender {
  readonly pid: number;
  /** The exit code. */
  readonly exited: Promise<number>;
  /** Resolves when it works; for a peer, which does not tell, when it runs. */
  ready(withinMs?: number, as?: Role): Promise<void>;
  /** How many deletions it has in hand, by its own count; none for a peer. */
  pending(): Promise<number>;
  stop(): Promise<void>;
}

export interface Stage {
  readonly kube: KubeClient;
  readonly queues: Queues;
  /** Process ids of what works beside the contender now, by name. */
  others(): Readonly<Record<string, number>>;
  /** A bridge as it is deployed, or a peer; it may not be ready yet. */
  start(candidate: Candidate): Promise<Contender>;
  calls(): Promise<Calls>;
}

/** Runs on a stage, which is taken down afterwards. */
export async function onStage<T>(say: Say, run: (stage: Stage) => Promise<T>): Promise<T> {
  await using system = await startLocalSystem({
    ...{ say, handlers: [HANDLER], queuesInOwnProcess: true, withoutCloud: true },
  });
  const { kube, folder } = system;
  await kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
  const host = await functionHost(system);
  const own = (await buildBridge(join(folder, 'own-bridge'))).bundles[0]?.file;
  const { apiServer, etcd } = kube.pids();
  return await run({
    ...{ kube, queues: system.queues },
    others: () => ({ queue: system.queues.pid, function: host.pid(), apiServer, etcd, client: process.pid }),
    async start({ peer, entry = own, functionEntry, flags }) {
      const place = await mkdtemp(join(folder, 'candidate-'));
      if (peer !== undefined) {
        const kubeconfig = await kube.kubeconfigFor({ token: kube.adminToken, name: peer, namespace: NAMESPACE });
        const started = await startPeer(peer, { say, kubeconfig, folder: place, entry: ENTRY, labels: LABELS });
        system.defer(() => started.stop());
        return started;
      }
      await host.run(functionEntry);
      const options = { kinds: [{ group: '', resource: 'configmaps' }], rules: [rule], logFile: join(place, 'log') };
      const bridge = await startBridge(system, {
        ...options,
        ...(entry === undefined ? {} : { entry }),
        nodeArgs: flags,
      });
      system.defer(() => bridge.stop());
      return { ...bridge, pending: async () => sumOf(await bridge.metrics(), 'finalizer_bridge_pending') };
    },
    calls: async () => {
      const page = String((await kube.request('GET', '/metrics')).body);
      const counted = await system.queues.calls();
      const of = (verb: string) => sumOf(page, 'apiserver_request_total', { group: '', resource: 'configmaps', verb });
      const { accessKeyId: bridgeKey } = system.bridge;
      const { accessKeyId } = system.handler(HANDLER);
      const bridgeEmpty = counted[bridgeKey]?.['ReceiveMessage empty'] ?? 0;
      return {
        ...{ gets: of('GET'), patches: of('PATCH'), bridgeEmpty },
        bridge: working(counted, bridgeKey),
        function: working(counted, accessKeyId),
      };
    },
  });
}

type System = Awaited<ReturnType<typeof startLocalSystem>>;

interface FunctionHost {
  pid(): number;
  /** Runs this bundle of the function, the tree's own unless told, in place of the one that runs. */
  run(entry: string | undefined): Promise<void>;
}

async function functionHost(system: System): Promise<FunctionHost> {
  const { folder } = system;
  const { requests, accessKeyId, functionName } = system.handler(HANDLER);
  const own = await bundleNoOp(join(folder, 'no-op-bundle', 'index.mjs'));
  const start = async (entry: string) => {
    const process = await startFunctionProcess({
      ...{ functionName, accessKeyId, folder, entry, batchSize: 10, concurrency: 4, functionTimeoutMs: 300_000 },
      isQuiet: true,
      queues: [requests],
      region: LOCAL_REGION,
      endpoints: { sqs: system.queues.endpoint },
      environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(functionConfig(system)) },
    });
    return { entry, process };
  };
  let running: { readonly entry: string; readonly process: FunctionProcess } = await start(own);
  system.defer(() => running.process.stop());
  return {
    pid: () => running.process.pid,
    async run(entry = own) {
      if (entry === running.entry) return;
      await running.process.stop();
      running = await start(entry);
    },
  };
}

const rule = {
  metadata: { name: RULE },
  spec: {
    match: { group: '', version: 'v1', resource: 'configmaps', labelSelector: { matchLabels: LABELS } },
    handler: HANDLER,
    target: { name: 'object.metadata.name', region: `'${LOCAL_REGION}'`, account: `'${LOCAL_ACCOUNT_ID}'` },
  },
};

function functionConfig({ clusterUid, bridge, results }: System): object {
  return {
    handler: HANDLER,
    account: LOCAL_ACCOUNT_ID,
    clusters: [{ uid: clusterUid, sender: bridge.senderId.split(':', 1)[0], resultQueueUrl: results.url }],
    allow: { accounts: [LOCAL_ACCOUNT_ID], regions: [LOCAL_REGION], names: ['*'] },
    logLevel: 'warn',
  };
}

/** Calls of one sender that were not in vain. */
function working(counts: CallCounts, accessKeyId: string): number {
  const own = Object.entries(counts[accessKeyId] ?? {});
  return own.reduce((sum, [call, count]) => (call === 'ReceiveMessage empty' ? sum : sum + count), 0);
}
