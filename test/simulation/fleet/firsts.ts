/*
 * When the first requests of deletions were sent, and how many of them lie in one window: what a budget of the product is held
 * against. Filled by ledger-messages.ts in the order of arrival, which a slow wire makes another than that of sending.
 */

/** Times of sending, of one rule. */
export class Firsts {
  readonly #times: number[] = [];

  /** Notes one (ms since the epoch); the most that now lie in a window of so many ms around it. */
  add(sentAt: number, windowMs: number): number {
    this.#times.splice(1 + this.#times.findLastIndex((one) => one <= sentAt), 0, sentAt);
    const near = this.#times.filter((one) => Math.abs(one - sentAt) < windowMs);
    let first = 0;
    let most = 0;
    for (const [index, time] of near.entries()) {
      while ((near[first] ?? time) <= time - windowMs) first += 1;
      most = Math.max(most, index + 1 - first);
    }
    return most;
  }
}
