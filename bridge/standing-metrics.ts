/*
 * Gauges of what is pending, computed when metrics are read rather than kept up to date.
 * Called by server.ts for each scrape.
 */
import { deletionBegan } from './contract.ts';
import type { Metrics } from './metrics.ts';
import type { Pending } from './pending.ts';

/** Sets the gauges from the deletions in hand; `now` in ms since the epoch. */
export function measure(pendings: readonly Pending[], metrics: Metrics, now: number): void {
  for (const gauge of [metrics.pending, metrics.held, metrics.oldestPending]) gauge.reset();
  const oldest = new Map<string, number>();
  for (const { rule, meta, standing } of pendings) {
    metrics.pending.inc({ rule });
    if (standing?.phase === 'Held') metrics.held.inc({ rule, reason: standing.reason });
    const { deletionTimestamp = meta.creationTimestamp, deletionGracePeriodSeconds } = meta;
    const seconds = Math.max(0, (now - deletionBegan(deletionTimestamp, deletionGracePeriodSeconds)) / 1000);
    oldest.set(rule, Math.max(oldest.get(rule) ?? 0, seconds));
  }
  for (const [rule, seconds] of oldest) metrics.oldestPending.set({ rule }, seconds);
}
