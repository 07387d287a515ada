/*
 * Draws a world from a seed: its weather and rules here, its objects in draw-objects.ts. Called by fleet.ts. Each object has
 * a chance of its own, so that one that is left out changes no other.
 */
import { seededRandom } from '../clock.ts';
import { ALL_KINDS } from '../sweep.ts';
import { Dice } from './dice.ts';
import { drawObject } from './draw-objects.ts';
import { drawServed } from './draw-served.ts';
import {
  type Act,
  type FleetPlan,
  HAPPENINGS,
  type Happening,
  LATER_FORMS,
  type RulePlan,
  VERSION_HAPPENING,
  type Weather,
} from './plan.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** One in so many worlds has no faults at all: there the price of a deletion is looked at. */
const FAIR_EVERY = 8;
const STATUSES = [409, 422, 429, 500, 503];
/** Objects for which a budget is drawn; larger worlds have so many times more of it. */
const BRAKED = 40;
/**
 * Objects of a world that is not yet large. A larger one has as many acts and crashes: each meets all that is pending, so that a
 * deletion meets as many of them. A bridge that is started again reads all that is pending, and asks for most of it again.
 */
const ACTED = 380;
/** What an act takes away holds up all that is created meanwhile: in a large world it is away for less long. */
const SHORTER = 2;
/** In a large world two that both believe to lead are rare: what happens, happens twice there, and costs as much as in two worlds. */
const TWO_OF_MANY = 0.1;
/** In a large world somebody always holds up an end, and then nothing is created any more: there they come when most has been. */
const ENDINGS: ReadonlySet<Happening> = new Set<Happening>(['endNamespace', 'endKind', 'withdrawRule']);
const LATE = 0.6;
/** In one of so many worlds no proof is asked for buckets; the share of these that come again. In a large one fewer are enough. */
const NONE_EVERY = 6;
const NONE_EVERY_LARGE = 12;
const COME_AGAIN = 0.3;
const COME_AGAIN_LARGE = 0.08;
/** In one of so many worlds bridges of a later version run for a time. */
const LATER_EVERY = 8;
const CHANGES_MAX = 3;

/** Draws a world with so many objects. */
export function drawPlan(seed: number, deletions: number): FleetPlan {
  const dice = new Dice(seededRandom(seed));
  const isFair = dice.below(FAIR_EVERY) === 0;
  const activeMs = dice.pick(20, 40, 90) * MINUTE;
  const isLarge = deletions > ACTED;
  const weather = isFair
    ? fairWeather(dice, activeMs)
    : drawWeather(dice, { activeMs, isLarge, crashShare: Math.min(1, ACTED / deletions) });
  const drawnRules = drawRules(dice, deletions);
  const acts = isFair ? [] : drawActs(dice, { activeMs, deletions });
  // Two that both lead know less of each other than they think: words are for those who are elected.
  const hasWords = !isFair && weather.leaders !== 'two';
  const { rules, comeAgain, ...allowed } = drawProofs(drawnRules, { seed, isFair, isLarge });
  const endsFrom = isLarge ? LATE * activeMs : 0;
  const { acts: servedActs, ...served } = drawServed({ seed, activeMs, isFair, endsFrom });
  const crowded = isLarge && served.served !== 'all' ? served.served : undefined;
  const objects = Array.from({ length: deletions }, (_, index) =>
    drawObject({ seed, index, rules, activeMs, hasWords, isFair, isLarge, comeAgain, crowded }),
  );
  const { acts: versionActs, ...later } = isFair ? { acts: [] } : drawVersions(seed, activeMs);
  const inOrder = [...acts, ...servedActs, ...versionActs].sort((one, other) => one.at - other.at);
  return { seed, weather, rules, ...allowed, ...served, ...later, objects, acts: inOrder };
}

function fairWeather(dice: Dice, activeMs: number): Weather {
  return {
    isFair: true,
    calmAt: activeMs + MINUTE,
    ...{ faultShare: 0, faults: [], restartMs: 5 * SECOND, leaders: 'one', bridgeSkews: [0, 0], functionSkew: 0 },
    ...{ watchFaultShare: 0, watchLagMs: 0, queue: { copies: 0, delayMs: 0, shuffled: false } },
    ...{ refusedShare: 0, lostShare: 0, admission: dice.chance(0.5), admissionLagMs: 0 },
  };
}

function drawWeather(
  dice: Dice,
  {
    activeMs,
    isLarge,
    crashShare,
  }: { readonly activeMs: number; readonly isLarge: boolean; readonly crashShare: number },
): Weather {
  const statuses = STATUSES.map((status) => ({ kind: 'answer', side: 'before', status }) as const);
  const kinds = [...ALL_KINDS.filter(({ kind }) => kind !== 'stall' && kind !== 'crash-others'), ...statuses];
  const skew = () => dice.pick(0, -30 * SECOND, 30 * SECOND);
  return {
    isFair: false,
    calmAt: activeMs + dice.pick(1, 10, 30) * MINUTE,
    faultShare: dice.pick(0, 0.0013, 0.013, 0.065),
    faults: kinds.filter(() => dice.chance(0.5)),
    crashShare,
    restartMs: dice.pick(100, 5 * SECOND, 2 * MINUTE),
    leaders: isLarge ? leadersOfMany(dice) : dice.pick('one', 'election', 'two'),
    bridgeSkews: [skew(), skew()],
    functionSkew: skew(),
    watchFaultShare: dice.pick(0, 0, 0.3, 0.8),
    watchLagMs: dice.pick(0, 0, 2 * SECOND, 40 * SECOND),
    queue: {
      copies: dice.pick(0, 0.1, 0.4),
      delayMs: dice.pick(0, 2 * SECOND, 90 * SECOND),
      shuffled: dice.chance(0.5),
    },
    refusedShare: dice.pick(0, 0, 0.1),
    lostShare: dice.pick(0, 0, 0.05),
    admission: dice.chance(0.6),
    admissionLagMs: dice.pick(0, SECOND, 20 * SECOND),
  };
}

