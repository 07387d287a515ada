/*
 * Health, readiness and metrics over HTTP, for probes and Prometheus. Started by main.ts. Three routes on Node's own server:
 * a framework took 6 MB of memory (docs/benchmarks.md).
 * Alive: the process answers. Ready: it stands by, or it leads, watches every rule's kind and hears from the queue; what is
 * not so is named (K10).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Bridge } from './bridge.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock } from './ports.ts';
import type { Readiness } from './readiness.ts';
import { measure } from './standing-metrics.ts';

/** What the server shows. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** undefined until it has begun: alive, and not ready. */
  bridge(): Bridge | undefined;
  readiness(): Readiness;
  /** Whether this process leads, at this moment. */
  isLeader(): boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** What there is to measure before the bridge has begun. */
const NOTHING: Pick<Bridge, 'pendings' | 'unclaimed' | 'strays' | 'labelOf'> = {
  pendings: () => [],
  unclaimed: () => new Map(),
  strays: () => [],
  labelOf: (name) => name,
};

/** A running server; `port` is the one it got. */
export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the server. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, log } = options;
  const server = createServer((request, response) => {
    respond(options, request, response).catch((error: unknown) => {
      log.error({ url: request.url, err: explain(error) }, 'answering over HTTP: failed');
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const actual = address !== null && typeof address === 'object' ? address.port : port;
  const stop = async () => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    // A scraper that keeps its connection open is not waited for.
    server.closeAllConnections();
    await closed;
  };
  return { port: actual, stop };
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function respond(options: ServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Nothing that is asked here has a body; a connection is not left in the middle of one.
  request.resume();
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const page = isRead ? await pageOf(options, (request.url ?? '').split('?', 1)[0] ?? '') : undefined;
  const { status, type, body } = page ?? { status: 404, type: 'text/plain', body: 'not found\n' };
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function pageOf(options: ServerOptions, path: string): Promise<Page | undefined> {
  switch (path) {
    case '/healthz':
      return { status: 200, type: 'text/plain; charset=utf-8', body: 'ok\n' };
    case '/readyz': {
      const readiness = options.readiness();
      const type = 'application/json; charset=utf-8';
      return { status: readiness.ready ? 200 : 503, type, body: JSON.stringify(readiness) };
    }
    case '/metrics': {
      const { bridge, metrics, clock } = options;
      metrics.leader.set(options.isLeader() ? 1 : 0);
      const { pendings, unclaimed, strays, labelOf } = bridge() ?? NOTHING;
      measure({ pendings: pendings(), unclaimed: unclaimed(), strays: strays(), labelOf }, metrics, clock.now());
      return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() };
    }
    default:
      return undefined;
  }
}
