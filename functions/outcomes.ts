/*
 * The three answers of a teardown, as handlers write them. Pure.
 * Handlers import them from handler.ts; the guards and the run answer with them as well.
 */
import type { Evidence, Outcome } from '../bridge/contract.ts';

/** The target is not there any more. `deleted`: these runs took it down. `absent`: the first look found nothing. */
export function gone(evidence: Evidence): Outcome {
  return { evidence, outcome: 'gone' };
}

/** Not yet: the message stays in its queue and comes back, at `retryAt` if given. */
export function pending(facts: {
  readonly reason: string;
  readonly message?: string;
  readonly progress?: string;
  /** RFC 3339, UTC. */
  readonly retryAt?: string;
}): Outcome {
  return { outcome: 'pending', ...facts };
}

/** Not without a person or a change; `retryAt` if time alone may change it. */
export function refused(facts: {
  readonly reason: string;
  readonly message: string;
  readonly retryAt?: string;
}): Outcome {
  return { outcome: 'refused', ...facts };
}
