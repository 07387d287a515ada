/*
 * One deletion under virtual time: the real bridge and the real dispatch, with a crash, an error, a stall at every port
 * call, in every order, with copies, delays, two leaders and people at work. Every promise is asked at every step.
 * A failing run prints its seed, its faults and its calls: the same options give the same run again.
 */
import { describe, expect, it } from 'vitest';
import {
  annotate,
  createWorld,
  type DeletionOptions,
  deleteOne,
  finish,
  MACHINE,
  MINUTE,
  RESOURCE,
  uidOf,
} from './deletion.ts';
import { hasOurEntry, isHeld, ON_DELETE, OWNER_TAG, RELEASE, recordOn } from './installation.ts';
import type { Fault } from './process.ts';
import { sailThrough } from './storm.ts';
import { ALL_KINDS, CRASHES, sweepPairs, sweepSingles } from './sweep.ts';
import type { World } from './world.ts';

const SLOW_MS = 25_000;
const PATIENCE = { timeout: 600_000 };
const FOREIGN = 'example.com/other';

/** A resource that somebody else owns: refused, then released by a person, and kept. */
async function refuseAndRelease(faults: readonly Fault[]): Promise<World> {
  const world = await createWorld({ seed: 4, faults, tags: { [OWNER_TAG]: 'somebody else' } });
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  const object = world.server.get(MACHINE);
  if (object === undefined || !isHeld(object)) world.promises.note('P1', 'what was refused is not held');
  if (recordOn(object)?.reason !== 'NotOwned') world.promises.note('P7', 'the record does not say why');
  annotate(world, { [RELEASE]: object?.metadata.uid ?? '' });
  await finish(world);
  if (hasOurEntry(world.server.get(MACHINE))) world.promises.note('P4', 'what was released is still held');
  if (world.cloud.find(RESOURCE) === undefined) world.promises.note('P2', 'the resource of somebody else is gone');
  return world;
}

async function underTwoLeaders(options: DeletionOptions): Promise<World> {
  const world = await createWorld(options);
  world.startBridge({ watchLag: () => 3_000 });
  await world.run(10_000);
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  return world;
}

describe('one deletion with faults', () => {
  it.each([
    { what: 'a resource that goes at once', deletionMs: 0 },
    { what: 'a resource that goes slowly', deletionMs: SLOW_MS },
  ])('P5: survives any one fault at every call, with $what', PATIENCE, async ({ deletionMs }) => {
    const { runs, broken } = await sweepSingles((faults) => deleteOne({ seed: 1, faults, deletionMs }), ALL_KINDS);
    expect(broken.join('\n\n')).toBe('');
    expect(runs).toBeGreaterThan(130);
  });

  it(
    'P5, P10: survives any one fault at every call where two namespaces are served, and lists of both',
    PATIENCE,
    async () => {
      const served = { namespaces: ['team-b', 'team-a'], leaving: [] };
      const { runs, broken } = await sweepSingles((faults) => deleteOne({ seed: 1, faults, served }), ALL_KINDS);
      expect(broken.join('\n\n')).toBe('');
      expect(runs).toBeGreaterThan(130);
    },
  );

  it.each([
    { what: 'a resource that goes at once', deletionMs: 0, least: 500 },
    { what: 'a resource that goes slowly', deletionMs: SLOW_MS, least: 1_500 },
  ])('P5: survives two crashes in every order, with $what', PATIENCE, async ({ deletionMs, least }) => {
    const { runs, broken } = await sweepPairs((faults) => deleteOne({ seed: 1, faults, deletionMs }), CRASHES);
    expect(broken.join('\n\n')).toBe('');
    expect(runs).toBeGreaterThan(least);
  });

  it('P5: survives a crash and an answer that was lost in every order', PATIENCE, async () => {
    const kinds = [{ kind: 'crash', side: 'after' } as const, { kind: 'error', side: 'after' } as const];
    const { broken } = await sweepPairs((faults) => deleteOne({ seed: 2, faults }), kinds);
    expect(broken.join('\n\n')).toBe('');
  });

  it('P1: holds what was refused and frees it on a release, with any one fault at every call', PATIENCE, async () => {
    const { broken } = await sweepSingles(refuseAndRelease, ALL_KINDS);
    expect(broken.join('\n\n')).toBe('');
  });

  it('K18: two leaders at once do no harm, with any one fault at every call', PATIENCE, async () => {
    const { broken } = await sweepSingles((faults) => underTwoLeaders({ seed: 6, faults }), ALL_KINDS);
    expect(broken.join('\n\n')).toBe('');
  });

  it('P6: copies, delays, another order and whatever else a seed brings do no harm', PATIENCE, async () => {
    const broken: string[] = [];
    for (let seed = 1; seed <= 200; seed += 1) {
      const world = await sailThrough(seed);
      if (world.promises.broken.length > 0) broken.push(world.report());
    }
    expect(broken.slice(0, 3).join('\n\n')).toBe('');
  });
});

describe('others at work', () => {
  it.each([
    { who: 'another controller that takes its own entry off (K1, K2)', act: takeForeignOff },
    { who: 'a release', act: (world: World) => annotate(world, { [RELEASE]: uidOf(world) }) },
    { who: 'a release at once', act: (world: World) => annotate(world, { [RELEASE]: `${uidOf(world)}/now` }) },
    { who: 'Retain', act: (world: World) => annotate(world, { [ON_DELETE]: 'Retain' }) },
    { who: 'somebody who strips all entries (K27)', act: stripAll },
  ])('do no harm at any call: $who', PATIENCE, async ({ act }) => {
    const { length } = (await deleteOne({ seed: 9, finalizers: [FOREIGN] })).calls;
    const broken: string[] = [];
    for (let at = 0; at < length; at += 1) {
      const onCall = (world: World, call: number) => call === at && act(world);
      const world = await deleteOne({ seed: 9, finalizers: [FOREIGN], onCall });
      if (world.promises.broken.length > 0) broken.push(world.report());
      expect(world.time.now()).toBeGreaterThan(MINUTE);
    }
    expect(broken.join('\n\n')).toBe('');
  });

  function takeForeignOff(world: World): void {
    world.server.update(MACHINE, 'other controller', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        finalizers: object.metadata.finalizers?.filter((entry) => entry !== FOREIGN) ?? [],
      },
    }));
  }

  function stripAll(world: World): void {
    world.server.update(MACHINE, 'somebody', (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [] },
    }));
  }
});
