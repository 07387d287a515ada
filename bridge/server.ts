/*
 * Health, readiness and metrics over HTTP. Started by main.ts. Alive: the process answers. Ready: every rule's kind is
 * watched; a bridge that is blind to a kind says so (K10).
 */
import { fastify } from 'fastify';
import type { Bridge } from './bridge.ts';
import type { Metrics } from './metrics.ts';
import type { Clock } from './ports.ts';
import { measure } from './standing-metrics.ts';

/** What the server shows. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** undefined until it has begun: alive, and not ready. */
  bridge(): Bridge | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** What there is to measure before the bridge has begun. */
const NOTHING: Pick<Bridge, 'pendings' | 'unclaimed' | 'strays'> = {
  pendings: () => [],
  unclaimed: () => new Map(),
  strays: () => [],
};

/** A running server; `port` is the one it got. */
export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the server. */
export async function startServer({ host, port, bridge, metrics, clock }: ServerOptions): Promise<Server> {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get('/healthz', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    if (bridge()?.isReady() === true) return 'ok\n';
    return await reply.code(503).send('not every kind is being watched\n');
  });
  app.get('/metrics', async (_request, reply) => {
    const { pendings, unclaimed, strays } = bridge() ?? NOTHING;
    measure({ pendings: pendings(), unclaimed: unclaimed(), strays: strays() }, metrics, clock.now());
    return await reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  await app.listen({ host, port });
  const address = app.server.address();
  const actual = address !== null && typeof address === 'object' ? address.port : port;
  return { port: actual, stop: () => app.close() };
}
