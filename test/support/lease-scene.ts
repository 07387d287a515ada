/*
 * Candidates over one lease, under a clock that a test moves; each can be cut off from it, or end without a word.
 * Used by the tests of leader.ts; what became of each is read from what it says itself.
 */
import { Candidate } from '../../bridge/leader.ts';
import { keptLog } from './bridge-builders.ts';
import { type Connection, FakeLeases, type Fate } from './fake-leases.ts';
import { ManualClock } from './manual-clock.ts';

/** Some candidates over one lease. */
export class LeaseScene {
  readonly clock = new ManualClock();
  readonly leases = new FakeLeases();
  readonly kept = keptLog();

  stand(identity: string, connection: Partial<Connection> = {}) {
    const { clock, leases, kept } = this;
    const state = { fate: 'answered' as Fate, lost: undefined as string | undefined, elected: false };
    const candidate = new Candidate({
      leases: leases.port({ clock, fate: () => state.fate, ...connection }),
      ...{ clock, identity, random: () => 0.5, log: kept.log },
    });
    void candidate.elected.then(() => {
      state.elected = true;
    });
    void candidate.lost.then((why) => {
      state.lost = why;
    });
    candidate.start();
    return Object.assign(state, { candidate });
  }

  get holder(): string | undefined {
    return this.leases.stored?.record.holder;
  }
}
