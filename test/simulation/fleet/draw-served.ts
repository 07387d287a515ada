/*
 * Draws which namespaces the bridges of a world serve, and what happens to that: most worlds serve the whole cluster. Called by
 * draw.ts. It throws dice of its own, so that all else of a world is as it would be without.
 */
import { seededRandom } from '../clock.ts';
import { Dice } from './dice.ts';
import { type Act, FLEET_NAMESPACES, type FleetNamespace, type FleetPlan, SERVED_HAPPENINGS } from './plan.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** One in so many worlds serves some namespaces. */
const SOME_EVERY = 3;
/** Upgrades start bridges again, which read all that is pending: no more of them in a large world. */
const ACTS_MAX = 9;

/** What it is drawn from. */
export interface ServedDraw {
  readonly seed: number;
  readonly activeMs: number;
  readonly isFair: boolean;
  /** In a large world what ends a namespace comes late: nothing is created there until nobody holds it up any more. */
  readonly endsFrom: number;
}

/** The namespaces, and the acts that only such a world has; nothing where the whole cluster is served. */
export function drawServed({ seed, activeMs, isFair, endsFrom }: ServedDraw): Pick<FleetPlan, 'served' | 'acts'> {
  const dice = new Dice(seededRandom(seed * 2_654_435 + 3));
  if (dice.below(SOME_EVERY) !== 0) return { acts: [] };
  const all = Object.keys(FLEET_NAMESPACES).filter((name): name is FleetNamespace => name in FLEET_NAMESPACES);
  const first = dice.below(all.length);
  const served = all.filter((_, index) => index === first || dice.chance(0.5));
  if (isFair) return { served, acts: [] };
  const happenings = [...SERVED_HAPPENINGS, 'endNamespace' as const].filter(() => dice.chance(0.6));
  const drawn = (): Act => {
    const at = dice.below(activeMs);
    const happening = happenings[dice.below(happenings.length)] ?? 'leaveNamespace';
    return {
      at: happening === 'endNamespace' ? endsFrom + (1 - endsFrom / activeMs) * at : at,
      happening,
      forMs: dice.pick(10 * SECOND, 2 * MINUTE, 12 * MINUTE),
      chance: dice.roll(),
    };
  };
  return { served, acts: Array.from({ length: dice.below(ACTS_MAX) }, drawn) };
}
