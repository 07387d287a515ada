/*
 * Draws one object of a world: which kind, what stands for it outside, when it comes and goes, and what people do about it.
 * Called by draw.ts. Most are ordinary; strange ones are one in four, or nobody would notice what they do to the others.
 */
import { seededRandom } from '../clock.ts';
import { Dice } from './dice.ts';
import {
  DOINGS,
  type Doing,
  type FleetNamespace,
  NAMESPACE_NAMES,
  type ObjectPlan,
  type RulePlan,
  type ThingPlan,
} from './plan.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const STRANGE = 0.25;
/** One in so many objects is of any kind and in any namespace, where most are in some; volumes are in none. */
const ELSEWHERE_EVERY = 4;

/** What an object is drawn from. */
export interface ObjectDraw {
  readonly seed: number;
  readonly index: number;
  readonly rules: readonly RulePlan[];
  readonly activeMs: number;
  readonly hasWords: boolean;
  readonly isFair: boolean;
  readonly isLarge: boolean;
  /** The share of those with a weak proof that come again. */
  readonly comeAgain: number;
  /** Namespaces that most objects are in; all of them alike unless told. */
  readonly crowded?: readonly FleetNamespace[] | undefined;
}

/** Draws the object of an index. */
export function drawObject(draw: ObjectDraw): ObjectPlan {
  const { seed, index, rules, activeMs, hasWords, isFair, isLarge, comeAgain, crowded } = draw;
  const dice = new Dice(seededRandom(seed * 1_000_003 + index * 7_919 + 1));
  const isElsewhere = crowded === undefined || index % ELSEWHERE_EVERY === 0;
  const kinds = (['machines', 'buckets', 'volumes'] as const).filter(
    (kind) => (isElsewhere || kind !== 'volumes') && rules.some((rule) => rule.kind === kind),
  );
  const kind = kinds[dice.below(kinds.length)] ?? 'machines';
  const namespaces = isElsewhere ? NAMESPACE_NAMES : crowded;
  const namespace = namespaces[dice.below(namespaces.length)];
  const isStrange = !isFair && dice.chance(STRANGE);
  const createdAt = dice.below(activeMs * 0.6);
  const deletedAt = createdAt + 20 * SECOND + dice.below(activeMs * 0.4 - 20 * SECOND);
  const labels = dice.chance(0.3) ? { disk: 'yes' } : {};
  const under = rules.filter((rule) => rule.kind === kind);
  const foreign = isStrange && dice.chance(0.4) ? { foreign: { offAt: deletedAt + dice.below(20 * MINUTE) } } : {};
  const isWeak = under.some(({ binding }) => binding !== 'uid');
  return {
    ...{ index, kind, labels, createdAt, deletedAt, ...foreign },
    ...(kind === 'volumes' || namespace === undefined ? {} : { namespace }),
    things: under.map((rule) => drawThing(dice, rule, { isStrange, isLarge })),
    isRetained: isStrange && hasWords && dice.chance(0.2),
    doings: isStrange ? drawDoings({ dice, deletedAt, hasWords }, under) : [],
    ...(isWeak && comeAgain > 0 && dice.chance(comeAgain) ? { comesAgain: true as const } : {}),
  };
}

function drawThing(
  dice: Dice,
  { name }: RulePlan,
  { isStrange, isLarge }: { readonly isStrange: boolean; readonly isLarge: boolean },
): ThingPlan {
  return {
    rule: name,
    tags: isStrange ? dice.pick('own', 'own', 'own', 'stranger', 'keep') : 'own',
    isThere: !isStrange || dice.chance(0.9),
    isNamed: !isStrange || dice.chance(0.9),
    // Each slow one is looked at again and again: of many fewer are enough.
    deletionMs: isLarge && dice.chance(0.7) ? 0 : dice.pick(0, 0, 0, 0, 25 * SECOND, 3 * MINUTE),
  };
}

/** What two that both lead may be told, too. */
const HARMLESS: readonly Doing[] = ['retry', 'approve', 'touch', 'strip'];

function drawDoings(
  { dice, deletedAt, hasWords }: { readonly dice: Dice; readonly deletedAt: number; readonly hasWords: boolean },
  rules: readonly RulePlan[],
): ObjectPlan['doings'] {
  const doings = hasWords ? DOINGS : HARMLESS;
  return Array.from({ length: dice.below(5) }, () => ({
    at: deletedAt + dice.pick(1, 50, 3_000, 180_000, 1_800_000) * dice.roll(),
    doing: doings[dice.below(doings.length)] ?? 'touch',
    rule: rules[dice.below(rules.length)]?.name ?? 'machines',
  }));
}
