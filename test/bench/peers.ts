/*
 * The peers of the benchmarks: controllers that take the entry off and do nothing else, written with controller-runtime and
 * with kopf. Built and installed on demand into the cache, at the versions and checksums that are committed in peers/.
 * Started by stage.ts when asked for; what they use is measured as the bridge's is.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, cacheRoot } from '../../infra/local/cache.ts';
import { type Say, withHeartbeat } from '../../infra/local/progress.ts';
import { pythonEnvironment } from '../../infra/local/python.ts';
import { run } from '../../infra/local/run.ts';
import { startSupervised } from '../../infra/local/supervised.ts';
import type { PeerName } from './options.ts';
import type { Contender } from './stage.ts';

const CONTROLLER = join(import.meta.dirname, 'peers', 'controller-runtime');
const KOPF = join(import.meta.dirname, 'peers', 'kopf');
const FLAGS = ['-trimpath', '-ldflags=-s -w'];

/** What a peer is told. */
export interface PeerOptions {
  readonly say: Say;
  readonly kubeconfig: string;
  /** For its log. */
  readonly folder: string;
  /** The finalizer to take off. */
  readonly entry: string;
  /** The one label that the objects have. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Starts a peer; it may not work yet. */
export async function startPeer(name: PeerName, options: PeerOptions): Promise<Contender> {
  const { kubeconfig, folder, entry } = options;
  const label = Object.entries(options.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { command, args } = await commandOf(name, { ...options, label });
  const plain = { PATH: process.env.PATH, HOME: folder, PYTHONDONTWRITEBYTECODE: '1' };
  const child = await startSupervised({
    ...{ name, command, args },
    env: { ...plain, KUBECONFIG: kubeconfig, PEER_ENTRY: entry, PEER_LABEL: label },
    cwd: folder,
    logFile: join(folder, 'log'),
  });
  return {
    ...{ pid: child.pid, exited: child.exited },
    async ready() {
      if (child.hasExited()) throw new Error(`starting ${name}:\n${await child.logTail()}`);
    },
    pending: async () => 0,
    stop: () => child.stop(),
  };
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

async function commandOf(name: PeerName, options: PeerOptions & { readonly label: string }): Promise<Command> {
  switch (name) {
    case 'controller-runtime': {
      const args = ['--kubeconfig', options.kubeconfig, '--entry', options.entry, '--label', options.label];
      return { command: await buildController(options.say), args };
    }
    case 'kopf': {
      const python = { say: options.say, env: process.env, name: 'kopf', what: 'kopf', least: 11 };
      const environment = await pythonEnvironment({ ...python, requirements: join(KOPF, 'requirements.txt') });
      // As its documentation says for one operator alone; the namespace is the kubeconfig's.
      const args = ['-m', 'kopf', 'run', '--standalone', '--namespace=bench', '--quiet', join(KOPF, 'controller.py')];
      return { command: join(environment, 'bin', 'python'), args };
    }
    default:
      return name satisfies never;
  }
}

async function buildController(say: Say): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(FLAGS));
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(CONTROLLER, file)));
  const folder = await cached({
    root: cacheRoot(process.env),
    key: `bench-controller-${hash.digest('hex').slice(0, 16)}-${process.platform}-${process.arch}`,
    say,
    fill: async (temporary) => {
      const args = ['build', ...FLAGS, '-o', join(temporary, 'controller'), '.'];
      const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' };
      await withHeartbeat({ say, what: 'building the controller-runtime controller' }, () =>
        run('go', args, { cwd: CONTROLLER, env }),
      );
    },
  });
  return join(folder, 'controller');
}
