/*
 * Traps on the functions' side: what a proof of ownership is worth a moment later, what is worth starting, whose clock says that a
 * request has expired. Ids are those of the protocol's list. Run by traps.test.ts and mutants.slow.test.ts.
 */
import { CLOCK_SKEW_MS, TERM_DEFAULT_MS } from '../../bridge/contract.ts';
import { TIME_BUDGET_SECONDS } from './cloud-handler.ts';
import { annotate, deleteAndPublish, finish, HOUR, MACHINE, MINUTE, RESOURCE, uidOf } from './deletion.ts';
import { hasOurEntry, OWNER_TAG, RELEASE, recordOn } from './installation.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';

/** How long the first request of a deletion lives. */
const LIFE_MS = 2 * TERM_DEFAULT_MS;
/** What a function has to have left of it to start. */
const ENOUGH_MS = TIME_BUDGET_SECONDS * 1000 + CLOCK_SKEW_MS;

const looksOf = (world: World) => world.calls.filter(({ point }) => point === 'describe resource').length;

/** The traps. */
export const functionTraps: readonly Trap[] = [
  trap('V13', 'what became somebody else’s after it was looked at is not deleted by a handler that looks only once', {
    options: { handlerRestsMs: 30_000 },
    async act(world) {
      await deleteAndPublish(world);
      await world.run(HOUR, () => looksOf(world) > 0);
      await world.run(5_000);
      world.cloud.tag(RESOURCE, 'successor', { [OWNER_TAG]: 'successor' });
      await finish(world);
      expectIn(world, 'V13', 'the resource of the successor to stay', world.cloud.find(RESOURCE) !== undefined);
      expectIn(world, 'V13', 'it to be held', recordOn(world.server.get(MACHINE))?.reason === 'NotOwned');
    },
  }),
  trap('V17', 'a request with too little life left is answered without a look, and the next one ends the deletion', {
    // Longer than what is left when it comes: work that is begun then can only be broken off.
    options: { deletionMs: 100_000 },
    async act(world) {
      world.requests.hold(LIFE_MS - ENOUGH_MS + 10_000);
      let requests = 0;
      world.requests.onSend(() => {
        requests += 1;
      });
      // What is asked for later comes only when the first has been dealt with.
      world.requests.keepOnly(() => requests <= 1);
      await deleteAndPublish(world);
      await world.run(LIFE_MS - 10_000);
      expectIn(world, 'V17', 'nothing to be begun', looksOf(world) === 0);
      world.requests.keepOnly(() => true);
      await finish(world);
      expectIn(world, 'V17', 'the object to be gone', world.server.get(MACHINE) === undefined);
    },
  }),
  trap('V18', 'a function whose clock is behind begins nothing that a bridge whose clock is ahead takes for over', {
    options: { functionSkew: -CLOCK_SKEW_MS },
    async act(world) {
      const [leader] = world.processes;
      if (leader === undefined) throw new Error('there is no bridge');
      world.crash(leader, { skew: CLOCK_SKEW_MS });
      await world.run(MINUTE);
      // Lost are all requests but the first, which comes a minute after it has expired.
      world.requests.hold(LIFE_MS + MINUTE);
      world.requests.keepOnly(({ body }) => body.includes('"attempt":0'));
      await deleteAndPublish(world);
      annotate(world, { [RELEASE]: uidOf(world) });
      await world.run(LIFE_MS + 2 * MINUTE);
      expectIn(world, 'V18', 'the entry to be off', !hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'V18', 'the resource to stay', world.cloud.find(RESOURCE) !== undefined);
      await finish(world);
    },
  }),
];
