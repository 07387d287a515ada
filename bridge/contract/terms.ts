/*
 * Terms: the slices of a deletion's time that make requests durable without writing anything down.
 * With t0 the moment the deletion began and W the rule's term, attempt k covers [t0 + kW, t0 + (k+1)W) and its request
 * expires at t0 + (k+2)W, so a request of term k can be repeated byte for byte by any process that knows t0, W and k.
 * All times are milliseconds since the Unix epoch (UTC). Used by decide, reconcile, inbox and the functions' guards.
 */

/** How far two clocks may be apart before the protocol's margins no longer hold. */
export const CLOCK_SKEW_MS = 60_000;
/** Upper bound of one call that a handler makes, and so of how long a run can outlive its abort signal. */
export const CALL_TIMEOUT_MS = 30_000;
/** Bounds and default of a rule's `term`. */
export const TERM_MIN_MS = 30 * 60_000;
export const TERM_MAX_MS = 6 * 60 * 60_000;
export const TERM_DEFAULT_MS = 60 * 60_000;

/** t0 and W: what the arithmetic of terms needs to know of one deletion under one rule. */
export interface Terms {
  /** t0: deletionTimestamp minus deletionGracePeriodSeconds, in ms. */
  readonly began: number;
  /** W: the rule's term in ms. */
  readonly term: number;
}

/** t0 of a deletion. A Pod's deletionTimestamp lies in the future by its grace period; ages count from the request. */
export function deletionBegan(deletionTimestamp: string, gracePeriodSeconds = 0): number {
  return Date.parse(deletionTimestamp) - gracePeriodSeconds * 1000;
}

/** The term that `now` lies in; never negative, whatever a slow clock says. */
export function attemptAt({ began, term }: Terms, now: number): number {
  return Math.max(0, Math.floor((now - began) / term));
}

/** When the request of an attempt expires. */
export function expiresAt({ began, term }: Terms, attempt: number): number {
  return began + (attempt + 2) * term;
}

/** When an attempt's term begins. */
export function attemptBegins({ began, term }: Terms, attempt: number): number {
  return began + attempt * term;
}

/** A run of a request that expires at `expires` has surely ended by this time, clock skew and its last call included. */
export function runEndsBy(expires: number): number {
  return expires + CLOCK_SKEW_MS + CALL_TIMEOUT_MS;
}

/**
 * No request that any process may have sent up to `now` can still run after this time.
 * Looks two skews ahead: a sender whose clock is fast may already be in the next term (trap V4).
 */
export function possibleRunsEnd(terms: Terms, now: number): number {
  return runEndsBy(expiresAt(terms, attemptAt(terms, now + 2 * CLOCK_SKEW_MS)));
}

/** The same where the term of whoever sent is not known: the schema's largest is assumed (trap V6). */
export function possibleRunsEndOfAnyTerm(now: number): number {
  return runEndsBy(now + 2 * CLOCK_SKEW_MS + 2 * TERM_MAX_MS);
}

/** Whether a function must take a request for expired: strict by one skew. */
export function isExpired(expires: number, now: number): boolean {
  return now >= expires - CLOCK_SKEW_MS;
}

/** Whether the bridge still counts a `gone`: generous by one skew. */
export function isGoneInTime(expires: number, now: number): boolean {
  return now <= expires + CLOCK_SKEW_MS;
}
