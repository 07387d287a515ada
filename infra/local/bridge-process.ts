/*
 * Starts the bridge as a process of its own: configuration and rules in a private folder, a ServiceAccount's kubeconfig,
 * an access key that decides its SenderId. Used by demo, e2e tests and benchmarks, from source or from the bundle.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { stringify } from 'yaml';
import { z } from 'zod/mini';
import { commandOf } from '../../bridge/shell-words.ts';
import { freePorts } from './free-port.ts';
import { type Supervised, startSupervised } from './supervised.ts';

/** The bridge's entry point as source. */
export const BRIDGE_SOURCE = join(import.meta.dirname, '..', '..', 'bridge', 'main.ts');

/** How one bridge is set up. */
export interface BridgeProcessOptions {
  readonly kubeconfig: string;
  readonly queues: { readonly endpoint: string; readonly region: string; readonly results: string };
  /** Per handler: its request queue, and whose results are believed. */
  readonly handlers: Readonly<Record<string, { readonly queue: string; readonly sender: string }>>;
  /** Whose word counts that a request is a dead letter. */
  readonly deadLetters?: { readonly sender: string };
  readonly accessKeyId: string;
  /** What a rule file holds; without it the rules come from the API. */
  readonly rules?: readonly object[];
  /** Kinds to watch also while no rule names them. */
  readonly listedKinds?: readonly { readonly group: string; readonly version?: string; readonly resource: string }[];
  /** The module to run; the source unless told. */
  readonly entry?: string;
  /** Of Node.js, before the module. */
  readonly nodeArgs?: readonly string[];
  readonly logLevel?: string;
  readonly logFile?: string;
  /** Where its private folder is made; the system's temporary folder unless told. */
  readonly folder?: string;
}

/** What a bridge that is ready is ready for. */
export type Role = 'leader' | 'standby';

/** A running bridge. */
export interface BridgeProcess {
  readonly pid: number;
  /** Of health, readiness and metrics. */
  readonly url: string;
  /** JSON lines. */
  readonly logFile: string;
  /** A command line that starts another one beside it, on a port that it finds and tells in its log. */
  readonly another: string;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it leads and every kind is being watched; or when it stands by, if that is asked for. */
  ready(withinMs?: number, as?: Role): Promise<void>;
  /** The metrics page. */
  metrics(): Promise<string>;
  /** SIGTERM, and its private folder removed. */
  stop(): Promise<void>;
}

const readiness = z.object({ role: z.string() });
// Longer than a lease lasts: the bridge before may have ended without giving it back.
const READY_WITHIN_MS = 120_000;
/** Asked so often at first, and then less and less: where a lease has to run out it takes many seconds. */
const POLL_MS = { least: 20, most: 200 } as const;
/** Every call by a connection of its own: one that is kept may have been closed while whoever calls stood still. */
const ONCE = { reset: true } as const;

/** Starts a bridge; it may not be ready yet. */
export async function startBridgeProcess(options: BridgeProcessOptions): Promise<BridgeProcess> {
  const { entry = BRIDGE_SOURCE, nodeArgs = [], accessKeyId } = options;
  const folder = await mkdtemp(join(options.folder ?? tmpdir(), 'finalizer-bridge-bridge-'));
  const [port = 0] = await freePorts(1);
  const config = await writeConfig(folder, 'bridge.yaml', { ...options, port });
  const second = await writeConfig(folder, 'another.yaml', { ...options, port: 0 });
  const bridge = await startSupervised({
    name: 'bridge',
    command: process.execPath,
    args: [...nodeArgs, entry, '--config', config],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    logFile: options.logFile ?? join(folder, 'bridge.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    ...{ pid: bridge.pid, url, exited: bridge.exited, signal: bridge.signal },
    logFile: options.logFile ?? join(folder, 'bridge.log'),
    another: `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=local ${commandOf(process.execPath, entry, '--config', second)}`,
    ready: (withinMs = READY_WITHIN_MS, role: Role = 'leader') => untilReady(bridge, { url, withinMs, role }),
    metrics: async () => await (await request(`${url}/metrics`, ONCE)).body.text(),
    async stop() {
      await bridge.stop(20_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Readying {
  readonly url: string;
  readonly withinMs: number;
  readonly role: Role;
}

/** @throws with the end of its log when the bridge has ended, or is not ready in time */
async function untilReady(bridge: Supervised, { url, withinMs, role }: Readying): Promise<void> {
  for (const began = performance.now(); !(await isReady(url, role)); ) {
    const passed = performance.now() - began;
    if (bridge.hasExited()) {
      // Whoever waits for the end as well hears of it first.
      await bridge.exited;
      throw new Error(`starting the bridge:\n${await bridge.logTail()}`);
    }
    if (passed > withinMs)
      throw new Error(`waiting for the bridge: not ready in ${withinMs} ms\n${await bridge.logTail()}`);
    await wait(Math.min(Math.max(passed / 20, POLL_MS.least), POLL_MS.most));
  }
}

async function isReady(url: string, role: Role): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, ONCE);
    const answer = z.parse(readiness, await body.json());
    return statusCode === 200 && answer.role === role;
  } catch {
    return false;
  }
}

async function writeConfig(
  folder: string,
  name: string,
  options: BridgeProcessOptions & { port: number },
): Promise<string> {
  const { kubeconfig, queues, handlers, deadLetters, rules, listedKinds = [], logLevel = 'info', port } = options;
  const file = join(folder, name);
  const config = {
    cluster: { name: 'local' },
    kubeconfig,
    ...(rules === undefined ? {} : { rules: 'rules.yaml' }),
    kinds: listedKinds,
    queues,
    handlers,
    ...(deadLetters === undefined ? {} : { deadLetters }),
    server: { host: '127.0.0.1', port },
    log: { level: logLevel },
  };
  if (rules !== undefined) await writeFile(join(folder, 'rules.yaml'), stringify({ rules }), { mode: 0o600 });
  await writeFile(file, stringify(config), { mode: 0o600 });
  return file;
}
