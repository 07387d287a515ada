/*
 * The bridge, assembled over its ports: watches -> intake -> work queue -> reconcile -> outbox, and inbox -> reconcile.
 * Called by main.ts with the real ports and by the simulation with models; holds no I/O of its own.
 */
import { Claims } from './claims.ts';
import { handleResults } from './inbox.ts';
import { Intake } from './intake.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { Outbox } from './outbox.ts';
import { Finished, type Pending } from './pending.ts';
import type { Clock, Cluster, Consumption, Lease, Queue, Random } from './ports.ts';
import { nameOf, type Reach, reconcile } from './reconcile.ts';
import { createReporter } from './reporter.ts';
import type { RuleBook } from './rule-book.ts';
import { Watcher } from './watch.ts';
import { WorkQueue } from './work-queue.ts';

const CONCURRENCY = 64;
const FAILURES_UNTIL_HELD = 3;
const READY_POLL_MS = 100;

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
  readonly clusterId: { readonly uid: string; readonly name?: string | undefined };
  readonly handlers: Readonly<Record<string, HandlerRoute>>;
  readonly resultQueueUrl: string;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** A running bridge. */
export interface Bridge {
  /** Whether every rule's kind is being watched and was listed completely. */
  isReady(): boolean;
  /** The deletions in hand. */
  pendings(): readonly Pending[];
  /** Takes nothing new, ends what runs, and resolves; what is unfinished is found again at the next start. */
  stop(): Promise<void>;
}

/** Starts the bridge. */
export function startBridge(options: BridgeOptions): Bridge {
  const { clock, random, cluster, rules, metrics, log, lease, clusterId } = options;
  const pendings = new Map<string, Pending>();
  const finished = new Finished();
  const add = (key: string) => work.add(key);
  const ruleOf = (name: string) => rules.named(name);
  const claims = new Claims({ cluster, lease, metrics, ruleOf, add });
  const outbox = new Outbox(options.queue, ({ entries, failed }) =>
    metrics.queueCalls.inc({ call: 'send', outcome: failed === 0 ? 'ok' : failed === entries ? 'failed' : 'partial' }),
  );
  const reach: Reach = {
    ...{ clock, cluster, lease, outbox, pendings, finished, clusterId, metrics, log, ruleOf },
    reporter: createReporter({ cluster, log, metrics }),
    queueOf: (handler) => options.handlers[handler]?.queueUrl,
    forget: (key) => work.forget(key),
  };
  const work = new WorkQueue({
    clock,
    random,
    concurrency: CONCURRENCY,
    run: (key) => (Claims.owns(key) ? claims.run(key) : reconcile(reach, key)),
    onFailure: (key, error, failures) => noteFailure(reach, { key, error, failures }),
  });
  const intake = new Intake({ clock, pendings, finished, claims, metrics, rulesOf: (kind) => rules.ofKind(kind), add });
  const watchers = rules.kinds.map((kind) => new Watcher({ kind, cluster, clock, random, sink: intake, metrics, log }));
  for (const watcher of watchers) watcher.start();
  const isReady = () => intake.isReady(rules.kinds);

  let consumption: Consumption | undefined;
  let isStopping = false;
  let cancel = () => {};
  const consume = () => {
    // Results are taken once the objects are known: a result for an unknown object would cost a GET each.
    if (!isReady()) {
      cancel = clock.after(READY_POLL_MS, consume);
      return;
    }
    const inbox = {
      ...{ clock, cluster, pendings, metrics, log, add },
      clusterUid: clusterId.uid,
      senderOf: (handler: string) => options.handlers[handler]?.sender,
      admit: intake.admit.bind(intake),
      isStopping: () => isStopping,
    };
    consumption = options.queue.consume(options.resultQueueUrl, (batch) => handleResults(inbox, batch));
  };
  consume();

  return {
    isReady,
    pendings: () => [...pendings.values()],
    async stop() {
      cancel();
      isStopping = true;
      await Promise.all(watchers.map((watcher) => watcher.stop()));
      await work.stop();
      for (const pending of pendings.values()) for (const settle of pending.settles.splice(0)) settle(false);
      await consumption?.stop();
    },
  };
}

/** What fails again and again is held with the failure as its reason, so that it is never stuck silently (P7, K29). */
function noteFailure(
  { pendings, metrics, log, clock, reporter }: Reach,
  { key, error, failures }: { readonly key: string; readonly error: unknown; readonly failures: number },
): void {
  const pending = pendings.get(key);
  const rule = pending?.rule ?? key.slice(key.indexOf('/') + 1);
  const message = explain(error);
  metrics.failures.inc({ rule });
  log.warn({ key, failures, err: message }, 'settling an object: trying again');
  if (pending === undefined || failures < FAILURES_UNTIL_HELD) return;
  const isNews = pending.standing?.reason !== 'Failing';
  const since = isNews ? clock.now() : (pending.standing?.since ?? clock.now());
  pending.standing = { phase: 'Held', reason: 'Failing', message, since };
  if (isNews) {
    reporter.tell(pending, {
      type: 'Warning',
      reason: 'TeardownHeld',
      action: 'Teardown',
      message: `${rule}: Failing: ${nameOf(pending)}: ${message}`.slice(0, 1000),
    });
  }
}
