/*
 * An object with no room left for what the bridge writes on it: etcd takes no larger one, and the API server calls that its own fault
 * (500). Its entry comes off all the same, what cannot be written down is not taken for done, and as soon as there is room all goes on.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../bridge/ports.ts';
import { createWorld, finish, HOUR, MACHINE, MINUTE, RESOURCE, uidOf } from './deletion.ts';
import { hasOurEntry, OWNER_TAG, RECORD, RELEASE, recordOn } from './installation.ts';
import { storedRefusal } from './size-limits.ts';
import type { World } from './world.ts';

/** Less than a record or an entry takes, more than the mark of a deletion. */
const ROOM = 120;
const HALF_AN_HOUR = 30 * MINUTE;

/** The owner fills the object up, but for so many bytes. */
function fill(world: World, room: number): void {
  const filled = (object: KubeObject, length: number) => ({ ...object, spec: { big: 'x'.repeat(length) } });
  world.server.update(MACHINE, 'owner', (object) => {
    let [fits, tooLong] = [0, 2 ** 21];
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      if (storedRefusal(filled(object, middle)) === undefined) fits = middle;
      else tooLong = middle;
    }
    return filled(object, fits - room);
  });
}

function makeRoom(world: World): void {
  world.server.update(MACHINE, 'owner', (object) => ({ ...object, spec: {} }));
}

/** Writes of the bridge on the machine that were tried since. */
const patchesIn = (world: World, from: number) =>
  world.calls.slice(from).filter(({ point }) => point === 'patch machines/logs').length;
/** One every two seconds would be a storm: results that wait for a record are handed over again and again. */
const isStorm = (patches: number, ms: number) => patches > ms / 2_000;

/** That it cannot be written down is told by an Event, as the API server said it. */
function expectTold(world: World): void {
  expect(world.events).toContainEqual(
    expect.objectContaining({ reason: 'TeardownHeld', message: expect.stringContaining('HTTP 500') }),
  );
}

describe('an object that is full', () => {
  it('is gone when its resource is, though nothing could be said on it meanwhile (P4, P7)', async () => {
    const world = await createWorld({ seed: 31, deletionMs: 3 * MINUTE });
    fill(world, ROOM);
    const written: unknown[] = [];
    world.server.onWrite(({ after }) => void written.push(after?.metadata.annotations?.[RECORD]));
    const [from, began] = [world.calls.length, world.time.now()];
    world.server.delete(MACHINE, 'owner');
    await world.run(HOUR, () => world.server.get(MACHINE) === undefined);
    const patches = patchesIn(world, from);
    expect([patches > 2, isStorm(patches, world.time.now() - began)]).toEqual([true, false]);
    expectTold(world);
    await finish(world);
    expect([world.server.get(MACHINE), world.cloud.find(RESOURCE)]).toEqual([undefined, undefined]);
    expect(written.filter((record) => record !== undefined)).toEqual([]);
    expect(world.promises.broken).toEqual([]);
  });

  it('is held when its resource is somebody else’s, and says so once there is room; a release ends it (P2, V7)', async () => {
    const world = await createWorld({ seed: 32, tags: { [OWNER_TAG]: 'somebody else' } });
    fill(world, ROOM);
    const from = world.calls.length;
    world.server.delete(MACHINE, 'owner');
    await world.run(HALF_AN_HOUR);
    expect([hasOurEntry(world.server.get(MACHINE)), recordOn(world.server.get(MACHINE))]).toEqual([true, undefined]);
    expect(isStorm(patchesIn(world, from), HALF_AN_HOUR)).toBe(false);
    expectTold(world);
    makeRoom(world);
    await world.run(HOUR, () => recordOn(world.server.get(MACHINE)) !== undefined);
    expect(recordOn(world.server.get(MACHINE))).toMatchObject({ phase: 'Held', reason: 'NotOwned' });
    world.server.update(MACHINE, 'person', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [RELEASE]: uidOf(world) } },
    }));
    await finish(world);
    expect(world.server.get(MACHINE)).toBeUndefined();
    expect(world.cloud.find(RESOURCE)).toBeDefined();
    expect(world.promises.broken).toEqual([]);
  });

  it('gets its entry as soon as there is room, and is no storm before (K11)', async () => {
    const world = await createWorld({ seed: 33 });
    world.server.update(MACHINE, 'person', (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [] },
    }));
    fill(world, 0);
    const from = world.calls.length;
    await world.run(HALF_AN_HOUR);
    expect(hasOurEntry(world.server.get(MACHINE))).toBe(false);
    expect(patchesIn(world, from)).toBeGreaterThan(1);
    expect(isStorm(patchesIn(world, from), HALF_AN_HOUR)).toBe(false);
    makeRoom(world);
    await world.run(HOUR, () => hasOurEntry(world.server.get(MACHINE)));
    expect(hasOurEntry(world.server.get(MACHINE))).toBe(true);
  });
});
