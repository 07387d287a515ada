/*
 * What one run over a pending deletion works with, and how its steps end. Types and names only, pure; used by reconcile.ts and
 * by the files that act on its decisions.
 */
import type { Brakes } from './brake.ts';
import type { Finished } from './finished.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Outbox } from './outbox.ts';
import type { Facts, Pending } from './pending.ts';
import type { Clock, Cluster, KindRef, Lease, ObjectPath } from './ports.ts';
import type { Reporter } from './reporter.ts';
import type { Rule } from './rule.ts';

/** How old a GET may be when something is sent on the strength of it, in ms. */
export const FRESH_MS = 10_000;
/** What acting on a pending deletion needs. */
export interface Reach {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly lease: Lease;
  readonly outbox: Outbox;
  readonly brakes: Brakes;
  readonly pendings: Map<string, Pending>;
  /** Keys whose entry is off while the watch may still show it on. */
  readonly finished: Finished;
  readonly clusterId: { readonly uid: string; readonly name?: string | undefined };
  readonly metrics: Metrics;
  readonly log: Log;
  readonly reporter: Reporter;
  /** The rule of an entry's name, if it is one for this kind: another's entry is nobody's here. */
  ruleOf(name: string, kind: KindRef): Rule | undefined;
  /** Whether the rules are known: before that nobody can say that one is not there. */
  areRulesKnown(): boolean;
  /** Why the rules cannot be read, where that is not for a moment only. */
  rulesTrouble(): string | undefined;
  /** Why a rule that exists for this kind was never accepted. */
  whyNotAccepted(name: string, kind: KindRef): string | undefined;
  /** The name of an entry's rule in metrics: that of a rule that is there, or a word for all others. */
  labelOf(name: string, kind?: KindRef): string;
  queueOf(handler: string): string | undefined;
  /** Forgets timers and back-off of a key. */
  forget(key: string): void;
}

/** `again`: something was written or has moved, so look once more. `done` carries when to wake (ms). */
export type Step = { readonly kind: 'again' } | { readonly kind: 'done'; readonly wakeAt?: number | undefined };

/** A pending deletion in the middle of a run: its facts are fresh. */
export interface Run {
  readonly reach: Reach;
  readonly pending: Pending;
  readonly facts: Facts;
  readonly rule: Rule | undefined;
  /** Results came in that this run has to bring to their end. */
  readonly hasResults: boolean;
}

/** The API path of a pending object. */
export function pathOf({ kind, meta }: Pending): ObjectPath {
  return { ...kind, namespace: meta.namespace, name: meta.name };
}

/** `resource/namespace/name`, the identifying fact in messages. */
export function nameOf({ kind, meta }: Pending): string {
  return [kind.resource, ...(meta.namespace === undefined ? [] : [meta.namespace]), meta.name].join('/');
}

/** The rule, where the object was read in the version that its expressions are written for: over another they may say anything. */
export function ruleSeen({ kind }: Pick<Pending, 'kind'>, rule: Rule | undefined): Rule | undefined {
  return rule?.match.version === kind.version ? rule : undefined;
}
