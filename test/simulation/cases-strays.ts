/*
 * K33: a live object with an entry whose rule is not there, with a fault at every call: the entry comes off on a person's
 * word for this very object, and what else the object carries stays. Part of the list in cases.ts; that nothing comes off
 * without a word is asked at every write (promises.ts).
 */
import { annotate, createWorld, finish, HOUR, MACHINE, MINUTE } from './deletion.ts';
import { ENTRY, hasOurEntry, RECORD } from './installation.ts';
import { ALL_KINDS, sweepSingles } from './sweep.ts';
import { expectIn, type Trap } from './trap.ts';
import type { World } from './world.ts';

const GHOST = 'finalizer-bridge.dev/ghost';
const OTHER = 'example.com/other';
const WORD = 'release.finalizer-bridge.dev/ghost';

const entries = (world: World) => [...(world.server.get(MACHINE)?.metadata.finalizers ?? [])].sort().join(' ');

/** Not released, released by a word for another object, then by one for this; and then deleted under its own rule. */
export const strays: Trap = {
  id: 'K33',
  title: 'the entry of a rule that is not there comes off a live object on a word for it, and only then',
  async run(product) {
    const { broken } = await sweepSingles(async (faults) => {
      const finalizers = [OTHER, GHOST, GHOST];
      const world = await createWorld({ seed: 8, faults, finalizers, ...(product === undefined ? {} : { product }) });
      annotate(world, { [WORD]: 'uid-of-the-original' });
      await world.run(2 * MINUTE);
      expectIn(world, 'K33', 'every entry to stay', entries(world) === [OTHER, GHOST, GHOST, ENTRY].sort().join(' '));
      annotate(world, { [WORD]: world.server.get(MACHINE)?.metadata.uid ?? '' });
      await world.run(HOUR, () => !entries(world).includes(GHOST));
      expectIn(world, 'P9', 'that entry to be off and no other', entries(world) === [OTHER, ENTRY].sort().join(' '));
      const { annotations = {} } = world.server.get(MACHINE)?.metadata ?? {};
      expectIn(world, 'P8', 'nothing to be written on a live object', !(RECORD in annotations));
      world.server.delete(MACHINE, 'owner');
      await finish(world);
      expectIn(world, 'P4', 'its own entry to be off', !hasOurEntry(world.server.get(MACHINE)));
      return world;
    }, ALL_KINDS);
    return broken;
  },
};
