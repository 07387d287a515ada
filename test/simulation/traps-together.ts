/*
 * Traps about two bridges that lead at once, of which one stood still while the other went on.
 * Ids are those of the protocol's list of traps. Run by traps.test.ts and mutants.slow.test.ts.
 */
import {
  annotate,
  deleteAndPublish,
  finish,
  HOUR,
  MACHINE,
  MINUTE,
  moveToOther,
  RESOURCE,
  retarget,
  uidOf,
} from './deletion.ts';
import { hasOurEntry, RELEASE, RETRY, recordOn } from './installation.ts';
import { expectIn, type Trap, trap } from './trap.ts';
import type { World } from './world.ts';

const recorded = (world: World) => [recordOn(world.server.get(MACHINE))?.targets].flat().length;

/** The first bridge has asked for its target and stands still; a second asks for another one, in vain, and then stands still. */
async function askTwice(world: World): Promise<void> {
  const [first] = world.processes;
  world.requests.keepOnly(() => false);
  await deleteAndPublish(world);
  await world.run(2 * MINUTE);
  first?.pause(HOUR);
  const second = world.startBridge();
  moveToOther(world);
  await world.run(HOUR / 4, () => recordOn(world.server.get(MACHINE))?.reason === 'TargetChanged');
  annotate(world, { [RETRY]: `${uidOf(world)}/1` });
  const isWritten = await world.run(HOUR / 4, () => recorded(world) === 2);
  expectIn(world, 'V10', 'both targets to be recorded', isWritten);
  await world.run(MINUTE);
  second.pause(12 * HOUR);
  retarget(world, RESOURCE);
  world.requests.keepOnly(() => true);
}

/** The traps. */
export const togetherTraps: readonly Trap[] = [
  trap('V10', 'what another leader asked for while this one stood still needs a gone of its own', {
    async act(world) {
      await askTwice(world);
      await world.run(8 * HOUR);
      expectIn(world, 'V10', 'the first target to be gone', world.cloud.find(RESOURCE) === undefined);
      expectIn(world, 'V10', 'it to be held for the second', hasOurEntry(world.server.get(MACHINE)));
      expectIn(world, 'V10', 'both to be recorded still', recorded(world) === 2);
      annotate(world, { [RELEASE]: uidOf(world) });
      await finish(world);
      expectIn(world, 'V10', 'the object to be gone in the end', world.server.get(MACHINE) === undefined);
    },
  }),
];
