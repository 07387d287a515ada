/*
 * The two waits of a withdrawal (P9, K25): until no new object can get the entry, and between two clean lists. The same
 * for the bridge's own withdrawal (withdrawal.ts) and for the drain command, which does it when no bridge can.
 */

/** How long an admission policy may go on injecting after its rule was deleted (seconds, as measured; with room). */
export const SETTLE_MS = 60_000;

/** What has been seen of a withdrawal so far; monotonic ms. A restart has seen nothing, and waits again. */
export interface Settling {
  /** Since when the rule is known to be deleted. */
  readonly seenAt: number;
  /** When a list first showed no carrier; undefined before, and again when one showed some. */
  cleanSince: number | undefined;
}

/** How long there may still be new entries; 0 when there cannot. */
export function injectsFor({ seenAt }: Settling, now: number): number {
  return Math.max(0, seenAt + SETTLE_MS - now);
}

/** Takes note of a list that showed a carrier or could not be had: the last wait begins anew. */
export function sawCarriers(settling: Settling): void {
  settling.cleanSince = undefined;
}

/** Takes note of a clean list from `at`; how long until one may be the last, 0 when this one is. */
export function sawNobody(settling: Settling, at: number): number {
  settling.cleanSince ??= at;
  return Math.max(0, settling.cleanSince + SETTLE_MS - at);
}
