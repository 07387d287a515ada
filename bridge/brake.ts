/*
 * The brake of a rule: how many deletions may be requested within a window. Tokens are taken from the rule's status in
 * blocks of a tenth of the limit, guarded by its resourceVersion, before anything is sent, so that a crash wastes a block
 * at most and two leaders never exceed the limit together; a block that the answer does not show to be stored gives nothing.
 * What lapsed unused of the last block goes back with the write that takes the next one, or when the process ends in order.
 * Called by publishing.ts, once per deletion (trap V21).
 */
import {
  blockKey,
  countsFor,
  fitted,
  nextSize,
  type Reservation,
  readBlocks,
  TOKEN_LIVES_MS,
  writeBlocks,
} from './budget-blocks.ts';
import { BUDGET_NOT_KEPT, lostOf } from './kept-status.ts';
import type { HeldBack } from './observation.ts';
import type { Clock, Cluster, Random } from './ports.ts';
import type { Rule } from './rule.ts';
import { BUDGET_RESERVATIONS_MAX } from './rule-facts.ts';
import { overStatus, rulePath, statusOf } from './teardown-rules.ts';

const CONFLICTS_MAX = 5;
/** How long it counts that a budget had nothing left: all that wait for it ask in the same moment. */
const NONE_LASTS_MS = 5_000;
/** How often it is tried whether a budget that could not be written is stored at last. */
const UNKEPT_MS = 15_000;

/**
 * Whether a deletion may be requested: until `lapsesAt` (monotonic ms), when its block stops covering it; or not, and from
 * when it is worth asking again (`until`, ms since the epoch), and why where the budget cannot be counted.
 */
export type Grant = { readonly ok: true; readonly lapsesAt: number } | Refusal;

interface Refusal extends HeldBack {
  readonly ok: false;
}

/** What asking for a block came to; `conflict`: somebody else wrote the rule's status, and nothing was taken. */
type Asked = { readonly kind: 'taken' | 'conflict' } | { readonly kind: 'none'; readonly refusal: Refusal };

/** The block in hand. */
interface Block extends Pick<Reservation, 'time' | 'size' | 'holder'> {
  /** The name of its rule. */
  readonly rule: string;
  left: number;
  /** Monotonic ms. */
  readonly takenAt: number;
}

/** What brakes need. */
export interface BrakesOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Tells this process's blocks from those of others. */
  readonly random: Random;
}

/** The brakes of all rules that have a budget. */
export class Brakes {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #blocks = new Map<string, Block>();
  /** Per rule, the blocks that counted when they were read or written last, and when each was taken or met. */
  readonly #met = new Map<string, readonly Reservation[]>();
  readonly #asking = new Map<string, Promise<Asked>>();
  /** Per rule, that its budget had nothing, and when that was asked (monotonic ms). */
  readonly #none = new Map<string, { readonly rule: Rule; readonly refusal: Refusal; readonly askedAt: number }>();
  #holder: string | undefined;

