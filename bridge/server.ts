/*
 * Health, readiness and metrics over HTTP. Started by main.ts. Alive: the process answers. Ready: it stands by, or it leads,
 * watches every rule's kind and hears from the queue; what is not so is named (K10).
 */
import { fastify } from 'fastify';
import type { Bridge } from './bridge.ts';
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
  const { host, port, bridge, metrics, clock } = options;
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const readiness = options.readiness();
    return await reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  app.get('/metrics', async (_request, reply) => {
    metrics.leader.set(options.isLeader() ? 1 : 0);
    const { pendings, unclaimed, strays, labelOf } = bridge() ?? NOTHING;
    measure({ pendings: pendings(), unclaimed: unclaimed(), strays: strays(), labelOf }, metrics, clock.now());
    return await reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  await app.listen({ host, port });
  const address = app.server.address();
  const actual = address !== null && typeof address === 'object' ? address.port : port;
  return { port: actual, stop: () => app.close() };
}
