/*
 * Tells people: Events on objects (best effort), log lines, counters. Called by removal.ts, standing.ts, failing.ts and
 * audit.ts at the few moments that are worth telling; a failed Event changes nothing (K9), and nothing in an object's
 * namespace has to be created to finish. A rule whose objects are all held tells of so many, not of each (P10).
 */
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Facts, Pending } from './pending.ts';
import type { Clock, Cluster, EventInput, KindRef, ObjectMeta } from './ports.ts';

/** Events of one rule: so many at once, and so many a second after that. The log has them all. */
const EVENTS_AT_ONCE = 50;
const EVENTS_PER_SECOND = 1;

/** What something is told about: a pending deletion, or a live object that no rule is for. */
export interface Told extends Pick<Pending, 'rule' | 'kind'> {
  readonly meta: Pick<ObjectMeta, 'namespace' | 'name' | 'uid'>;
  readonly facts: Pick<Facts, 'object' | 'evaluation'> | undefined;
}

/** What is told about it. */
export interface Telling {
  readonly type: EventInput['type'];
  readonly reason: string;
  readonly action: string;
  readonly message: string;
}

/** Events and logs about deletions. */
export interface Reporter {
  tell(told: Told, telling: Telling): void;
  /** Records the Event alone, for what stands in the log already; never rejects. */
  record(told: Told, telling: Telling): Promise<void>;
}

/** What the reporter needs. */
export interface ReporterOptions {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whose allowance an entry's Events are of. */
  labelOf(rule: string, kind: KindRef): string;
}

/** Creates the reporter. */
export function createReporter({ clock, cluster, log, metrics, labelOf }: ReporterOptions): Reporter {
  const allowances = new Map<string, Allowance>();
  async function record(pending: Told, telling: Telling): Promise<void> {
    const object = pending.facts?.object;
    if (object === undefined) return;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    try {
      await cluster.recordEvent({
        ...telling,
        object: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
      });
      metrics.events.inc({ outcome: 'recorded' });
    } catch (error) {
      metrics.events.inc({ outcome: 'failed' });
      log.debug({ ...fieldsOf(pending), err: explain(error) }, 'recording an Event: given up');
    }
  }
  return {
    record,
    tell(pending, telling) {
      const level = telling.type === 'Warning' ? 'warn' : 'info';
      log[level]({ ...fieldsOf(pending), reason: telling.reason, ...targetOf(pending) }, telling.message);
      const label = labelOf(pending.rule, pending.kind);
      const allowance = withRest(allowances.get(label), clock.monotonic());
      allowances.set(label, { ...allowance, left: Math.max(0, allowance.left - 1) });
      if (allowance.left < 1) metrics.events.inc({ outcome: 'dropped' });
      else void record(pending, telling);
    },
  };
}

/** How many Events a rule may still record, as of when (monotonic ms). */
interface Allowance {
  readonly left: number;
  readonly at: number;
}

function withRest(known: Allowance | undefined, now: number): Allowance {
  if (known === undefined) return { left: EVENTS_AT_ONCE, at: now };
  const grown = known.left + ((now - known.at) / 1000) * EVENTS_PER_SECOND;
  return { left: Math.min(EVENTS_AT_ONCE, grown), at: now };
}

/** The identifying facts of a pending deletion, for logs. */
export function fieldsOf({ kind, meta, rule }: Told): object {
  return { rule, resource: kind.resource, namespace: meta.namespace, name: meta.name, uid: meta.uid };
}

function targetOf({ facts }: Told): object {
  const target = facts?.evaluation?.target;
  return target?.kind === 'found' ? { target: target.target } : {};
}
