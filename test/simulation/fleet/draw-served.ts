/*
 * Draws which namespaces the bridges of a world serve, and what happens to that: most worlds serve the whole cluster at all times. Called by
 * draw.ts. It throws dice of its own, so that all else of a world is as it would be without.
 */
import { seededRandom } from '../clock.ts';
import { Dice } from './dice.ts';
import {
  type Act,
  BINDERS,
  type FleetNamespace,
  type FleetPlan,
  type Happening,
  NAMESPACE_NAMES,
  SERVED_HAPPENINGS,
} from './plan.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** One in so many worlds serves some namespaces. */
const SOME_EVERY = 3;
/** Upgrades start bridges again, which read all that is pending: no more of them in a large world. */
const ACTS_MAX = 9;
/** One in so many worlds serves all of the cluster for a time, and some namespaces for another; the fewer the larger they are. */
const CHANGES_EVERY = 4;
const CHANGES_EVERY_LARGE = 8;
const CHANGES_MAX = 4;
const CHANGES_MAX_LARGE = 2;
const ENDINGS: ReadonlySet<Happening> = new Set<Happening>(['drainToSome', 'rollBackToSome', 'endNamespace']);
/** In one of so many of them somebody else gives the rights. */
const OTHERS_EVERY = 4;

/** What it is drawn from. */
export interface ServedDraw {
  readonly seed: number;
  readonly activeMs: number;
  readonly isFair: boolean;
  /** In a large world what ends a namespace comes late: nothing is created there until nobody holds it up any more. */
  readonly endsFrom: number;
}

/** The namespaces, and the acts that only such a world has; nothing where the whole cluster is served. */
export function drawServed(draw: ServedDraw): Pick<FleetPlan, 'served' | 'boundBy' | 'acts'> {
  const { seed, isFair } = draw;
  const dice = new Dice(seededRandom(seed * 2_654_435 + 3));
  const isSome = dice.below(SOME_EVERY) === 0;
  const changes = isFair ? [] : drawChanges(draw, isSome);
  if (!isSome && changes.length === 0) return { acts: [] };
  const { served, acts } = isSome ? drawSome(draw, dice) : { served: 'all' as const, acts: [] };
  const binders = new Dice(seededRandom(seed * 3_266_489 + 9));
  const boundBy = binders.below(OTHERS_EVERY) === 0 ? { boundBy: binders.pick(...BINDERS) } : {};
  return { served, ...boundBy, acts: [...acts, ...changes] };
}

function drawSome(
  { activeMs, isFair, endsFrom }: ServedDraw,
  dice: Dice,
): { readonly served: readonly FleetNamespace[]; readonly acts: readonly Act[] } {
  const first = dice.below(NAMESPACE_NAMES.length);
  const served = NAMESPACE_NAMES.filter((_, index) => index === first || dice.chance(0.5));
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

/** To the whole cluster, and back. In a large world the way back comes late, as all that ends something does. */
function drawChanges({ seed, activeMs, endsFrom }: ServedDraw, isSome: boolean): readonly Act[] {
  const dice = new Dice(seededRandom(seed * 1_597_334 + 5));
  const isLarge = endsFrom > 0;
  if (dice.below(isLarge ? CHANGES_EVERY_LARGE : CHANGES_EVERY) !== 0) return [];
  const drawn = (_: unknown, index: number): Act => {
    const at = dice.below(activeMs);
    // What begins with some namespaces can only serve more first, and the other way round.
    const isWide = index > 0 ? dice.chance(0.5) : isSome;
    const change = isWide ? 'serveAll' : dice.pick('drainToSome', 'rollBackToSome');
    const happening = index > 0 && dice.chance(0.4) ? dice.pick('endNamespace', ...SERVED_HAPPENINGS) : change;
    return {
      at: ENDINGS.has(happening) ? endsFrom + (1 - endsFrom / activeMs) * at : at,
      happening,
      forMs: dice.pick(10 * SECOND, 2 * MINUTE, 12 * MINUTE),
      chance: dice.roll(),
    };
  };
  return Array.from({ length: 1 + dice.below(isLarge ? CHANGES_MAX_LARGE : CHANGES_MAX) }, drawn).sort(
    (one, other) => one.at - other.at,
  );
}
