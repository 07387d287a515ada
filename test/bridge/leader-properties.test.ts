/*
 * Whatever the calls, the processes and the wall clocks do: two bridges never hold the lease at once, and one does again soon
 * after all is well. Processes may stand still for any time, as under SIGSTOP, and hear of their answers when they go on.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Candidate } from '../../bridge/leader.ts';
import { LEASE_MS } from '../../bridge/leader-state.ts';
import { keptLog } from '../support/bridge-builders.ts';
import { FakeLeases, type Fate } from '../support/fake-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { StoppableClock } from '../support/stoppable-clock.ts';

const SECOND = 1_000;
const STEP_MS = 1_000;
const RUNS = 60;

type Act =
  | { readonly what: 'fate'; readonly fate: Fate }
  | { readonly what: 'latency'; readonly ms: number }
  | { readonly what: 'leap'; readonly ms: number }
  | { readonly what: 'stop' | 'go on' | 'leave' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    what: fc.constant('fate' as const),
    fate: fc.constantFrom<Fate>('answered', 'refused', 'lost', 'silent'),
  }),
  fc.record({ what: fc.constant('latency' as const), ms: fc.integer({ min: 1, max: 9_000 }) }),
  fc.record({ what: fc.constant('leap' as const), ms: fc.integer({ min: -600_000, max: 600_000 }) }),
  fc.record({ what: fc.constantFrom('stop' as const, 'go on' as const, 'go on' as const, 'leave' as const) }),
);
const script = fc.array(fc.record({ who: fc.nat(2), after: fc.integer({ min: 0, max: 16_000 }), act: acts }), {
  maxLength: 10,
});

/** Three bridges over one lease; one that has ended is started again. */
class Cluster {
  readonly clock = new ManualClock();
  readonly leases = new FakeLeases();
  readonly members = [0, 1, 2].map((index) => this.#member(index));

  #member(index: number) {
    return { ...this.#start(`bridge-${index}`), starts: 1, index };
  }

  #start(identity: string) {
    const clock = new StoppableClock(this.clock);
    const state = { fate: 'answered' as Fate, latency: 1, hasEnded: false };
    const candidate = new Candidate({
      leases: this.leases.port({ clock, fate: () => state.fate, latency: () => state.latency }),
      ...{ clock, identity, random: () => 0.5, log: keptLog().log },
    });
    void candidate.lost.then(() => {
      state.hasEnded = true;
    });
    candidate.start();
    return { candidate, clock, state };
  }

  do(who: number, act: Act): void {
    const member = this.members[who];
    if (member === undefined) return;
    if (act.what === 'fate') member.state.fate = act.fate;
    else if (act.what === 'latency') member.state.latency = act.ms;
    else if (act.what === 'leap') member.clock.leap(act.ms);
    else if (act.what === 'stop') member.clock.stop();
    else if (act.what === 'go on') member.clock.goOn();
    else
      void member.candidate.stop().then(() => {
        member.state.hasEnded = true;
      });
  }

  get holders(): number {
    return this.members.filter(({ candidate }) => candidate.holds()).length;
  }

  /** Lets time pass; whoever has ended is started again, as a Deployment does. Resolves to the most that held at once. */
  async pass(ms: number): Promise<number> {
    let most = this.holders;
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await this.clock.advance(Math.min(STEP_MS, ms - passed));
      most = Math.max(most, this.holders);
      for (const member of this.members) {
        if (!member.state.hasEnded) continue;
        member.starts += 1;
        Object.assign(member, this.#start(`bridge-${member.index}.${member.starts}`));
      }
    }
    return most;
  }

  /** All is well again. */
  heal(): void {
    for (const { state, clock } of this.members) {
      Object.assign(state, { fate: 'answered', latency: 1 });
      clock.goOn();
    }
  }
}

it('three bridges never hold the lease two at a time, and one leads soon after all is well (K18, V3)', async () => {
  const neverTwo = fc.asyncProperty(script, async (steps) => {
    const cluster = new Cluster();
    let most = await cluster.pass(2 * SECOND);
    for (const { who, after, act } of steps) {
      cluster.do(who, act);
      most = Math.max(most, await cluster.pass(after));
    }
    expect(most, 'holders at once').toBe(1);
    cluster.heal();
    most = Math.max(most, await cluster.pass(LEASE_MS + 15 * SECOND));
    expect([most, cluster.holders]).toEqual([1, 1]);
  });
  await fc.assert(neverTwo, { numRuns: RUNS });
}, 480_000);
