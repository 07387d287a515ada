/*
 * Tells people: Events on objects (best effort), log lines, counters. Called by removal.ts, standing.ts and failing.ts at the few moments that are
 * worth telling; a failed Event changes nothing (K9), and nothing in an object's namespace has to be created to finish.
 */
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Pending } from './pending.ts';
import type { Cluster, EventInput } from './ports.ts';

/** What is told about one pending deletion. */
export interface Telling {
  readonly type: EventInput['type'];
  readonly reason: string;
  readonly action: string;
  readonly message: string;
}

/** Events and logs about deletions. */
export interface Reporter {
  tell(pending: Pending, telling: Telling): void;
}

/** Creates the reporter. */
export function createReporter({ cluster, log, metrics }: { cluster: Cluster; log: Log; metrics: Metrics }): Reporter {
  async function record(pending: Pending, telling: Telling): Promise<void> {
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
    tell(pending, telling) {
      const level = telling.type === 'Warning' ? 'warn' : 'info';
      log[level]({ ...fieldsOf(pending), reason: telling.reason, ...targetOf(pending) }, telling.message);
      void record(pending, telling);
    },
  };
}

/** The identifying facts of a pending deletion, for logs. */
export function fieldsOf({ kind, meta, rule }: Pending): object {
  return { rule, resource: kind.resource, namespace: meta.namespace, name: meta.name, uid: meta.uid };
}

function targetOf({ facts }: Pending): object {
  const target = facts?.evaluation?.target;
  return target?.kind === 'found' ? { target: target.target } : {};
}
