/*
 * Ways in which a watch misleads, as scenarios: it falls silent, it says again what is over. Run by traps.test.ts and
 * mutants.slow.test.ts; every fault in every mixture is in watching.test.ts.
 */
import { finish, MACHINE, MINUTE } from './deletion.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import { BUSY_MS } from './watch-faults.ts';

/** A watchdog, and the pause after it. */
const FOUND_WITHIN = 3 * MINUTE;

/** Longer than any first pause. */
const WAIT_MS = 20_000;

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
  trap('K13', 'a watch and a call that are told to wait are not made again before', {
    options: {
      watchFaults: () => ({ kind: 'busy', afterMs: 30_000 }),
      strike: (point, times) =>
        point.startsWith('patch') && times === 1
          ? { kind: 'answer', side: 'before', status: 429, retryAfter: WAIT_MS }
          : undefined,
    },
    async act(world) {
      await world.run(MINUTE);
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      const at = (point: string) => world.calls.filter((call) => call.point.startsWith(point)).map((call) => call.at);
      const [opened = 0, again = 0] = at('watch');
      const [, refused = 0, patched = 0] = at('patch');
      expectIn(world, 'K13', 'the watch to wait', again - opened >= 30_000 + BUSY_MS);
      expectIn(world, 'K13', 'the patch to wait', patched - refused >= WAIT_MS);
      expectIn(world, 'K13', 'the object to be gone', world.server.get(MACHINE) === undefined);
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
