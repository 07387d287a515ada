/*
 * Known-bad edits of how the bridge watches, and the scenario of traps-watching.ts that must catch each. Read by
 * mutants.slow.test.ts beside those of mutations.ts.
 */
import type { Mutation } from './mutant.ts';

/** The edits. */
export const watchingMutations: readonly Mutation[] = [
  {
    what: 'waits for ever for a watch that is silent',
    file: 'bridge/watch.ts',
    from: 'cancel = clock.after(STALL_MS, ',
    to: 'cancel = clock.after(STALL_MS * 1_000, ',
    caughtBy: 'K10',
  },
  {
    what: 'watches again before it is asked to',
    file: 'bridge/watch.ts',
    from: 'Math.min(end.retryAfter ?? 0, RETRY_AFTER_MAX_MS)',
    to: '0',
    caughtBy: 'K13',
  },
  {
    what: 'tries again before it is asked to',
    file: 'bridge/work-queue.ts',
    from: 'Math.min(error.retryAfter ?? 0, RETRY_AFTER_MAX_MS)',
    to: '0',
    caughtBy: 'K13',
  },
  {
    what: 'forgets what is over as soon as the watch has shown it',
    file: 'bridge/finished.ts',
    from: 'this.#echoes.add(key);',
    to: '',
    caughtBy: 'P6',
  },
];
