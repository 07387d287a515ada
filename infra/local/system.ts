/*
 * The whole system on one machine, without bridge and functions: API server, queues, S3 and EC2, in a private folder.
 * Started by demo, benchmarks and tests of processes; what they start on top is handed to `defer` and stopped first.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import { type Cloud, startCloud } from './cloud.ts';
import { type Kube, startKube } from './kube.ts';
import type { Say } from './progress.ts';
import { type Queues, startQueues, startQueuesProcess } from './queues.ts';
import { createSystemQueues, type QueueLayout, type SystemQueues, systemSenders } from './system-queues.ts';

export interface LocalSystemOptions extends Omit<QueueLayout, 'clusterUid'> {
  readonly say: Say;
  readonly env?: Environment;
  /** Runs the queues in a process of their own, to count its CPU apart. */
  readonly queuesInOwnProcess?: boolean;
  /** Leaves S3 and EC2 out, for what does not need them. */
  readonly withoutCloud?: boolean;
  /** Stops the system, also half started. */
  readonly signal?: AbortSignal;
}

export interface LocalSystem extends AsyncDisposable, SystemQueues {
  /** Private folder, removed at stop. */
  readonly folder: string;
  readonly kube: Kube;
  /** uid of namespace kube-system, by which messages name the cluster. */
  readonly clusterUid: string;
  readonly queues: Queues;
  /** Throws when the system was started without it. */
  cloud(): Cloud;
  /** Has `stop` called before anything that was there earlier is stopped. */
  defer(stop: () => Promise<unknown>): void;
  /** Stops everything in reverse order. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts everything, servers in parallel (about 3 s). On failure or abort, what was started is stopped again.
 * SIGINT, SIGTERM and SIGHUP stop the system and end the process.
 */
export async function startLocalSystem(options: LocalSystemOptions): Promise<LocalSystem> {
  const { signal } = options;
  signal?.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stack.disposeAsync();
    return stopped;
  };
  stack.use(stopOnSignals({ stop, folder, say: options.say }));
  const onAbort = () => void stop();
  signal?.addEventListener('abort', onAbort);
  stack.defer(async () => signal?.removeEventListener('abort', onAbort));
  try {
    const servers = await startServers(options, { folder, stack });
    const clusterUid = await servers.kube.clusterUid();
    const queues = await createSystemQueues(servers.queues, { ...options, clusterUid });
    signal?.throwIfAborted();
    return {
      ...queues,
      ...{ folder, clusterUid, kube: servers.kube, queues: servers.queues },
      cloud: () => {
        if (servers.cloud === undefined) throw new Error('using S3 and EC2: the local system was started without them');
        return servers.cloud;
      },
      defer: (undo) => stack.defer(async () => void (await undo())),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Place {
  readonly folder: string;
  readonly stack: AsyncDisposableStack;
}

interface Servers {
  readonly kube: Kube;
  readonly queues: Queues;
  readonly cloud: Cloud | undefined;
}

async function startServers(options: LocalSystemOptions, { folder, stack }: Place): Promise<Servers> {
  const { say, env = process.env, withoutCloud = false, queuesInOwnProcess = false } = options;
  const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    // Stopped while it was starting: the stack takes nothing any more.
    if (stack.disposed) await server.stop();
    else stack.defer(() => server.stop());
    return server;
  };
  const senders = systemSenders(options);
  const abort = options.signal ? { signal: options.signal } : {};
  const starting = [
    keep(startKube({ say, env, dataDir: join(folder, 'kube'), ...abort })),
    keep(queuesInOwnProcess ? startQueuesProcess({ senders, env, folder }) : startQueues({ senders })),
    withoutCloud ? undefined : keep(startCloud({ say, env, folder, ...abort })),
  ] as const;
  // All are waited for, so that a failure of one leaves no other half started.
  await Promise.allSettled(starting);
  const [kube, queues, cloud] = await Promise.all(starting);
  options.signal?.throwIfAborted();
  return { kube, queues, cloud };
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const STOP_WITHIN = 15_000;

interface Stoppable {
  readonly stop: () => Promise<void>;
  readonly folder: string;
  readonly say: Say;
}

/**
 * The first signal stops in order, the second ends at once; `folder` goes in either case. Children end with this process in any
 * case (supervised).
 */
export function stopOnSignals({ stop, folder, say }: Stoppable): AsyncDisposable {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let asked = false;
  const onSignal = (name: NodeJS.Signals) => {
    const end = () => {
      rmSync(folder, { recursive: true, force: true });
      process.exit(name === 'SIGINT' || name === 'SIGTERM' || name === 'SIGHUP' ? EXIT_CODES[name] : 1);
    };
    if (asked) end();
    asked = true;
    say(`stopping after ${name}`);
    setTimeout(end, STOP_WITHIN);
    void stop().finally(end);
  };
  for (const name of names) process.on(name, onSignal);
  return {
    [Symbol.asyncDispose]: async () => {
      // While stopping because of a signal, a second one must still be heard.
      if (!asked) for (const name of names) process.off(name, onSignal);
    },
  };
}
