/*
 * Lets one bridge of a world begin to act, put together as main.ts does it when it is elected, over simulated ports. Called by
 * fleet-bridges.ts.
 */
import { startBridge } from '../../../bridge/bridge.ts';
import { createCensus } from '../../../bridge/census.ts';
import { believingRights } from '../../../bridge/granted-rights.ts';
import { writingAsLeader } from '../../../bridge/leading.ts';
import { createMetrics } from '../../../bridge/metrics.ts';
import type { Cluster } from '../../../bridge/ports.ts';
import { RuleBook } from '../../../bridge/rule-book.ts';
import { type RuleKeeper, startRuleKeeper } from '../../../bridge/rule-keeper.ts';
import { createClusterPort } from '../cluster-port.ts';
import { CLUSTER_UID, FUNCTION_ROLE, RESULTS_URL } from '../function-host.ts';
import type { SimulatedProcess } from '../process.ts';
import { createBridgeQueue } from '../queue-port.ts';
import type { BridgesOptions, Incarnation } from './fleet-bridges.ts';
import { asLater } from './later-version.ts';
import { createSiteKinds } from './site-kinds.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const metrics = createMetrics();

/** Starts its bridge and its keeper of the rules. */
export function lead(options: BridgesOptions, incarnation: Incarnation): void {
  const { process, handlers, served } = incarnation;
  const { queues, product, surroundings, isRefused, weather, site } = options;
  const { random } = surroundings;
  const clock = process.clock();
  const lease = { holds: () => incarnation.lease.holds() };
  const { later } = incarnation;
  const own = clusterOf(options, process);
  const cluster = writingAsLeader(later === undefined ? own : asLater(own, later), lease);
  const book = new RuleBook();
  let keeper: RuleKeeper | undefined;
  const common = { clock, random, cluster, lease, metrics, served, log: silent };
  const kinds = believingRights(createSiteKinds(site, process, weather.admission), clock);
  const bridge = (product.startBridge ?? startBridge)({
    ...{ ...common, rules: book, queue: createBridgeQueue(queues, process, isRefused) },
    areRulesKnown: () => keeper?.isReady() === true,
    isPermitted: (name) => keeper?.isPermitted(name) !== false,
    clusterId: { uid: CLUSTER_UID },
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([name, queueUrl]) => [name, { queueUrl, sender: FUNCTION_ROLE }]),
    ),
    resultQueueUrl: RESULTS_URL,
  });
  incarnation.bridge = bridge;
  keeper = (product.startRuleKeeper ?? startRuleKeeper)({
    ...{ ...common, book, kinds, census: createCensus(cluster, served) },
    hasHandler: (name) => Object.hasOwn(handlers, name),
    ...{ isWatching: bridge.isWatching, blindIn: bridge.blindIn, pendings: bridge.pendings, release: bridge.release },
    ...{ births: bridge.births, serving: bridge.serving },
  });
}

function clusterOf(options: BridgesOptions, process: SimulatedProcess): Cluster {
  const { server, site, surroundings, weather, watchFaults, isCalm, onEvent, product } = options;
  const { random } = surroundings;
  const { ApiError } = product;
  const watchLag = () => (isCalm() ? 0 : random() * weather.watchLagMs);
  return createClusterPort({ server, process, random, watchLag, watchFaults, access: site, onEvent, ApiError });
}
