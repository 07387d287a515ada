/*
 * The bridge process: configuration in, the real ports plugged together, signals obeyed. The image's entry point.
 * An unhandled rejection ends it loudly; the next start finds all work again from the API server.
 */
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { type Bridge, startBridge } from './bridge.ts';
import { createCensus } from './census.ts';
import { realClock } from './clock.ts';
import { createCluster } from './cluster.ts';
import { createCredentials, loadKubeConfig } from './cluster-credentials.ts';
import { createHttp } from './cluster-http.ts';
import { createKinds } from './cluster-kinds.ts';
import { type Config, loadConfig } from './config.ts';
import { createLog, explain, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { Cluster, Lease } from './ports.ts';
import { RuleBook } from './rule-book.ts';
import { type RuleKeeper, startRuleKeeper } from './rule-keeper.ts';
import { type Server, startServer } from './server.ts';
import { createSqsQueue } from './sqs.ts';
import { backoff } from './work-queue.ts';

/** Longest orderly stop; below the usual 30 s grace period of a Pod. */
const STOP_WITHIN_MS = 20_000;
const USAGE = 'usage: bridge --config FILE';
const KUBE_SYSTEM = { group: '', version: 'v1', resource: 'namespaces', name: 'kube-system' };

/** One process per cluster: nothing else may act, so the right to act is never lost. */
const soleLease: Lease = { holds: () => true };

/** What a start has brought up so far; the server answers before the API server does. */
interface Starting {
  bridge?: Bridge;
  server?: Server;
  /** Where rules come from the API. */
  keeper?: RuleKeeper;
}

async function start(config: Config, log: Log, starting: Starting): Promise<void> {
  const clock = realClock;
  const metrics = createMetrics();
  starting.server = await startServer({ ...config.server, bridge: () => starting.bridge, metrics, clock });
  const credentials = createCredentials(loadKubeConfig(config.kubeconfig), clock);
  const http = createHttp({ credentials, metrics });
  const cluster = createCluster({ http, clock, identity: hostname() });
  const uid = await clusterUid(cluster, log);
  const kinds = createKinds(http);
  const rules = new RuleBook(config.rules);
  const common = { cluster, clock, lease: soleLease, metrics, log, random: Math.random };
  const bridge = startBridge({
    ...common,
    queue: createSqsQueue({ ...config.queues, clock, metrics, log }),
    rules,
    listed: { kinds: config.kinds, port: kinds },
    areRulesKnown: () => config.rules !== undefined || starting.keeper?.isReady() === true,
    clusterId: { uid, name: config.cluster?.name },
    handlers: Object.fromEntries(
      Object.entries(config.handlers).map(([name, { queue, sender }]) => [name, { queueUrl: queue, sender }]),
    ),
    resultQueueUrl: config.queues.results,
    deadLetterSender: config.deadLetters?.sender,
  });
  starting.bridge = bridge;
  if (config.rules === undefined) {
    starting.keeper = startRuleKeeper({
      ...{ ...common, book: rules, kinds, census: createCensus(cluster) },
      hasHandler: (name) => Object.hasOwn(config.handlers, name),
      ...{ isWatching: bridge.isWatching, pendings: bridge.pendings, release: bridge.release },
      ...{ births: bridge.births, serving: bridge.serving },
    });
  }
  const names = rules.rules.map(({ name }) => name);
  log.info({ cluster: uid, rules: names, port: starting.server.port }, 'starting the bridge: done');
}

/** The cluster's identity; the API server may not be there yet. */
async function clusterUid(cluster: Cluster, log: Log): Promise<string> {
  for (let failures = 1; ; failures += 1) {
    try {
      const namespace = await cluster.get(KUBE_SYSTEM);
      if (namespace !== undefined) return namespace.metadata.uid;
      log.warn({}, 'reading namespace kube-system: not there yet');
    } catch (error) {
      log.warn({ err: explain(error) }, 'reading namespace kube-system: trying again');
    }
    await new Promise<void>((resolve) => void realClock.after(backoff(failures, Math.random), resolve));
  }
}

/** Obeys signals from the first moment on: what has not begun yet has nothing to end. */
function stopOn(signals: readonly NodeJS.Signals[], starting: Starting, log: Log): void {
  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'stopping the bridge');
    realClock.after(STOP_WITHIN_MS, () => process.exit(1));
    await starting.keeper?.stop();
    await starting.bridge?.stop();
    await starting.server?.stop();
    log.info({}, 'stopping the bridge: done');
    process.exit(0);
  };
  for (const signal of signals) process.on(signal, () => void stop(signal));
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: 'string' } } });
  if (values.config === undefined) {
    process.stderr.write(`${USAGE}\n`);
    process.exit(2);
  }
  const loaded = await loadConfig(values.config);
  if (!loaded.ok) {
    for (const { path, message } of loaded.faults) process.stderr.write(`${path}: ${message}\n`);
    process.exit(2);
  }
  const log = createLog(loaded.config.log.level);
  process.on('unhandledRejection', (error) => {
    log.error({ err: explain(error) }, 'ending: an unhandled rejection');
    process.exit(1);
  });
  try {
    const starting: Starting = {};
    stopOn(['SIGTERM', 'SIGINT'], starting, log);
    await start(loaded.config, log, starting);
  } catch (error) {
    log.error({ err: explain(error) }, 'starting the bridge: failed');
    process.exit(1);
  }
}

await main();
