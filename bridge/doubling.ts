/*
 * How long to wait before something is tried again, or done again that somebody undoes: twice as long each time, up to a most.
 * Pure. For what fails (work-queue.ts, watch.ts), what hangs (sqs-keys.ts), what is answered too soon (sqs-polling.ts), and what
 * another process keeps changing back (contests.ts, standing.ts); and what was asked again in vain (kubeconfig-doubts.ts).
 */

/** The bounds of a wait, in ms. */
export interface Doubling {
  readonly first: number;
  readonly most: number;
}

/** The wait after it has been doubled so often, in ms; 0 times: the first. */
export function doubled({ first, most }: Doubling, times: number): number {
  return Math.min(most, first * 2 ** times);
}
