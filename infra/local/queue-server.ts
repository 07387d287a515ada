/*
 * The SQS emulator (fauxqs) on 127.0.0.1 with the sender identity that it lacks (queue-senders). Made by queues, in this
 * process or in one of its own.
 */
import { once } from 'node:events';
import { findPackageJSON } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type BuildAppOptions, buildApp } from 'fauxqs';
import { countCalls } from './queue-calls.ts';
import { addSenders, type Senders } from './queue-senders.ts';
import { QUEUE_METHODS, type QueueClass, wakeAsNeeded } from './queue-waking.ts';

export interface QueueServerOptions {
  readonly senders: Senders;
  readonly region: string;
  /** Keeps queues and messages in SQLite there; in memory unless told. */
  readonly dataDir?: string;
  /** 0, a free one, unless told. */
  readonly port?: number;
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
  const { senders, region, dataDir, port = 0 } = options;
  const inside = await internals();
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

async function internals(): Promise<Internals> {
  const manifest = findPackageJSON('fauxqs', import.meta.url);
  if (manifest === undefined) throw new Error('starting the queue server: fauxqs is not installed');
  const load = async (path: string): Promise<Record<string, unknown>> =>
    await import(new URL(`dist/${path}`, pathToFileURL(manifest)).href);
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
