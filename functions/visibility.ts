/*
 * How long a message that stays in its queue is hidden. Pure; chance is an argument.
 * Called by dispatch.ts. The message itself is the retry: nothing is ever sent anew, so no request can fork.
 */
import { CLOCK_SKEW_MS } from '../bridge/contract.ts';
import type { Random } from './ports.ts';

const FIRST_SECONDS = 30;
const LAST_SECONDS = 15 * 60;
/** Longest wait that a handler may ask for. */
const ASKED_MAX_SECONDS = 60 * 60;

/** 30 s at the first receive, doubling to 15 min, jittered so that a herd spreads out. */
export function backOffSeconds(receiveCount: number, random: Random): number {
  const steps = Math.max(0, Math.min(receiveCount - 1, 10));
  const base = Math.min(FIRST_SECONDS * 2 ** steps, LAST_SECONDS / 1.5);
  return Math.round(base * (1 + random() / 2));
}

/** Seconds until a time that the handler named; at least one, at most an hour. */
export function visibilityUntil(retryAt: string, now: number): number {
  const seconds = Math.ceil((Date.parse(retryAt) - now) / 1000);
  return Math.max(1, Math.min(seconds, ASKED_MAX_SECONDS));
}

/** While a run lasts: if the function dies, its message comes back a minute after the budget, not after half an hour. */
export function runVisibilitySeconds(timeBudgetSeconds: number): number {
  return timeBudgetSeconds + CLOCK_SKEW_MS / 1000;
}
