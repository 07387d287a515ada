/*
 * What the soak beats: a real API server, queues that live on disk in a process of their own, the emulated S3, a proxy with
 * faults in front of the API server, two bridges and the function from their bundles. Started by run.ts; processes that end
 * are started again, as kubelet and Lambda do (kept.ts).
 */

import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { buildBridge, buildFunctions } from '../../infra/build.ts';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { type Cloud, startCloud } from '../../infra/local/cloud.ts';
import { freePorts } from '../../infra/local/free-port.ts';
import type { FunctionProcess } from '../../infra/local/function-process.ts';
import { type Site, startBridge, startFunction } from '../../infra/local/installation.ts';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import type { Say } from '../../infra/local/progress.ts';
import { type Queues, startQueuesProcess } from '../../infra/local/queues.ts';
import { stopOnSignals } from '../../infra/local/system.ts';
import { createSystemQueues, type SystemQueues, systemSenders } from '../../infra/local/system-queues.ts';
import { built } from '../support/built.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { startFaults } from '../support/site-faults.ts';
import { bucketKind, ruleFor } from '../support/site-kind.ts';
import { type Kept, keepRunning } from './kept.ts';

export const SITE = 'soak';
/** Rules by what their objects are for; the second has a budget, so that it brakes. */
export const RULES = { usual: 'soak', braked: 'soak-braked' } as const;
const HANDLER = 's3-bucket';
const definitionFile = join(import.meta.dirname, '..', '..', 'infra', 'manifests', 'teardownrules.yaml');

/** Everything that runs. */
export interface Stage {
  readonly kube: Kube;
  readonly cloud: Cloud;
  readonly proxy: FaultProxy;
  readonly namespace: string;
  /** API path of the objects. */
  readonly collection: string;
  readonly bridges: readonly Kept<BridgeProcess>[];
  readonly functions: readonly Kept<FunctionProcess>[];
  readonly queues: Kept<Queues & { readonly exited: Promise<number> }>;
  /** A merge patch of a rule's spec. */
  editRule(name: string, spec: object): Promise<void>;
  stop(): Promise<void>;
}

/** Starts everything; resolves when a bridge leads. On failure nothing is left running. */
export function startStage(say: Say): Promise<Stage> {
  return built((stack) => build(say, stack));
}

async function build(say: Say, stack: AsyncDisposableStack): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-soak-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  stack.use(stopOnSignals({ stop: () => stack.disposeAsync(), folder, say }));
  const keep = <T extends { stop(): Promise<unknown> }>(started: T): T => {
    stack.defer(async () => void (await started.stop()));
    return started;
  };
  const kube = keep(await startKube({ say, dataDir: join(folder, 'kube') }));
  const cloud = keep(await startCloud({ say, folder }));
  const { queues, layout } = await startLastingQueues(kube, folder, keep);
  const { proxy, kube: reach } = await startFaults({ kube, folder, account: 'bridge' }, keep);
  const { namespace, group, manifests } = bucketKind(SITE);
  await kube.apply([parse(readFileSync(definitionFile, 'utf8')), ...manifests]);
  const { endpoint, region } = queues.now();
  const site: Site = {
    ...layout,
    ...{ folder, kube: reach, clusterUid: await kube.clusterUid(), queues: { endpoint, region }, cloud: () => cloud },
  };
  say('bundling bridge and function');
  const [bridge] = (await buildBridge(join(folder, 'bridge'))).bundles;
  const { outDir } = await buildFunctions(join(folder, 'functions'), [HANDLER]);
  const kinds = [{ group, resource: 'buckets' }];
  const startOne = () =>
    startBridge(site, { kinds, ...(bridge && { entry: bridge.file }), logFile: join(folder, 'bridge.log') });
  const startFn = () =>
    startFunction(site, HANDLER, { names: [`${SITE}-*`], entry: join(outDir, HANDLER, 'index.mjs') });
  const bridges = [keep(await keepRunning('bridge a', startOne)), keep(await keepRunning('bridge b', startOne))];
  const functions = [keep(await keepRunning('function', startFn))];
  await kube.apply(rulesOf(group));
  await Promise.any(bridges.map((one) => one.now().ready(60_000)));
  return {
    ...{ kube, cloud, proxy, namespace, bridges, functions, queues },
    collection: `/apis/${group}/v1/namespaces/${namespace}/buckets`,
    editRule: async (name, spec) => {
      const path = `/apis/finalizer-bridge.dev/v1alpha1/teardownrules/${name}`;
      const { status } = await kube.request('PATCH', path, { spec }, { contentType: 'application/merge-patch+json' });
      if (status !== 200) throw new Error(`editing rule ${name}: status ${status}`);
    },
    stop: () => stack.disposeAsync(),
  };
}

type Keep = <T extends { stop(): Promise<unknown> }>(started: T) => T;

/** Queues whose messages outlive a kill of their process, on one port for all its lives. */
async function startLastingQueues(kube: Kube, folder: string, keep: Keep) {
  const dataDir = join(folder, 'queue-data');
  await mkdir(dataDir);
  const [port = 0] = await freePorts(1);
  const handlers = [HANDLER];
  const senders = systemSenders({ handlers });
  const queues = keep(await keepRunning('queues', () => startQueuesProcess({ senders, folder, dataDir, port })));
  const layout: SystemQueues = await createSystemQueues(queues.now(), {
    handlers,
    clusterUid: await kube.clusterUid(),
  });
  return { queues, layout };
}

function rulesOf(group: string) {
  const policy = "object.metadata.annotations[?'soak.example.com/on-delete'].orValue('Delete')";
  const rule = (name: string, spec: Readonly<Record<string, unknown>>) => ({
    apiVersion: 'finalizer-bridge.dev/v1alpha1',
    kind: 'TeardownRule',
    ...ruleFor(group, name, { policy, term: '30m', ...spec }),
    metadata: { name },
  });
  return [rule(RULES.usual, {}), rule(RULES.braked, { budget: { limit: 20, window: '1m' } })];
}
