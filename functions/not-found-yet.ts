/*
 * Whether a "not found" can be believed. Many services answer a look a while late: what was just made is not found yet,
 * and an old object may have been given its outside resource just before it was deleted. Pure; used by handlers before `absent`.
 */
import type { Outcome } from '../bridge/contract.ts';
import type { RunContext } from './handler.ts';
import { pending } from './outcomes.ts';

/** Younger objects may stand for something that was just made. */
const YOUNG_OBJECT_MS = 5 * 60_000;
/** For so long after a deletion began, what an old object stands for may have been made just before it. */
const YOUNG_DELETION_MS = 2 * 60_000;
const RETRY_SECONDS = 60;

/** The outcome while a "not found" proves nothing; undefined once it does. */
export function notFoundYet(
  { request, clock, inSeconds }: Pick<RunContext, 'request' | 'clock' | 'inSeconds'>,
  what: string,
): Outcome | undefined {
  const { creationTimestamp, deletionTimestamp } = request.object;
  const isOld = clock.now() - Date.parse(creationTimestamp) >= YOUNG_OBJECT_MS;
  const isSettled = clock.now() - Date.parse(deletionTimestamp) >= YOUNG_DELETION_MS;
  if (isOld && isSettled) return undefined;
  const since = isOld ? 'the deletion began' : 'its object was made';
  return pending({
    reason: 'NotFoundYet',
    message: `${what} is not found, but so soon after ${since} it may only not be visible yet`,
    retryAt: inSeconds(RETRY_SECONDS),
  });
}
