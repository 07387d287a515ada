/*
 * S3 and EC2 on this machine, by moto in a cached Python environment. Started by system and by the e2e set-up;
 * a process that did not start it connects with the endpoint.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EC2Client } from '@aws-sdk/client-ec2';
import { S3Client } from '@aws-sdk/client-s3';
import type { Environment } from './cache.ts';
import { freePorts } from './free-port.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from './places.ts';
import type { Say } from './progress.ts';
import { cloudEnvironment } from './python.ts';
import { type Supervised, startSupervised } from './supervised.ts';

export interface CloudClient {
  readonly endpoint: string;
  readonly region: string;
  /** The account everything belongs to. */
  readonly accountId: string;
  /** New clients; closed by their user. */
  s3(): S3Client;
  ec2(): EC2Client;
}

export interface Cloud extends CloudClient {
  readonly pid: number;
  stop(): Promise<void>;
}

export interface CloudOptions {
  readonly say: Say;
  readonly env?: Environment;
  /** Where its private folder is made; the system's temporary folder unless told. */
  readonly folder?: string;
  /** Ends the wait for the server. */
  readonly signal?: AbortSignal;
}

/**
 * By module: the scripts in a cached environment name the folder it was made in, which has been renamed. moto lists its own folders
 * at each request to find out whose it is; asked once for each host, a request costs 2 ms of a processor instead of 3.4.
 */
const LAUNCH = `
from functools import lru_cache
from moto.moto_server.werkzeug_app import DomainDispatcherApplication as Dispatcher
from moto.server import main
Dispatcher.get_backend_for_host = lru_cache(Dispatcher.get_backend_for_host)
main()
`;
const PORT_TRIES = 3;
const READY_WITHIN = 300_000;

/** Starts the emulator and waits until it answers (about 2 s with a warm cache). On failure nothing is left running. */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const { say, env = process.env } = options;
  const environment = await cloudEnvironment({ say, env });
  const folder = await mkdtemp(join(options.folder ?? tmpdir(), 'finalizer-bridge-cloud-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  for (let tries = 1; ; tries++) {
    const [port = 0] = await freePorts(1);
    const server = await startSupervised({
      name: 'moto',
      command: join(environment, 'bin', 'python'),
      args: ['-c', LAUNCH, '-H', '127.0.0.1', '-p', String(port)],
      env: { ...env, AWS_DEFAULT_REGION: LOCAL_REGION },
      logFile: join(folder, 'moto.log'),
    });
    const endpoint = `http://127.0.0.1:${port}`;
    try {
      await waitUntilReady(server, endpoint, options.signal);
      const stop = () => server.stop(2000).then(remove);
      return { ...connectCloud(endpoint), pid: server.pid, stop };
    } catch (error) {
      const taken = (await server.logTail()).includes('Address already in use');
      await server.stop(0);
      if (tries < PORT_TRIES && taken) continue;
      await remove();
      throw error;
    }
  }
}

async function waitUntilReady(server: Supervised, endpoint: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_WITHIN;
  for (;;) {
    signal?.throwIfAborted();
    if (server.hasExited())
      throw new Error(`starting moto: it ended with code ${await server.exited}:\n${await server.logTail()}`);
    const answer = await fetch(`${endpoint}/moto-api/data.json`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    if (performance.now() > deadline)
      throw new Error(`starting moto: no answer within ${READY_WITHIN / 1000} s:\n${await server.logTail()}`);
    await wait(50);
  }
}

/** A handle on an emulator that runs elsewhere. */
export function connectCloud(endpoint: string): CloudClient {
  const options = { endpoint, region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  return {
    endpoint,
    region: LOCAL_REGION,
    accountId: LOCAL_ACCOUNT_ID,
    s3: () => new S3Client({ ...options, forcePathStyle: true }),
    ec2: () => new EC2Client(options),
  };
}
