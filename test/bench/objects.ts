/*
 * The objects of a benchmark in the hands of a plain, fast client: made, deleted, freed, and watched until they are gone.
 * Used by the scenes; it keeps connections and buffers to itself, so that what it costs is about the same for all.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import * as z from 'zod/mini';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { ENTRY, LABELS, NAMESPACE } from './stage.ts';

const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Peers were measured with objects of this size (docs/benchmarks.md). */
const DATA = { data: 'x'.repeat(2_000) };
const IN_FLIGHT = 32;
const META_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const made = z.object({ metadata: z.object({ name: z.string(), uid: z.string() }) });
const list = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const line = z.object({ type: z.string(), object: z.object({ metadata: z.object({ name: z.string() }) }) });

/** One object. */
export interface Made {
  readonly name: string;
  readonly uid: string;
}

/** Tells when objects are gone. */
export interface Watching {
  /** Monotonic ms by name. */
  readonly gone: ReadonlyMap<string, number>;
  /** Resolves when so many more objects are gone. Rejects when the watch ends before, or none goes for a minute. */
  more(count: number): Promise<void>;
  stop(): void;
}

export type Objects = ReturnType<typeof objectsOf>;

/** The objects of a server. */
export function objectsOf(kube: KubeClient) {
  const pool = new Pool(kube.url, { connections: IN_FLIGHT, connect: { ca: readFileSync(kube.caFile, 'utf8') } });
  const authorization = `Bearer ${kube.adminToken}`;

  async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body: object): Promise<string> {
    const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
    const headers = { authorization, accept: 'application/json', 'content-type': type };
    const text = method === 'GET' ? null : JSON.stringify(body);
    const answer = await pool.request({ method, path, headers, body: text });
    const said = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${said.slice(0, 300)}`);
    return said;
  }

  const one = ({ name }: Pick<Made, 'name'>) => `${COLLECTION}/${name}`;
  const remove = (object: Made) => ask('DELETE', one(object), { apiVersion: 'v1', kind: 'DeleteOptions' });

  return {
    /** Makes objects that carry the entry already. */
    create: (prefix: string, count: number): Promise<readonly Made[]> =>
      inFlight(
        Array.from({ length: count }, (_, index) => `${prefix}-${index}`),
        async (name) => {
          const metadata = { name, labels: LABELS, finalizers: [ENTRY] };
          const answer = await ask('POST', COLLECTION, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: DATA });
          return made.parse(JSON.parse(answer)).metadata;
        },
      ),
    delete: (objects: readonly Made[]) => inFlight(objects, remove),
    deleteOne: remove,
    /** Takes the entry off, as little as a controller can do. */
    free: (objects: readonly Made[]) =>
      inFlight(objects, (object) =>
        ask('PATCH', one(object), [
          { op: 'test', path: '/metadata/uid', value: object.uid },
          { op: 'test', path: '/metadata/finalizers/0', value: ENTRY },
          { op: 'remove', path: '/metadata/finalizers/0' },
        ]),
      ),
    watch: async (): Promise<Watching> => {
      const { resourceVersion } = list.parse(JSON.parse(await ask('GET', `${COLLECTION}?limit=1`, {}))).metadata;
      return await watchFrom(kube, authorization, resourceVersion);
    },
    close: () => pool.close(),
  };
}

/** Does something with each item, so many at a time. */
async function inFlight<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<readonly B[]> {
  const results: B[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return results;
}

const STUCK_MS = 60_000;

/** How often a watch may end in a row: a server that is starved of CPU closes them, one that is down does so at once. */
const REOPENED_MAX = 20;

async function watchFrom(kube: KubeClient, authorization: string, resourceVersion: string): Promise<Watching> {
  const pool = new Pool(kube.url, { connections: 1, connect: { ca: readFileSync(kube.caFile, 'utf8') } });
  const gone = new Map<string, number>();
  const query = new URLSearchParams({ watch: '1', resourceVersion, timeoutSeconds: '7200' });
  let news = () => {};
  let left = REOPENED_MAX;
  const open = async (): Promise<void> => {
    const { body } = await pool.request({
      ...{ method: 'GET', path: `${COLLECTION}?${query}`, bodyTimeout: 0 },
      headers: { authorization, accept: META_ONLY },
    });
    const lines = createInterface({ input: body });
    // What cuts the watch is its own end; it is told by `close`.
    lines.on('error', () => undefined);
    lines.on('line', (text) => {
      // Only the few lines of interest are worth decoding.
      if (!text.startsWith('{"type":"DELETED"')) return;
      const { name } = line.parse(JSON.parse(text)).object.metadata;
      // Opened again, a watch tells from its beginning on: what is known keeps its time.
      if (!gone.has(name)) gone.set(name, performance.now());
      news();
    });
    lines.on('close', () => void reopen());
  };
  const reopen = async () => {
    left -= 1;
    if (left > 0 && !pool.destroyed) await open().catch(reopen);
    else news();
  };
  await open();
  return {
    gone,
    async more(count) {
      const enough = gone.size + count;
      while (gone.size < enough) {
        if (left === 0) throw new Error('watching the objects of a benchmark: the watch ended again and again');
        await changed(
          (wake) => {
            news = wake;
          },
          `${enough - gone.size} objects of ${count} to go`,
        );
      }
    },
    stop: () => void pool.destroy(),
  };
}

function changed(onNews: (wake: () => void) => void, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`waiting for ${what}: nothing moved in a minute`)), STUCK_MS);
    onNews(() => {
      clearTimeout(late);
      resolve();
    });
  });
}
