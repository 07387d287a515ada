/*
 * Gauges of what is pending, computed when metrics are read rather than kept up to date.
 * Called by server.ts for each scrape.
 */
import type { Metrics } from './metrics.ts';
import { beganAt, type Pending } from './pending.ts';
import type { KindRef } from './ports.ts';
import type { StrayCount } from './strays.ts';

/** What is measured. */
export interface Measured {
  readonly pendings: readonly Pending[];
  /** By rule, how many live objects wait for a change of their entries. */
  readonly unclaimed: ReadonlyMap<string, number>;
  readonly strays: readonly StrayCount[];
  /** The name of an entry's rule in metrics: that of a rule that is there, or a word for all others. */
  labelOf(name: string, kind: KindRef): string;
}

/** Sets the gauges from the deletions in hand; `now` in ms since the epoch. */
export function measure({ pendings, unclaimed, strays, labelOf }: Measured, metrics: Metrics, now: number): void {
  const gauges = [metrics.pending, metrics.held, metrics.oldestPending, metrics.unclaimed, metrics.strays];
  for (const gauge of gauges) gauge.reset();
  for (const { rule, kind, count } of strays) {
    metrics.strays.inc({ rule, group: kind.group, resource: kind.resource }, count);
  }
  for (const [rule, count] of unclaimed) metrics.unclaimed.set({ rule }, count);
  const oldest = new Map<string, number>();
  for (const pending of pendings) {
    const { standing } = pending;
    const rule = labelOf(pending.rule, pending.kind);
    metrics.pending.inc({ rule });
    if (standing?.phase === 'Held') metrics.held.inc({ rule, reason: standing.reason });
    const seconds = Math.max(0, (now - beganAt(pending)) / 1000);
    oldest.set(rule, Math.max(oldest.get(rule) ?? 0, seconds));
  }
  for (const [rule, seconds] of oldest) metrics.oldestPending.set({ rule }, seconds);
}
