/*
 * One deletion under virtual time and without faults: the real bridge and the real dispatch, what it costs and how long it
 * takes. With a fault at every call: one-deletion.slow.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { createWorld, deleteOne, finish, HOUR, MACHINE } from './deletion.ts';

const SLOW_MS = 25_000;

describe('one deletion without faults', () => {
  it('is the same run for the same seed, and another for another', async () => {
    const [first, second, other] = [
      await deleteOne({ seed: 1 }),
      await deleteOne({ seed: 1 }),
      await deleteOne({ seed: 2 }),
    ];
    expect(first.report()).toBe(second.report());
    expect(first.report()).not.toBe(other.report());
  });

  it('P8: costs one GET and one PATCH, no Event and no annotation, and keeps every promise', async () => {
    const world = await createWorld({ seed: 1 });
    const before = world.calls.length;
    let annotations: unknown;
    world.server.onWrite(({ before: object }) => {
      annotations = object?.metadata.annotations;
    });
    world.server.delete(MACHINE, 'owner');
    await finish(world);
    const calls = world.calls.slice(before).filter(({ process }) => process === 'bridge-1');
    expect(calls.map(({ point }) => point).filter((point) => !/^receive/.test(point))).toEqual([
      'get machines/logs',
      'send requests',
      'patch machines/logs',
      'delete results',
    ]);
    expect({ broken: world.promises.broken, events: world.events, annotations }).toEqual({
      ...{ broken: [], events: [], annotations: undefined },
    });
    expect(world.server.get(MACHINE)).toBeUndefined();
  });

  it('P8: costs no more where some namespaces are served, each with a watch of its own', async () => {
    const world = await createWorld({ seed: 1, served: { namespaces: ['team-a', 'team-b'], leaving: [] } });
    const watches = world.calls.filter(({ point }) => point === 'watch machines from the start');
    expect(watches).toHaveLength(2);
    const before = world.calls.length;
    world.server.delete(MACHINE, 'owner');
    await finish(world);
    const calls = world.calls.slice(before).filter(({ process }) => process === 'bridge-1');
    expect(calls.filter(({ point }) => /machines\/logs/.test(point)).map(({ point }) => point)).toEqual([
      'get machines/logs',
      'patch machines/logs',
    ]);
    expect(world.promises.broken).toEqual([]);
  });

  it('is done within a second when the resource goes at once, and soon after it when it goes slowly', async () => {
    const durations = await Promise.all(
      [0, SLOW_MS].map(async (deletionMs) => {
        const world = await createWorld({ seed: 1, deletionMs });
        const from = world.time.now();
        world.server.delete(MACHINE, 'owner');
        expect(await world.run(HOUR, () => world.server.get(MACHINE) === undefined)).toBe(true);
        return world.time.now() - from;
      }),
    );
    expect(durations[0]).toBeLessThan(1_000);
    expect(durations[1]).toBeLessThan(2 * SLOW_MS);
  });
});
