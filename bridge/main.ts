/*
 * The bridge process: configuration in, the real ports plugged together, the lease stood for, signals obeyed. The image's
 * entry point. A bridge watches and acts only once it leads; what it cannot go on from ends it loudly, and the next start, or
 * the other replica, finds all work again from the API server.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { startBridge } from './bridge.ts';
import { createCensus } from './census.ts';
import { realClock } from './clock.ts';
import { createCluster } from './cluster.ts';
import { createCredentials, loadKubeConfig } from './cluster-credentials.ts';
import { createHttp, type Http } from './cluster-http.ts';
import { createKinds } from './cluster-kinds.ts';
import { createLeases } from './cluster-lease.ts';
import { type Config, loadConfig, servedBy } from './config.ts';
import { believingRights } from './granted-rights.ts';
import { keepHeapSmall } from './heap.ts';
import { Candidate } from './leader.ts';
import { writingAsLeader } from './leading.ts';
import { createLog, explain, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Cluster } from './ports.ts';
import { QueueHealth } from './queue-health.ts';
import { readinessOf } from './readiness.ts';
import { RuleBook } from './rule-book.ts';
import { startRuleKeeper } from './rule-keeper.ts';
import { startServer } from './server.ts';
import { createSqsQueue } from './sqs.ts';
import { EXIT, type Running, Stopping } from './stopping.ts';
import { backoff } from './work-queue.ts';

const USAGE = 'usage: bridge --config FILE';
const KUBE_SYSTEM = { group: '', version: 'v1', resource: 'namespaces', name: 'kube-system' };
const clock = realClock;

/** What every part of the process is given. */
interface Process {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly running: Running;
  readonly stopping: Stopping;
  readonly queueHealth: QueueHealth;
}

/** Serves, stands for leader, and begins to act when it is elected. */
async function start(parts: Process): Promise<void> {
  const { config, log, metrics, running, stopping, queueHealth } = parts;
  running.server = await startServer({
    ...{ ...config.server, metrics, clock, log },
    bridge: () => running.bridge,
    readiness: () => readinessOf({ ...running, queue: queueHealth }),
    isLeader: () => running.candidate?.holds() === true,
  });
  const credentials = createCredentials(() => loadKubeConfig(config.kubeconfig), clock);
  const http = createHttp({ credentials, metrics, clock });
  const identity = `${hostname()}_${randomUUID()}`;
  const candidate = new Candidate({ leases: createLeases(http), clock, random: Math.random, identity, log });
  running.candidate = candidate;
  candidate.start();
  void candidate.lost.then(() => stopping.end(EXIT.lostLease));
  log.info({ identity, port: running.server.port }, 'starting the bridge: standing for leader');
  const cluster = createCluster({ http, clock, identity: hostname() });
  const uid = await clusterUid(cluster, log);
  await candidate.elected;
  if (!stopping.isStopping) lead(parts, { http, cluster: writingAsLeader(cluster, candidate), uid, candidate });
}

/** The API server, for one that leads. */
interface Leadership {
  readonly http: Http;
  readonly cluster: Cluster;
  readonly uid: string;
  readonly candidate: Candidate;
}

/** Watches and acts: the first complete list that it sees is the first of its own leadership (trap V1). */
function lead({ config, log, metrics, running, queueHealth }: Process, leadership: Leadership): void {
  const { http, cluster, uid, candidate } = leadership;
  const kinds = believingRights(createKinds(http), clock);
  const rules = new RuleBook(config.rules);
  const served = servedBy(config);
  const common = { cluster, clock, lease: candidate, metrics, log, random: Math.random, served };
  const bridge = startBridge({
    ...{ ...common, rules },
    queue: createSqsQueue({ ...config.queues, clock, metrics, log, health: queueHealth }),
    areRulesKnown: () => config.rules !== undefined || running.keeper?.isReady() === true,
    rulesTrouble: () => running.keeper?.trouble,
    isPermitted: (name) => running.keeper?.isPermitted(name) !== false,
    listed: { kinds: config.kinds, port: kinds },
    clusterId: { uid, name: config.cluster?.name },
    handlers: Object.fromEntries(
      Object.entries(config.handlers).map(([name, { queue, sender }]) => [name, { queueUrl: queue, sender }]),
    ),
    resultQueueUrl: config.queues.results,
    deadLetterSender: config.deadLetters?.sender,
  });
  running.bridge = bridge;
  if (config.rules === undefined) {
    running.keeper = startRuleKeeper({
      ...{ ...common, book: rules, kinds, census: createCensus(cluster, served) },
      hasHandler: (name) => Object.hasOwn(config.handlers, name),
      ...{ isWatching: bridge.isWatching, blindIn: bridge.blindIn, pendings: bridge.pendings, release: bridge.release },
      ...{ births: bridge.births, serving: bridge.serving },
    });
  }
  const names = rules.rules.map(({ name }) => name);
  log.info({ cluster: uid, rules: names, ...served }, 'starting the bridge: done');
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
    await new Promise<void>((resolve) => void clock.after(backoff(failures, Math.random), resolve));
  }
}

/** What nobody has caught leaves the process in a state that nobody knows: it ends at once. */
function endOnSurprise(log: Log): void {
  const end = (what: string) => (error: unknown) => {
    log.error({ err: explain(error), stack: error instanceof Error ? error.stack : undefined }, `ending: ${what}`);
    process.exit(EXIT.failed);
  };
  process.on('unhandledRejection', end('an unhandled rejection'));
  process.on('uncaughtException', end('an uncaught exception'));
}

/** The file that the command line names; asked for help, or misunderstood, the process ends with the usage. */
function configFile(): string {
  const end = (exit: number, ...lines: readonly string[]): never => {
    (exit === 0 ? process.stdout : process.stderr).write(`${[...lines, USAGE].join('\n')}\n`);
    process.exit(exit);
  };
  try {
    const { values } = parseArgs({ options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
    if (values.help === true) return end(0);
    return values.config ?? end(EXIT.usage);
  } catch (error) {
    return end(EXIT.usage, explain(error));
  }
}

async function main(): Promise<void> {
  keepHeapSmall();
  const loaded = await loadConfig(configFile());
  if (!loaded.ok) {
    for (const { path, message } of loaded.faults) process.stderr.write(`${path}: ${message}\n`);
    process.exit(EXIT.usage);
  }
  const { config } = loaded;
  const log = createLog(config.log.level);
  endOnSurprise(log);
  try {
    const running: Running = {};
    const stopping = new Stopping({ running, clock, log, exit: process.exit });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.onSignal(signal));
    await start({ config, log, running, stopping, metrics: createMetrics(), queueHealth: new QueueHealth(clock) });
  } catch (error) {
    log.error({ err: explain(error) }, 'starting the bridge: failed');
    process.exit(EXIT.failed);
  }
}

await main();