  constructor({ cluster, clock, random }: BrakesOptions) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#random = random;
  }

  /** Takes one token of a rule's budget. Throws when the rule cannot be read or written. */
  async take(rule: Rule): Promise<Grant> {
    const { budget } = rule;
    if (budget === undefined) return { ok: true, lapsesAt: Number.POSITIVE_INFINITY };
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; ) {
      const lapsesAt = this.#use(rule.uid);
      if (lapsesAt !== undefined) return { ok: true, lapsesAt };
      const refusal = this.#lastRefusal(rule);
      if (refusal !== undefined) return refusal;
      const asked = await this.#askOnce(rule, budget);
      if (asked.kind === 'none') {
        this.#none.set(rule.uid, { rule, refusal: asked.refusal, askedAt: this.#clock.monotonic() });
        return asked.refusal;
      }
      // A block that others have used up before is no failure: each one lets somebody go, until there is none left.
      if (asked.kind === 'conflict') conflicts += 1;
    }
    throw new Error(`taking from the budget of rule ${rule.name}: others were faster ${CONFLICTS_MAX} times`);
  }

  /**
   * Gives back what is left of each block in hand; called when nothing takes any more. Best effort: what is not given back
   * counts as used until it lapses, which makes the brake tighter and never looser.
   */
  async giveBack(): Promise<void> {
    const blocks = [...this.#blocks].filter(([, { left }]) => left > 0);
    this.#blocks.clear();
    await Promise.allSettled(blocks.map(async ([uid, block]) => await this.#giveBack(uid, block)));
  }

  async #giveBack(uid: string, block: Block): Promise<void> {
    const object = await this.#cluster.get(rulePath(block.rule));
    if (object === undefined || object.metadata.uid !== uid) return;
    const at = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const blocks = readBlocks(statusOf(object).budget, new Map(), at);
    const status = { ...statusOf(object), budget: writeBlocks(withoutRest(blocks, block)) };
    await this.#cluster.patch(rulePath(block.rule), overStatus(object.metadata, status), 'status');
  }

  /** Uses a token of the block in hand; undefined when there is none, otherwise when it lapses. */
  #use(uid: string): number | undefined {
    const block = this.#blocks.get(uid);
    if (block === undefined || block.left === 0) return undefined;
    const lapsesAt = block.takenAt + TOKEN_LIVES_MS;
    if (this.#clock.monotonic() >= lapsesAt) return undefined;
    block.left -= 1;
    return lapsesAt;
  }

  /** That there is nothing to take, where somebody has just asked; an edit of the rule may have given it more. */
  #lastRefusal(rule: Rule): Refusal | undefined {
    const none = this.#none.get(rule.uid);
    if (none?.rule !== rule || this.#clock.monotonic() - none.askedAt >= NONE_LASTS_MS) return undefined;
    return none.refusal.until > this.#clock.now() ? none.refusal : undefined;
  }

  /** One block is asked for at a time; whoever waits shares it. */
  #askOnce(rule: Rule, budget: NonNullable<Rule['budget']>): Promise<Asked> {
    const known = this.#asking.get(rule.uid);
    if (known !== undefined) return known;
    const asked = this.#ask(rule, budget).finally(() => this.#asking.delete(rule.uid));
    this.#asking.set(rule.uid, asked);
    return asked;
  }

  async #ask({ name, uid }: Rule, budget: NonNullable<Rule['budget']>): Promise<Asked> {
    const object = await this.#cluster.get(rulePath(name));
    if (object === undefined || object.metadata.uid !== uid) {
      throw new Error(`taking from the budget of rule ${name}: it is not there any more`);
    }
    const at = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const met = this.#met.get(uid) ?? [];
    const blocks = withForgotten(readBlocks(statusOf(object).budget, metTimes(met), at), met);
    const counting = this.#withRestBack(uid, blocks, at.monotonic).filter(
      (block) => countsFor(block, budget.window, at) > 0,
    );
    this.#met.set(uid, counting);
    const size = nextSize(budget.limit, counting);
    if (size === 0) {
      const soonest = Math.min(...counting.map((block) => countsFor(block, budget.window, at)));
      return { kind: 'none', refusal: { ok: false, until: at.now + soonest } };
    }
    const next = { time: at.now, size, holder: this.#name(), metAt: at.monotonic };
    const kept = [...fitted(counting, BUDGET_RESERVATIONS_MAX - 1), next].sort((one, other) => one.time - other.time);
    const status = { ...statusOf(object), budget: writeBlocks(kept) };
    const outcome = await this.#cluster.patch(rulePath(name), overStatus(object.metadata, status), 'status');
    if (outcome.kind !== 'patched') return { kind: 'conflict' };
    if (lostOf(status, outcome.status).includes('budget')) {
      return { kind: 'none', refusal: { ok: false, until: at.now + UNKEPT_MS, notKept: BUDGET_NOT_KEPT } };
    }
    this.#met.set(uid, kept);
    this.#blocks.set(uid, { ...next, rule: name, left: size, takenAt: at.monotonic });
    return { kind: 'taken' };
  }

  /** Without the tokens of the last block that have lapsed: only who has given them out knows that nobody has one. */
  #withRestBack(uid: string, blocks: readonly Reservation[], now: number): readonly Reservation[] {
    const last = this.#blocks.get(uid);
    return last === undefined || now < last.takenAt + TOKEN_LIVES_MS ? blocks : withoutRest(blocks, last);
  }

  /** Drawn at the first use, unlike that of any other process. */
  #name(): string {
    this.#holder ??= Math.floor(this.#random() * 36 ** 10)
      .toString(36)
      .padStart(10, '0');
    return this.#holder;
  }
}

/** When each block was taken or met. */
function metTimes(blocks: readonly Reservation[]): ReadonlyMap<string, number> {
  const met = new Map<string, number>();
  for (const block of blocks) met.set(blockKey(block), Math.max(met.get(blockKey(block)) ?? block.metAt, block.metAt));
  return met;
}

/** Of a status that shows none of the blocks that were met, somebody has dropped them: they count all the same (P5). */
function withForgotten(read: readonly Reservation[], met: readonly Reservation[]): readonly Reservation[] {
  const isForgotten = met.length > 0 && !met.some(({ time }) => read.some((block) => block.time === time));
  return isForgotten ? [...met, ...read] : read;
}

/** Without the tokens of a block that nobody was given. */
function withoutRest(blocks: readonly Reservation[], { left, ...given }: Block): readonly Reservation[] {
  const index = blocks.findIndex((block) => blockKey(block) === blockKey(given) && block.size === given.size);
  const used = given.size - left;
  return blocks.flatMap((block, at) => (at !== index ? block : used === 0 ? [] : { ...block, size: used }));
}
