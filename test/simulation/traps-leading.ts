/*
 * Ways in which two bridges come to lead at once, or none does, as scenarios: one of two that stand for leader dies, is cut off,
 * stands still, sleeps with its machine; its clock is off; others meddle with the lease. Run by traps.test.ts and
 * mutants.slow.test.ts; faults at every call are in election.test.ts.
 */
import { LEASE_MS } from '../../bridge/leader-state.ts';
import { createWorld, finish, MACHINE, MINUTE } from './deletion.ts';
import type { SimulatedProcess } from './process.ts';
import { expectIn, type Trap } from './trap.ts';
import type { World } from './world.ts';
import type { WorldOptions } from './world-options.ts';

const SECOND = 1_000;
/** How often is asked who holds the lease. */
const STEP_MS = 100;
/** A lease that ran out, and a look every second. */
const FOLLOWED_WITHIN = LEASE_MS + 3 * SECOND;

interface Leading {
  readonly world: World;
  readonly leader: SimulatedProcess;
  /** Lets time pass; notes when two hold the lease. */
  pass(ms: number): Promise<void>;
}

interface Script {
  readonly options?: Partial<WorldOptions>;
  /** How far the clock of the one that stands by is ahead, in ms. */
  readonly skew?: number;
  readonly act: (leading: Leading) => Promise<void>;
}

/** A scenario of two bridges, of which the first leads; afterwards one of those that live does, and a deletion ends. */
function leadingTrap(title: string, { options, skew = 0, act }: Script): Trap {
  return {
    ...{ id: 'K18', title },
    async run(product) {
      const used = product === undefined ? {} : { product };
      const world = await createWorld({ seed: 31, election: true, ...options, ...used });
      world.startBridge({ skew });
      const pass = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += STEP_MS) {
          await world.run(STEP_MS);
          if (world.holders.length > 1) world.promises.note('K18', `leading at once: ${world.holders.join(', ')}`);
        }
      };
      await pass(10 * SECOND);
      const [leader] = world.processes;
      if (leader === undefined) throw new Error('there is no bridge');
      await act({ world, leader, pass });
      await pass(FOLLOWED_WITHIN);
      expectIn(world, 'P4', 'one bridge to lead', world.holders.length === 1);
      // What is broken already need not wait a day for a deletion that never ends.
      if (world.promises.broken.length > 0) return [world.report()];
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      expectIn(world, 'P4', 'the deletion to end', world.server.get(MACHINE) === undefined);
      return world.promises.broken.length === 0 ? [] : [world.report()];
    },
  };
}

/** Moments in the life of a leader, and how to wait for them. */
const MOMENTS: readonly (readonly [string, (world: World) => () => boolean])[] = [
  ['between two renewals', ({ time }) => after(time.now() + 700, time)],
  [
    'with a renewal on its way',
    ({ leases }) => changed(() => leases.calls.filter(({ verb }) => verb === 'replace').length),
  ],
  ['with an answer on its way', ({ leases }) => changed(() => leases.stored)],
];

function after(at: number, time: World['time']): () => boolean {
  return () => time.now() >= at;
}

function changed(look: () => unknown): () => boolean {
  const before = look();
  return () => look() !== before;
}

/** A scenario again for each moment. */
function atEachMoment(title: string, act: (leading: Leading) => Promise<void>): readonly Trap[] {
  return MOMENTS.map(([name, moment]) =>
    leadingTrap(`${title}, ${name}`, {
      act: async (leading) => {
        await leading.world.run(10 * SECOND, moment(leading.world));
        await act(leading);
      },
    }),
  );
}

let cutOff = new Set<string>();

/** The scenarios. */
export const leadingTraps: readonly Trap[] = [
  leadingTrap('a leader that dies is followed when its time is over', {
    act: async ({ world, leader }) => world.crash(leader),
  }),
  leadingTrap('two that live do not change places', {
    async act({ world, pass }) {
      await pass(3 * MINUTE);
      expectIn(world, 'K18', 'the first to lead still', world.holders.join() === 'bridge-1');
    },
  }),
  ...[-10 * MINUTE, 10 * MINUTE].map((skew) =>
    leadingTrap(`a clock that is ${skew} ms ahead takes the lease from nobody`, {
      skew,
      async act({ world, pass }) {
        await pass(MINUTE);
        expectIn(world, 'K18', 'the first to lead still', world.holders.join() === 'bridge-1');
      },
    }),
  ),
  leadingTrap('a leader whose wall clock stands still goes on', {
    async act({ world, leader, pass }) {
      leader.stopWallClock();
      await pass(MINUTE);
      expectIn(world, 'K18', 'the first to lead still', world.holders.join() === 'bridge-1');
      // By a clock that stands still the deletion that comes has never begun.
      world.crash(leader);
    },
  }),
  leadingTrap('a leader whose renewals fail has lost before another one leads', {
    options: { leaseFate: (process) => (cutOff.has(process) ? 'refused' : 'answered') },
    async act({ leader, pass }) {
      cutOff = new Set([leader.identity.name]);
      await pass(FOLLOWED_WITHIN);
      cutOff.clear();
    },
  }),
  ...atEachMoment('a leader that stood still for a minute does not lead when it goes on', async ({ leader, pass }) => {
    leader.pause(MINUTE);
    await pass(MINUTE + SECOND);
  }),
  ...atEachMoment('a leader whose machine slept for a minute leads no more when it wakes', async ({ leader, pass }) => {
    leader.pause(MINUTE, 'asleep');
    await pass(MINUTE + SECOND);
  }),
  ...atEachMoment('a lease that somebody deletes stays with the leader', async ({ world, pass }) => {
    world.leases.delete();
    await pass(MINUTE);
    expectIn(world, 'K18', 'the first to lead still', world.holders.join() === 'bridge-1');
  }),
  leadingTrap('a lease that somebody takes is nobody else’s until its time is over, which may be longer', {
    async act({ world, leader, pass }) {
      world.leases.put({ holder: 'another version', durationSeconds: 60 });
      await pass(4 * SECOND);
      expectIn(world, 'K18', 'the leader to have lost', !leader.isAlive && world.holders.length === 0);
      await pass(50 * SECOND);
      expectIn(world, 'K18', 'nobody to lead before its time', world.holders.length === 0);
    },
  }),
];
