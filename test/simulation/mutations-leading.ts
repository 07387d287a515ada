/*
 * Known-bad edits of how a bridge comes to lead and notices that it leads no more; the scenarios of traps-leading.ts must catch
 * each. Read by mutants.slow.test.ts beside those of mutations.ts.
 */
import type { Mutation } from './mutant.ts';

const STATE = 'bridge/leader-state.ts';
const LEADER = 'bridge/leader.ts';

/** The edits. */
export const leadingMutations: readonly Mutation[] = (
  [
    ['holds a lease for longer than others wait', STATE, 'HOLD_MS = 10_000', 'HOLD_MS = 60_000'],
    ['waits for less time than a leader holds', STATE, 'LEASE_MS = 15_000', 'LEASE_MS = 1_500'],
    [
      'holds a lease for ever while it stands still',
      LEADER,
      'isLeading(this.#candidacy, clock.monotonic()) && clock.now() - this.#wonAtWall < HOLD_MS',
      'this.isElected',
    ],
    ['takes a lease that is held', STATE, 'if (now.monotonic < freeAt) return', 'if (now.monotonic < 0) return'],
    [
      'compares the times of others with its own clock',
      STATE,
      'if (now.monotonic < freeAt) return',
      'if (now.wall < Date.parse(record.renewTime) + LEASE_MS) return',
    ],
    ['waits for a dead leader without end', STATE, 'isSame(seen.record, stored.record))', 'stored === undefined)'],
    ['takes a renewal for none', STATE, 'left.renewTime === right.renewTime &&', ''],
    ['renews without a change when its clock stands still', STATE, 'Math.max(wall, last + 1)', 'wall'],
    ['takes a lease that was deleted for free', STATE, 'stored?.record ?? seen?.record', 'stored?.record'],
    [
      'waits for less time than the record says',
      STATE,
      'Math.max(LEASE_MS, record.durationSeconds * 1000)',
      'LEASE_MS',
    ],
    [
      'leads on when somebody else has it',
      STATE,
      'if (!isOurs && wonAt !== undefined) return',
      "if (identity === '') return",
    ],
    ['leads on when its machine has slept', LEADER, ' && clock.now() - this.#wonAtWall < HOLD_MS', ''],
    [
      'counts its time from the answer',
      LEADER,
      'won(this.#candidacy, written, sentAt);\n    this.#wonAtWall = wall;',
      'won(this.#candidacy, written, clock.monotonic());\n    this.#wonAtWall = clock.now();',
    ],
  ] as const
).map(([what, file, from, to]) => ({ what, file, from, to, caughtBy: 'K18' }));
