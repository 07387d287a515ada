/*
 * Ways in which a watch misleads, as scenarios: it falls silent, it says again what is over. Run by traps.test.ts and
 * mutants.slow.test.ts; every fault in every mixture is in watching.test.ts.
 */
import { finish, MACHINE, MINUTE } from './deletion.ts';
import { expectIn, type Trap, trap } from './trap.ts';

/** A watchdog, and the pause after it. */
const FOUND_WITHIN = 3 * MINUTE;

/** The scenarios. */
export const watchingTraps: readonly Trap[] = [
  trap('K10', 'a deletion whose watch has fallen silent is found when the watchdog has cut it', {
    options: { watchFaults: () => ({ kind: 'silent', afterMs: 2_000 }) },
    async act(world) {
      await world.run(2_000);
      world.server.delete(MACHINE, 'owner');
      await world.run(FOUND_WITHIN);
      expectIn(world, 'K10', 'the object to be gone', world.server.get(MACHINE) === undefined);
      await finish(world);
    },
  }),
  trap('P6', 'what a watch says again when it is over is not taken for bypassed', {
    options: { watchFaults: () => ({ kind: 'echo', afterMs: 40_000 }) },
    async act(world) {
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      expectIn(world, 'P6', 'nothing to be bypassed', world.bypassed === 0);
    },
  }),
];
