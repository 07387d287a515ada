/*
 * A real kube-apiserver with etcd on 127.0.0.1: RBAC on, default admission plug-ins, real ServiceAccount tokens, no controllers.
 * Started by system, by the e2e set-up and by tests that need to stop it; talked to through kube-client.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findKubeBinaries, type KubeBinaries } from './binaries.ts';
import type { Environment } from './cache.ts';
import { compactEtcd } from './etcd-compaction.ts';
import { freePorts } from './free-port.ts';
import { connectKube, type KubeClient } from './kube-client.ts';
import { type KubeFiles, writeKubeFiles } from './kube-files.ts';
import { apiServerArguments, etcdArguments, type KubePorts } from './kube-flags.ts';
import type { Say } from './progress.ts';
import { type Supervised, startSupervised } from './supervised.ts';

export interface KubeOptions {
  readonly say: Say;
  readonly env?: Environment;
  /** Keeps keys and etcd's data at stop; a private temporary folder, removed at stop, unless told. */
  readonly dataDir?: string;
  /** The API server behaves as one of this minor version does, `1.35`; as what it is unless told. */
  readonly emulatedVersion?: string;
  /** How long the API server gives a call, as its flag has it: `1h`; a minute unless told. */
  readonly requestTimeout?: string;
  /** Ends the wait for the servers. */
  readonly signal?: AbortSignal;
}

export interface Kube extends KubeClient {
  /** kubeconfig of the admin. */
  readonly kubeconfig: string;
  /** Folder with logs, keys and kubeconfigs. */
  readonly folder: string;
  pids(): { readonly apiServer: number; readonly etcd: number };
  /** Stops kube-apiserver only; etcd keeps running. */
  stopApiServer(): Promise<void>;
  /** Stops kube-apiserver if it runs and starts it again on the same port, with the same data. */
  restart(): Promise<void>;
  /** Compacts etcd up to now and restarts kube-apiserver, whose own cache would still know: all watches end, and no version before is known. */
  compact(): Promise<void>;
  /** Ends both servers and removes the private folder. May be called twice. */
  stop(): Promise<void>;
}

/** Two runs may pick the same free port. */
const PORT_TRIES = 3;
const READY_WITHIN = 300_000;

/** Starts both servers and waits until the API server is ready (about 3 s). On failure nothing is left running. */
export async function startKube(options: KubeOptions): Promise<Kube> {
  const { say, env = process.env, dataDir } = options;
  const binaries = await findKubeBinaries({ say, env });
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'finalizer-bridge-kube-')));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const removeFolder = () => (dataDir === undefined ? rm(folder, { recursive: true, force: true }) : Promise.resolve());
  try {
    const files = await writeKubeFiles(folder);
    for (let tries = 1; ; tries++) {
      const started = await launch({ binaries, files, options, ports: await pickPorts() });
      if (started.ok) return await assemble(started.servers, removeFolder);
      if (tries >= PORT_TRIES || !started.portTaken) throw started.error;
    }
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function pickPorts(): Promise<KubePorts> {
  const [secure = 0, client = 0, peer = 0] = await freePorts(3);
  return { secure, client, peer };
}

interface Launch {
  readonly binaries: KubeBinaries;
  readonly files: KubeFiles;
  readonly ports: KubePorts;
  readonly options: KubeOptions;
}

interface Servers extends Launch {
  readonly etcd: Supervised;
  readonly apiServer: Supervised;
  readonly client: KubeClient;
}

type Launched =
  | { readonly ok: true; readonly servers: Servers }
  | { readonly ok: false; readonly portTaken: boolean; readonly error: unknown };

async function launch(given: Launch): Promise<Launched> {
  const { binaries, files, ports, options } = given;
  const env = options.env ?? process.env;
  const etcd = await startSupervised({
    name: 'etcd',
    command: binaries.etcd,
    args: etcdArguments(files, ports),
    env,
    logFile: join(files.folder, 'etcd.log'),
  });
  // Both at once: the API server waits for etcd and has its own start-up work meanwhile.
  const apiServer = await startApiServer(given);
  const client = connectKube({ url: urlOf(ports), ...clientFacts(files) });
  try {
    await waitUntilReady({ client, processes: [etcd, apiServer], files, signal: options.signal });
    return { ok: true, servers: { ...given, etcd, apiServer, client } };
  } catch (error) {
    await client.close();
    await Promise.all([apiServer.stop(0), etcd.stop(0)]);
    const logs = `${await etcd.logTail(50)}\n${await apiServer.logTail(50)}`;
    return { ok: false, portTaken: logs.includes('address already in use'), error };
  }
}

function startApiServer({ binaries, files, ports, options }: Launch): Promise<Supervised> {
  return startSupervised({
    name: 'kube-apiserver',
    command: binaries.apiServer,
    args: [
      ...apiServerArguments(files, ports),
      ...(options.emulatedVersion === undefined ? [] : [`--emulated-version=${options.emulatedVersion}`]),
      ...(options.requestTimeout === undefined ? [] : [`--request-timeout=${options.requestTimeout}`]),
    ],
    env: options.env ?? process.env,
    logFile: join(files.folder, 'kube-apiserver.log'),
  });
}

const urlOf = (ports: KubePorts) => `https://127.0.0.1:${ports.secure}`;

function clientFacts({ caFile, adminToken, folder }: KubeFiles) {
  return { caFile, adminToken, kubeconfigFolder: folder };
}

interface Waiting {
  readonly client: KubeClient;
  readonly processes: readonly Supervised[];
  readonly files: KubeFiles;
  readonly signal: AbortSignal | undefined;
}

async function waitUntilReady({ client, processes, files, signal }: Waiting): Promise<void> {
  const deadline = performance.now() + READY_WITHIN;
  for (;;) {
    signal?.throwIfAborted();
    for (const server of processes) {
      if (!server.hasExited()) continue;
      throw new Error(`starting ${server.name}: it ended with code ${await server.exited}:\n${await server.logTail()}`);
    }
    if (await client.isReady()) return;
    if (performance.now() > deadline) {
      const said = await processes.at(-1)?.logTail();
      throw new Error(`starting kube-apiserver: not ready within ${READY_WITHIN / 1000} s (${files.folder}):\n${said}`);
    }
    await wait(25);
  }
}

async function assemble(servers: Servers, removeFolder: () => Promise<void>): Promise<Kube> {
  const { etcd, files, client, ports } = servers;
  let apiServer = servers.apiServer;
  let stopped: Promise<void> | undefined;
  const kubeconfig = await client.kubeconfigFor({ name: 'admin', token: files.adminToken });
  const stopAll = async () => {
    await client.close();
    await apiServer.stop(3000);
    await etcd.stop(3000);
    await removeFolder();
  };
  const restart = async () => {
    await apiServer.stop(3000);
    apiServer = await startApiServer(servers);
    await waitUntilReady({ client, processes: [etcd, apiServer], files, signal: undefined });
  };
  return {
    ...client,
    kubeconfig,
    folder: files.folder,
    pids: () => ({ apiServer: apiServer.pid, etcd: etcd.pid }),
    stopApiServer: () => apiServer.stop(3000),
    restart,
    compact: async () => {
      await compactEtcd(ports.client);
      await restart();
    },
    stop: () => {
      stopped ??= stopAll();
      return stopped;
    },
  };
}
