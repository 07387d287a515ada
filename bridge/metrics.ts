/*
 * The bridge's Prometheus metrics: names by its conventions, labels of bounded cardinality (rule, reason, kind).
 * Made once by main.ts; counted wherever something happens; served by server.ts.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** All metrics of one bridge. Times in seconds. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics in a registry of their own. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter: MakeCounter = (name, help, labelNames) =>
    new Counter({ name: `finalizer_bridge_${name}_total`, help, labelNames: [...labelNames], registers });
  const gauge: MakeGauge = (name, help, labelNames) =>
    new Gauge({ name: `finalizer_bridge_${name}`, help, labelNames: [...labelNames], registers });
  return {
    registry,
    claimed: counter('entries_added', 'Entries put on live objects.', ['rule']),
    removed: counter('entries_removed', 'Entries taken off, by why.', ['rule', 'reason']),
    missed: counter('missed', 'Deletions that began before the entry could be put on: nothing is taken down.', [
      'rule',
    ]),
    bypassed: counter('bypassed', 'Deletions whose entry somebody else took off.', ['rule']),
    requests: counter('requests_sent', 'Requests that the queue confirmed.', ['rule']),
    requestFailures: counter('requests_failed', 'Requests that the queue did not take.', ['rule']),
    results: counter('results', 'Results received, by what was done with them.', ['disposition']),
    deadLetters: counter('dead_letters', 'Requests that no function brought to an end, by the dead-letter function.', [
      'rule',
    ]),
    held: gauge('held', 'Pending objects that need a person or a change, by reason.', ['rule', 'reason']),
    pending: gauge('pending', 'Objects being deleted that still carry an entry.', ['rule']),
    strays: gauge('strays', 'Live objects that carry an entry whose rule is not there.', ['rule', 'group', 'resource']),
    unclaimed: gauge('unclaimed', 'Live objects that wait for an entry to be put on or taken off.', ['rule']),
    oldestPending: gauge('oldest_pending_seconds', 'Age of the oldest pending deletion.', ['rule']),
    overdue: counter('deadline_exceeded', "Deletions seen past their rule's deadline.", ['rule']),
    apiCalls: counter('api_calls', 'Calls to the API server, by verb and status.', ['verb', 'status']),
    queueCalls: counter('queue_calls', 'Calls to the queue.', ['call', 'outcome']),
    ...watchMetrics(counter, gauge),
    words: counter('words', 'Words of people that were heard, by word.', ['rule', 'word']),
    failures: counter('work_failures', 'Runs over an object that failed and are tried again.', ['rule']),
    events: counter('events', 'Kubernetes Events recorded, by outcome.', ['outcome']),
    duration: deletionDuration(registry),
  };
}

type MakeCounter = <L extends string>(name: string, help: string, labelNames: readonly L[]) => Counter<L>;
type MakeGauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) => Gauge<L>;

function watchMetrics(counter: MakeCounter, gauge: MakeGauge) {
  return {
    watchRestarts: counter('watch_restarts', 'Watches that ended and were started again, by cause.', [
      'group',
      'resource',
      'cause',
    ]),
    leader: gauge('leader', 'Whether this process leads (1) or stands by (0).', []),
    watching: gauge('watching', 'Whether a kind is being watched (1) or the bridge is blind to it (0).', [
      'group',
      'resource',
    ]),
  };
}

function deletionDuration(registry: Registry) {
  return new Histogram({
    name: 'finalizer_bridge_deletion_duration_seconds',
    help: 'From the deletion of the object to the entry being off.',
    labelNames: ['rule', 'reason'],
    buckets: [0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 3600, 14_400, 86_400],
    registers: [registry],
  });
}
