/*
 * Tells whether a deletion's requests are begun in time at all: two terms in a row whose only answer is Expired
 * say that queue or function are too slow for it. Pure; fed by inbox.ts, asked by standing.ts (QueueTooSlow).
 */
import { DEAD_LETTERED, EXPIRED } from './contract.ts';

/** As many terms in a row are no accident. */
const TOO_SLOW_FROM = 2;

/** What was answered, by attempt; -1 stands for none. */
export interface Answered {
  /** The latest attempt that a function has begun, or answered for good. */
  readonly heard: number;
  /** The latest attempt that was only ever answered Expired. */
  readonly expired: number;
  /** How many attempts in a row, up to that one. */
  readonly inRow: number;
}

export const NOTHING_ANSWERED: Answered = { heard: -1, expired: -1, inRow: 0 };

/** Takes an answer in; copies, late ones and those in another order count once. `reason` is that of a `pending`. */
export function withAnswer(before: Answered, attempt: number, reason: string | undefined): Answered {
  const { heard, expired, inRow } = before;
  // Said in a function's place: no sign that one has begun.
  if (reason === DEAD_LETTERED) return before;
  if (reason !== EXPIRED) {
    const latest = Math.max(heard, attempt);
    return latest >= expired ? { ...NOTHING_ANSWERED, heard: latest } : { ...before, heard: latest };
  }
  // A long teardown ends each of its requests with Expired; that is no sign of slowness.
  if (attempt <= heard || attempt <= expired) return before;
  return { heard, expired: attempt, inRow: attempt === expired + 1 ? inRow + 1 : 1 };
}

/** Whether queue and function are too slow for this deletion. */
export function isTooSlow({ inRow }: Answered): boolean {
  return inRow >= TOO_SLOW_FROM;
}
