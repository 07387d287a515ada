/*
 * Two bridges that stand for leader, under virtual time: at every step of a deletion one stands still, dies, or is robbed of its
 * lease. Every promise is kept, nobody acts without the lease (V3), and where nobody meddles with it nobody shares it.
 */
import { describe, expect, it } from 'vitest';
import { startBridge } from '../../bridge/bridge.ts';
import { Candidate } from '../../bridge/leader.ts';
import { ApiError } from '../../bridge/ports.ts';
import { createDispatch } from '../../functions/dispatch.ts';
import { annotate, createWorld, type DeletionOptions, deleteAndPublish, finish, MACHINE, MINUTE } from './deletion.ts';
import { RELEASE } from './installation.ts';
import { ALL_KINDS, sweepSingles } from './sweep.ts';
import type { World } from './world.ts';
import type { Product } from './world-options.ts';

const PATIENCE = { timeout: 480_000 };

/** A deletion under two bridges; the second one stands by. Notes when both lead. */
async function underElection(options: DeletionOptions & { readonly secondSkew?: number }): Promise<World> {
  const onCall = (world: World, call: number) => {
    if (world.holders.length > 1) world.promises.note('K18', `leading at once: ${world.holders.join(', ')}`);
    options.onCall?.(world, call);
  };
  const world = await createWorld({ ...options, election: true, onCall });
  world.startBridge({ skew: options.secondSkew ?? 0 });
  await world.run(10_000);
  world.server.delete(MACHINE, 'owner');
  await finish(world);
  return world;
}

describe('two bridges that stand for leader', () => {
  it.each([0, -30_000, 30_000])(
    'K18 keep every promise with any one fault at every call, clocks %s ms apart',
    PATIENCE,
    async (secondSkew) => {
      const { runs, broken } = await sweepSingles(
        (faults) => underElection({ seed: 11, faults, secondSkew }),
        secondSkew === 0 ? ALL_KINDS : ALL_KINDS.filter(({ kind }) => kind === 'stall' || kind === 'crash'),
      );
      expect(broken.join('\n\n')).toBe('');
      expect(runs).toBeGreaterThan(40);
    },
  );

  it.each([
    { what: 'takes it at any call', from: 0, meddle: (world: World) => world.leases.put({ holder: 'somebody' }) },
    // A bridge that starts and finds none writes one at once; until the leader looks again, two seconds later, both lead.
    { what: 'deletes it at any call once both have seen it', from: 2, meddle: (world: World) => world.leases.delete() },
  ])('K18 keep every promise when somebody $what', PATIENCE, async ({ from, meddle }) => {
    const { length } = (await underElection({ seed: 12 })).calls;
    const broken: string[] = [];
    for (let at = from; at < length; at += 1) {
      const onCall = (world: World, call: number) => call === at && meddle(world);
      const world = await underElection({ seed: 12, onCall });
      if (world.promises.broken.length > 0) broken.push(world.report());
    }
    expect(broken.join('\n\n')).toBe('');
    expect(length).toBeGreaterThan(10);
  });

  it('K18 keep every promise while both lead, because the lease was deleted or blanked', PATIENCE, async () => {
    const { length } = (await underElection({ seed: 15 })).calls;
    for (const meddle of [
      (world: World) => world.leases.put({ holder: '' }),
      (world: World) => world.leases.delete(),
    ]) {
      for (let at = 0; at < length; at += 1) {
        const onCall = (world: World, call: number) => call === at && meddle(world);
        const world = await underElection({ seed: 15, onCall });
        const broken = world.promises.broken.filter((text) => !text.startsWith('K18'));
        expect(broken, world.report()).toEqual([]);
      }
    }
  });

  it('V1 a release under the one that follows waits for what the one that stands still has sent', async () => {
    const world = await createWorld({ seed: 13, election: true });
    world.startBridge();
    await world.run(10_000);
    world.requests.hold(20 * MINUTE);
    await deleteAndPublish(world);
    const [first] = world.processes;
    if (first === undefined) throw new Error('there is no bridge');
    world.crash(first);
    annotate(world, { [RELEASE]: world.server.get(MACHINE)?.metadata.uid ?? '' });
    await finish(world);
    expect(world.promises.broken).toEqual([]);
    expect(world.server.get(MACHINE)).toBeUndefined();
  });

  it('V3 are found out when one acts without the lease', PATIENCE, async () => {
    const careless: Product = {
      startBridge: (options) => startBridge({ ...options, lease: { holds: () => true } }),
      ...{ createDispatch, Candidate, ApiError },
    };
    const kinds = [{ kind: 'stall', side: 'after' } as const];
    const { broken } = await sweepSingles((faults) => underElection({ seed: 14, faults, product: careless }), kinds);
    expect(broken.join('\n')).toContain('acts without the lease');
  });
});