function leadersOfMany(dice: Dice): Weather['leaders'] {
  return dice.chance(TWO_OF_MANY) ? 'two' : dice.pick('one', 'one', 'one', 'one', 'one', 'election');
}

function drawRules(dice: Dice, deletions: number): readonly RulePlan[] {
  const braked = Math.max(1, Math.floor(deletions / BRAKED));
  const term = () => dice.pick('30m', '1h');
  const choices = () => ({
    term: term(),
    whenAbsent: dice.pick('Release', 'Release', 'Hold'),
    whenTargetMissing: dice.pick('Hold', 'Release'),
    deadline: dice.pick('24h', '40m'),
  });
  const waits = { waitFor: { finalizers: ['example.com/other'], atMost: dice.pick('5m', '1h') } };
  const all: readonly RulePlan[] = [
    { name: 'machines', kind: 'machines', handler: 'machine', field: 'machine', binding: 'uid', spec: choices() },
    {
      ...{ name: 'disks', kind: 'machines', handler: 'disk', field: 'disk', binding: 'uid', labels: { disk: 'yes' } },
      spec: { ...choices(), unmatched: dice.pick('Keep', 'Release') },
    },
    {
      ...{ name: 'buckets', kind: 'buckets', handler: 'machine', field: 'bucket', binding: dice.pick('uid', 'name') },
      ...(dice.chance(0.5) ? { tier: 'prod' } : {}),
      spec: { ...choices(), ...(dice.chance(0.5) ? waits : {}) },
    },
    {
      ...{ name: 'volumes', kind: 'volumes', handler: 'disk', field: 'volume', binding: 'uid' },
      spec: { ...choices(), budget: { limit: braked * dice.pick(2, 5, 40), window: dice.pick('1m', '10m') } },
    },
    { name: 'lost', kind: 'gadgets', handler: 'machine', field: 'gadget', binding: 'uid', spec: {} },
  ];
  return all.filter(({ name }) => name === 'machines' || dice.chance(0.75));
}

/**
 * Where what is taken down may be that of another object of the same name, some come again; in some worlds no proof is asked for at
 * all, as the functions allow or not. By dice of its own: all else of a world is as it would be without.
 */
function drawProofs(
  rules: readonly RulePlan[],
  { seed, isFair, isLarge }: { readonly seed: number; readonly isFair: boolean; readonly isLarge: boolean },
) {
  const dice = new Dice(seededRandom(seed * 4_256_233 + 7));
  const every = isLarge ? NONE_EVERY_LARGE : NONE_EVERY;
  const [isNone, isAllowed, mayCome] = [dice.below(every) === 0, dice.chance(0.75), dice.chance(0.5)];
  const without = rules.map((rule) =>
    isNone && rule.name === 'buckets' ? { ...rule, binding: 'none' as const } : rule,
  );
  const hasNone = without.some(({ binding }) => binding === 'none');
  const isWeak = without.some(({ binding }) => binding !== 'uid');
  return {
    rules: without,
    comeAgain: !isFair && isWeak && (hasNone || mayCome) ? (isLarge ? COME_AGAIN_LARGE : COME_AGAIN) : 0,
    ...(hasNone && isAllowed ? { allowsNone: true as const } : {}),
  };
}

/** Bridges of a later version that are rolled back, and may come again; by dice of its own. */
function drawVersions(seed: number, activeMs: number): Pick<FleetPlan, 'later' | 'acts'> {
  const dice = new Dice(seededRandom(seed * 5_915_587 + 11));
  if (dice.below(LATER_EVERY) !== 0) return { acts: [] };
  const later = dice.pick(...LATER_FORMS);
  const drawn = (): Act => ({ at: dice.below(activeMs), happening: VERSION_HAPPENING, forMs: 0, chance: 0 });
  return { later, acts: Array.from({ length: 1 + dice.below(CHANGES_MAX) }, drawn) };
}

/** As many in a large world as in a small one, and shorter. */
function drawActs(
  dice: Dice,
  { activeMs, deletions }: { readonly activeMs: number; readonly deletions: number },
): readonly Act[] {
  const happenings = HAPPENINGS.filter(() => dice.chance(0.35));
  if (happenings.length === 0) return [];
  const isLarge = deletions > ACTED;
  const drawn = (): Act => {
    const at = dice.below(activeMs);
    const happening = happenings[dice.below(happenings.length)] ?? 'compact';
    const forMs = dice.pick(10 * SECOND, 2 * MINUTE, 12 * MINUTE) / (isLarge ? SHORTER : 1);
    const isLate = isLarge && ENDINGS.has(happening);
    return {
      at: isLate ? LATE * activeMs + (1 - LATE) * at : at,
      happening,
      forMs: Math.max(10 * SECOND, forMs),
      chance: dice.roll(),
    };
  };
  return Array.from({ length: dice.below(12) }, drawn).sort((one, other) => one.at - other.at);
}
