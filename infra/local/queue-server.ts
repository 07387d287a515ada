/*
 * The SQS emulator (fauxqs) on 127.0.0.1 with the sender identity that it lacks (queue-senders). Made by queues, in this
 * process or in one of its own.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import type { BuildAppOptions } from 'fauxqs';
import { findInProject, loadFauxqs } from '../kit/tools.ts';
import { countCalls } from './queue-calls.ts';
import { addSenders, type Senders } from './queue-senders.ts';
import { QUEUE_METHODS, type QueueClass, wakeAsNeeded } from './queue-waking.ts';

const root = join(import.meta.dirname, '../..');

export interface QueueServerOptions {
  readonly senders: Senders;
  readonly region: string;
  /** Keeps queues and messages in SQLite there; in memory unless told. */
  readonly dataDir?: string;
  /** 0, a free one, unless told. */
  readonly port?: number;
  /** Folder of the project that brings the emulator; this one unless told. */
  readonly project?: string;
}

export interface QueueServer {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  close(): Promise<void>;
}

/*
 * fauxqs' own start function listens on every address, so its application is built here and listens on 127.0.0.1.
 * Persistence is not among its exports; the exact version is pinned, and what is taken from inside it is checked.
 */
export async function startQueueServer(options: QueueServerOptions): Promise<QueueServer> {
  const { senders, region, dataDir, port = 0, project = root } = options;
  const { buildApp } = await loadFauxqs(project);
  const inside = await internals(project);
  const stored = dataDir === undefined ? undefined : openStores(dataDir, inside);
  const app = buildApp({ logger: false, defaultRegion: region, ...(stored ? { stores: stored.stores } : {}) });
  addSenders(app, { senders, persistent: stored !== undefined });
  countCalls(app);
  wakeAsNeeded(app, inside.SqsQueue);
  await app.listen({ host: '127.0.0.1', port });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('starting the queue server: it has no address');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    close: async () => {
      const closed = once(app.server, 'close');
      await app.close();
      await closed;
      stored?.close();
    },
  };
}

type Stores = NonNullable<BuildAppOptions['stores']>;

type Persistence = NonNullable<Stores['sqsStore']['persistence']>;

interface Internals {
  readonly SqsQueue: QueueClass;
  readonly SqsStore: new () => Stores['sqsStore'];
  readonly SnsStore: new () => Stores['snsStore'];
  readonly S3Store: new () => Stores['s3Store'];
  readonly PersistenceManager: new (folder: string) => Persistence;
}

function openStores(dataDir: string, inside: Internals): { stores: Stores; close(): void } {
  const persistence = new inside.PersistenceManager(dataDir);
  const stores = { sqsStore: new inside.SqsStore(), snsStore: new inside.SnsStore(), s3Store: new inside.S3Store() };
  // Loaded before it is attached: while attached, re-creating a queue would delete its stored messages.
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore);
  stores.sqsStore.persistence = persistence;
  for (const queue of stores.sqsStore.allQueues()) queue.persistence = persistence;
  return { stores, close: () => persistence.close() };
}

async function internals(project: string): Promise<Internals> {
  const main = findInProject(project, 'fauxqs');
  const load = async (path: string): Promise<Record<string, unknown>> => await import(new URL(path, main).href);
  const modules = await Promise.all(
    ['sqs/sqsStore.js', 'sns/snsStore.js', 's3/s3Store.js', 'persistence.js'].map((path) => load(path)),
  );
  const found: Record<string, unknown> = Object.assign({}, ...modules);
  if (!areInternals(found))
    throw new Error('starting the queue server: this version of fauxqs is built differently inside');
  return found;
}

function areInternals(found: object): found is Internals {
  const facts = new Map(Object.entries(found));
  const queue = facts.get('SqsQueue');
  return (
    ['SqsStore', 'SnsStore', 'S3Store', 'PersistenceManager'].every((name) => typeof facts.get(name) === 'function') &&
    typeof queue === 'function' &&
    QUEUE_METHODS.every((name) => typeof queue.prototype[name] === 'function')
  );
}
