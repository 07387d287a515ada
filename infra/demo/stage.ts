/*
 * Everything the demo plays on: the local system, the functions, the bridge, the kinds, the watches, the cloud's things.
 * Opened by run.ts; whatever is started is handed to the system, which stops it with itself.
 */
import { z } from 'zod/mini';
import { ruleDefinition } from '../crd/definition.ts';
import { connectCloud } from '../local/cloud.ts';
import { BRIDGE_NAMESPACE, startBridge, startFunction } from '../local/installation.ts';
import type { Say } from '../local/progress.ts';
import { type LocalSystem, startLocalSystem } from '../local/system.ts';
import { type DemoManifests, type RuleManifest, readManifests } from './manifests.ts';
import { createNarrator, type Narrator } from './narrator.ts';
import { type WatchedObjects, watchObjects } from './objects.ts';
import { type Thing, thingsOf } from './outside.ts';
import { startSlowTermination } from './slow-termination.ts';
import type { Timeline } from './timeline.ts';
import { poll } from './waiting.ts';

const RULES_PATH = '/apis/finalizer-bridge.dev/v1alpha1/teardownrules';
const ruleStatus = z.object({
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

/** How long an instance is shown as shutting down, in ms; on AWS it is about half a minute. */
const SHUTTING_DOWN_MS = 2000;

export interface Stage {
  readonly system: LocalSystem;
  readonly manifests: DemoManifests;
  readonly namespace: string;
  readonly bridge: Awaited<ReturnType<typeof startBridge>>;
  readonly objects: WatchedObjects;
  readonly narrator: Narrator;
  readonly things: readonly Thing[];
  /** Resolves when the things are there with their content; they are made while the rest starts. */
  readonly made: Promise<unknown>;
  /** Where EC2 takes its time. */
  readonly ec2Endpoint: string;
}

export interface StageInput {
  readonly say: Say;
  readonly timeline: Timeline;
  /** Is given the system before anything is started on top of it. */
  readonly onSystem: (system: LocalSystem) => void;
}

/** Starts everything (about 4 s when the servers are in the cache). On failure the system is the caller's to stop. */
export async function openStage({ say, timeline, onSystem }: StageInput): Promise<Stage> {
  const manifests = readManifests();
  const namespace = manifests.namespace.metadata.name;
  const system = await startLocalSystem({ say, handlers: manifests.rules.map(({ spec }) => spec.handler) });
  onSystem(system);
  const { kube, queues } = system;
  timeline.line('cluster', `a Kubernetes API server with etcd: ${kube.url}`);
  timeline.line('cloud', `emulated SQS ${queues.endpoint}, S3 and EC2 ${system.cloud().endpoint}`);
  const front = await startSlowTermination({
    upstream: system.cloud().endpoint,
    shuttingDownMs: SHUTTING_DOWN_MS,
    now: () => performance.now(),
  });
  system.defer(front.stop);
  const things = connectThings(system, front.endpoint);
  const made = Promise.all(things.map((thing) => thing.make()));
  made.catch(() => undefined);
  const starting = [
    startHolding({ system, manifests, timeline }),
    startFunctions({ system, manifests, timeline }, front.endpoint),
  ] as const;
  await Promise.allSettled(starting);
  const [bridge] = await Promise.all(starting);
  const narrator = createNarrator({ timeline, things });
  const paths = manifests.kinds.map(({ path }) => path);
  const objects = watchObjects({ kube, namespace, paths, ...narrator });
  system.defer(objects.stop);
  return { system, manifests, namespace, bridge, objects, narrator, things, made, ec2Endpoint: front.endpoint };
}

interface Ground {
  readonly system: LocalSystem;
  readonly manifests: DemoManifests;
  readonly timeline: Timeline;
}

function connectThings(system: LocalSystem, ec2Endpoint: string): readonly Thing[] {
  const s3 = system.cloud().s3();
  const ec2 = connectCloud(ec2Endpoint).ec2();
  // Open connections would keep the emulator from ending.
  system.defer(async () => {
    s3.destroy();
    ec2.destroy();
  });
  return thingsOf({ s3, ec2, region: system.cloud().region });
}

/** The kinds, and the bridge that holds their objects. */
async function startHolding({ system, manifests, timeline }: Ground): Promise<Stage['bridge']> {
  await system.kube.apply([ruleDefinition, ...manifests.definitions, manifests.namespace]);
  const bridge = await startBridge(system, { kinds: manifests.kinds });
  system.defer(bridge.stop);
  await system.kube.apply(manifests.rules);
  await rulesReady(system, manifests);
  await bridge.ready();
  const kinds = manifests.kinds.map(({ resource }) => resource).join(' and ');
  timeline.line('bridge', `watches ${kinds} as ServiceAccount ${BRIDGE_NAMESPACE}/bridge`);
  return bridge;
}

/** Resolves when every rule says that it is in force. */
async function rulesReady({ kube }: LocalSystem, { rules }: DemoManifests): Promise<void> {
  const isReady = async ({ metadata: { name } }: RuleManifest) => {
    const { body } = await kube.request('GET', `${RULES_PATH}/${name}`);
    const conditions = ruleStatus.safeParse(body).data?.status.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  };
  await poll('every rule to be in force', async () =>
    (await Promise.all(rules.map(isReady))).every(Boolean) ? true : undefined,
  );
}

/** The functions, each with its own allow-list. */
async function startFunctions({ system, manifests, timeline }: Ground, ec2: string): Promise<void> {
  const starting = manifests.rules.map(async ({ spec: { handler } }) => {
    const names = manifests.allowed[handler];
    if (names === undefined) throw new Error(`reading functions.yaml: it allows nothing to ${handler}`);
    const started = await startFunction(system, handler, { names, endpoints: { ec2 } });
    system.defer(started.stop);
    timeline.line('function', `${handler} waits for requests; may touch ${names.join(', ')}`);
  });
  await Promise.allSettled(starting);
  await Promise.all(starting);
}
