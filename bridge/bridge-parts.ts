/*
 * The parts of a bridge, put together over its ports: what sees, what remembers, what works. Called by bridge.ts, which
 * sets them going; no part is started here.
 */
import { Births } from './births.ts';
import { Brakes } from './brake.ts';
import { Claims } from './claims.ts';
import { noteFailure } from './failing.ts';
import { Finished } from './finished.ts';
import { Intake } from './intake.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { Namespaces } from './namespaces.ts';
import { type OnCall, Outbox } from './outbox.ts';
import { Pendings } from './pendings.ts';
import type { Clock, Cluster, KindRef, Kinds, Lease, ListedKind, Queue, Random, Watched } from './ports.ts';
import { reconcile } from './reconcile.ts';
import { createReporter } from './reporter.ts';
import type { RuleBook } from './rule-book.ts';
import type { Reach } from './run.ts';
import { EVERYWHERE, type Served } from './served.ts';
import { Serving } from './serving.ts';
import { isStrayKey, StrayActs } from './stray-acts.ts';
import { Strays, type StraysOptions } from './strays.ts';
import { Watches } from './watches.ts';
import { WorkQueue } from './work-queue.ts';

const CONCURRENCY = 64;
/** Most places of one rule's deletions, and of all claims: what hangs there leaves room for the others (P10). */
const RULE_PLACES = 32;
/** With so many keys that wait or run, requests travel in full batches rather than at once. */
const BUSY_DEPTH = 10;
const CLAIM_CONCURRENCY = 16;
const CLAIM_RULE_PLACES = 8;
/** Claims that the API server refuses are many, and no hurry. */
const CLAIM_BACKOFF_MAX_MS = 10 * 60_000;

/** What a handler's requests and results need. */
export interface HandlerRoute {
  readonly queueUrl: string;
  /** SenderId, or role id, of the handler's function. */
  readonly sender: string;
}

/** The bridge's ports and settings. */
export interface BridgeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly cluster: Cluster;
  readonly queue: Queue;
  readonly lease: Lease;
  readonly rules: RuleBook;
  /** Whether the book is complete; where rules come from the API it fills after the start. */
  readonly areRulesKnown?: () => boolean;
  /** Why the rules cannot be read, where that is not for a moment only. */
  readonly rulesTrouble?: () => string | undefined;
  /** Kinds to watch also while no rule names them. */
  readonly listed?: { readonly kinds: readonly ListedKind[]; readonly port: Pick<Kinds, 'find'> };
  /** The namespaces that are looked into; all of them unless told. */
  readonly served?: Served;
  /** Whether this process has the rights that a rule needs; all have unless told. */
  readonly isPermitted?: (rule: string) => boolean;
  readonly clusterId: { readonly uid: string; readonly name?: string | undefined };
  readonly handlers: Readonly<Record<string, HandlerRoute>>;
  readonly resultQueueUrl: string;
  /** SenderId, or role id, of the dead-letter function. */
  readonly deadLetterSender?: string | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** The parts. */
export interface Parts {
  readonly pendings: Pendings;
  readonly finished: Finished;
  readonly work: WorkQueue;
  readonly claiming: WorkQueue;
  readonly claims: Claims;
  readonly intake: Intake;
  readonly strays: Strays;
  readonly watches: Watches;
  readonly namespaces: Namespaces;
  readonly births: Births;
  readonly serving: Serving;
  readonly brakes: Brakes;
}

