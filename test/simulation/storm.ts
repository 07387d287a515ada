/*
 * One deletion in bad weather, drawn by a seed: copies, delays and another order in the queues, lagging watches, clocks
 * that are off, a second leader, crashes and errors anywhere, other controllers and people at work. Called by the tests.
 */
import { seededRandom } from './clock.ts';
import { annotate, createWorld, finish, MACHINE, MINUTE } from './deletion.ts';
import { ON_DELETE, RELEASE } from './installation.ts';
import type { Fault } from './process.ts';
import { ALL_KINDS } from './sweep.ts';
import type { World } from './world.ts';
import type { Product } from './world-options.ts';

const FOREIGN = 'example.com/other';
/** Calls among which faults fall, and the longest time until people act. */
const CALLS_MAX = 45;
const ACT_MAX_MS = 3 * 60 * MINUTE;

/** Draws the weather of a seed and lets one deletion go through it. */
export async function sailThrough(seed: number, product?: Product): Promise<World> {
  const random = seededRandom(seed);
  const below = (max: number) => Math.floor(random() * max);
  const pick = <T>(...choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0];
  const faults: readonly Fault[] = Array.from({ length: below(4) }, () => ({
    call: below(CALLS_MAX),
    ...(ALL_KINDS[below(ALL_KINDS.length)] ?? { kind: 'crash', side: 'after' }),
  }));
  const lagMs = pick(0, 2_000, 40_000);
  const world = await createWorld({
    ...{ seed, faults, deletionMs: pick(0, 0, 25_000, 10 * MINUTE), restartMs: pick(100, 5_000, 10 * MINUTE) },
    queue: { copies: pick(0, 0.2, 0.5), delayMs: pick(0, 2_000, 90_000), shuffled: random() < 0.5 },
    functionSkew: pick(0, -30_000, 30_000),
    watchLag: (chance) => chance() * lagMs,
    finalizers: pick([], [], [FOREIGN]),
    ...(product === undefined ? {} : { product }),
  });
  const hasTwoLeaders = random() < 0.3;
  if (hasTwoLeaders) world.startBridge({ skew: pick(0, -30_000, 30_000) });
  const others = () =>
    world.server.update(MACHINE, 'other controller', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        finalizers: object.metadata.finalizers?.filter((entry) => entry !== FOREIGN) ?? [],
      },
    }));
  const uid = world.server.get(MACHINE)?.metadata.uid ?? '';
  const word = pick(undefined, undefined, { [RELEASE]: uid }, { [RELEASE]: `${uid}/now` }, { [ON_DELETE]: 'Retain' });
  world.server.delete(MACHINE, 'owner');
  world.time.after(below(pick(100, 5 * MINUTE)), others);
  // What a leader knows of what was sent leans on the lease being nobody else's: no words under two that hold it.
  if (word !== undefined && !hasTwoLeaders) world.time.after(below(pick(200, ACT_MAX_MS)), () => annotate(world, word));
  await finish(world);
  return world;
}
