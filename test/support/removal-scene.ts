/*
 * One pending deletion and what taking its entry off needs: an API server that answers as it is told, and ears for all that is
 * told, counted and acknowledged. For the tests of removal.ts.
 */

import { Finished } from '../../bridge/finished.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Facts, Pending } from '../../bridge/pending.ts';
import type { KubeObject, PatchOutcome } from '../../bridge/ports.ts';
import type { Removing } from '../../bridge/removal.ts';
import type { Telling } from '../../bridge/reporter.ts';
import { deletingMeta, ENTRY, keptLog, pendingOf, ruleOf } from './bridge-builders.ts';
import { ManualClock } from './manual-clock.ts';

export const GONE = { act: 'remove', reason: 'Gone', evidence: 'deleted' } as const;
/** The API server shows the object without the entry. */
export const OFF: PatchOutcome = { kind: 'patched', meta: deletingMeta({ finalizers: ['a/b'], resourceVersion: '8' }) };

/** What differs from a happy deletion. */
export interface Prepared {
  readonly pending?: Partial<Pending>;
  readonly outcome?: PatchOutcome;
  /** What a GET shows. */
  readonly object?: KubeObject | undefined;
  readonly holds?: boolean;
}

/** A pending deletion with two results in hand, and an API server that answers as it is told. */
export function prepare({ pending: changes = {}, outcome = OFF, object, holds = true }: Prepared = {}) {
  const settled: boolean[] = [];
  const settles = [0, 1].map(() => (isDone: boolean) => void settled.push(isDone));
  const pending = pendingOf({ meta: deletingMeta({ finalizers: ['a/b', ENTRY] }), settles, ...changes });
  const clock = new ManualClock();
  const patches: unknown[] = [];
  const told: Telling[] = [];
  const forgotten: string[] = [];
  const kept = keptLog();
  const reach: Removing = {
    ...{ clock, metrics: createMetrics(), log: kept.log, pendings: new Map([[pending.key, pending]]) },
    finished: new Finished(),
    labelOf: (rule, kind) => `${rule} of ${kind?.resource}`,
    forget: (key) => void forgotten.push(key),
    reporter: { tell: (_pending, telling) => void told.push(telling) },
    lease: { holds: () => holds },
    cluster: {
      get: async () => object,
      patch: async (path, operations) => {
        patches.push([path, operations]);
        return outcome;
      },
    },
  };
  const isOver = () => !reach.pendings.has(pending.key) && reach.finished.has(pending.key);
  return { reach, pending, clock, settled, patches, told, forgotten, kept, isOver };
}

/** The object as a GET shows it. */
export const objectOf = (changes: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket' },
  metadata: deletingMeta({ finalizers: ['a/b', ENTRY], ...changes }),
});

/** An evaluation of the object, as far as it was one. */
export function factsWith(target: 'found' | 'missing'): Facts {
  const spec = target === 'found' ? { bucket: 'team-a-logs' } : {};
  const [object, rule] = [{ ...objectOf(), spec }, ruleOf()];
  return { object, rule, evaluation: rule.evaluate(object), ruleDigest: undefined, readAt: 0 };
}