/** Puts the parts together. */
export function assemble(options: BridgeOptions): Parts {
  const { clock, random, cluster, rules, metrics, log, served = EVERYWHERE } = options;
  const memory = { pendings: new Pendings(), finished: new Finished() };
  const add = (key: string) => work.add(key);
  const relistSelected = () => {
    for (const { match, matchesNamespace } of rules.rules) if (matchesNamespace !== undefined) watches.relist(match);
  };
  const namespaces = new Namespaces({ cluster, clock, random, metrics, log, served }, relistSelected);
  const isMatched: typeof namespaces.isMatched = (rule, meta) => {
    const matched = namespaces.isMatched(rule, meta);
    return matched === true && !rules.isNoted(rule.name, meta.namespace) ? undefined : matched;
  };
  const ruleOf = (name: string, kind: KindRef) => rules.namedFor(name, kind);
  const claims = new Claims({ ...options, ruleOf, isMatched, add: (key) => claiming.add(key) });
  const isBusy = () => work.depth >= BUSY_DEPTH;
  const reach = reachOf(options, { ...memory, forget: (key) => work.forget(key) }, isBusy);
  const laneOf = (key: string) => key.slice(key.indexOf('/') + 1);
  const onFailure = (key: string, error: unknown, failures: number) => noteFailure(reach, { key, error, failures });
  const work = new WorkQueue({
    ...{ clock, random, onFailure },
    concurrency: CONCURRENCY,
    lanes: { laneOf, places: RULE_PLACES },
    run: (key) => reconcile(reach, key),
  });
  const claiming = new WorkQueue({
    ...{ clock, random, onFailure },
    concurrency: CLAIM_CONCURRENCY,
    lanes: { laneOf, places: CLAIM_RULE_PLACES },
    backoffMax: CLAIM_BACKOFF_MAX_MS,
    run: (key) => (isStrayKey(key) ? strayActs.run(key) : claims.run(key)),
  });
  const isWatching = (watched: Watched) => intake.isWatching(watched);
  const { strays, strayActs } = straysOf(options, reach, { add: (key) => claiming.add(key), isWatching });
  const rulesOf = (kind: KindRef) => rules.ofKind(kind);
  const newcomers = { births: new Births(clock), serving: new Serving(clock) };
  const seen = { clock, ...memory, claims, strays, ...newcomers };
  const intake = new Intake({ ...seen, served, metrics, rulesOf, isMatched, add });
  const watches = new Watches({ cluster, clock, random, sink: intake, metrics, log, served });
  return { ...memory, work, claiming, claims, intake, strays, watches, namespaces, ...newcomers, brakes: reach.brakes };
}

function straysOf(
  { rules, lease }: BridgeOptions,
  reach: Reach,
  { add, isWatching }: { readonly add: (key: string) => void } & Pick<StraysOptions, 'isWatching'>,
) {
  const { clock, cluster, metrics, log, reporter, areRulesKnown, labelOf } = reach;
  const hasRule = rules.hasRule.bind(rules);
  const strayActs = new StrayActs({ cluster, lease, metrics, log, reporter, hasRule, labelOf, add });
  const strays = new Strays({
    ...{ clock, hasRule, areRulesKnown, isWatching },
    release: (object, rule) => strayActs.release(object, rule),
    misread: (object, rule, faults) => strayActs.misread(object, rule, faults),
    tell: (count) => strayActs.tell(count),
  });
  return { strays, strayActs };
}

/** What acting on a pending deletion needs. */
function reachOf(
  options: BridgeOptions,
  memory: Pick<Reach, 'pendings' | 'finished' | 'forget'>,
  isBusy: () => boolean,
): Reach {
  const { clock, cluster, lease, metrics, log, rules, clusterId, handlers } = options;
  const onCall: OnCall = ({ entries, failed }) =>
    metrics.queueCalls.inc({ call: 'send', outcome: failed === 0 ? 'ok' : failed === entries ? 'failed' : 'partial' });
  const outbox = new Outbox({ queue: options.queue, clock, onCall, isBusy });
  const labelOf: Reach['labelOf'] = (name, kind) => rules.labelOf(name, kind);
  return {
    ...{ ...memory, clock, cluster, lease, outbox, clusterId, metrics, log },
    brakes: new Brakes({ cluster, clock, random: options.random }),
    reporter: createReporter({ clock, cluster, log, metrics, labelOf }),
    ruleOf: (name, kind) => rules.namedFor(name, kind),
    areRulesKnown: () => options.areRulesKnown?.() ?? true,
    rulesTrouble: () => options.rulesTrouble?.(),
    whyNotAccepted: (name, kind) => rules.whyNotAccepted(name, kind),
    labelOf,
    queueOf: (handler) => handlers[handler]?.queueUrl,
  };
}
