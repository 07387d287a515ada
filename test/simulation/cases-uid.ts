/*
 * K3: what was decided on one object must never hit another one of the same name, however late it arrives.
 * Part of the list in cases.ts.
 */
import { createMachine, createWorld, deleteAndPublish, finish, HOUR, MACHINE, MINUTE } from './deletion.ts';
import { hasOurEntry } from './installation.ts';
import { sweepSingles } from './sweep.ts';
import { expectIn, type Trap } from './trap.ts';

/** A crash at each call of the first deletion, its call arriving late: when a second object has taken the name. */
export const lateCalls: Trap = {
  id: 'K3',
  title: 'a call of a dead bridge that arrives late does not touch the successor of the same name',
  async run(product) {
    const kinds = [{ kind: 'crash', side: 'late' } as const];
    const { broken } = await sweepSingles(async (faults) => {
      const world = await createWorld({ seed: 5, faults, ...(product === undefined ? {} : { product }) });
      world.server.delete(MACHINE, 'owner');
      await world.run(3 * HOUR, () => world.server.get(MACHINE) === undefined);
      const { uid } = createMachine(world).metadata;
      await world.run(MINUTE, () => hasOurEntry(world.server.get(MACHINE)));
      world.requests.hold(10 * MINUTE);
      await deleteAndPublish(world);
      await world.run(9 * MINUTE);
      expectIn(world, 'K3', 'the successor to wait', world.server.get(MACHINE)?.metadata.uid === uid);
      await finish(world);
      return world;
    }, kinds);
    return broken;
  },
};
