/*
 * The brake of a rule: how many deletions may be requested within a window. Tokens are taken from the rule's status in
 * blocks of a tenth of the limit, guarded by its resourceVersion, before anything is sent, so that a crash wastes a block
 * at most and two leaders never exceed the limit together. Called by publishing.ts, once per deletion (trap V21).
 */
import * as z from 'zod/mini';
import { guards } from './finalizer.ts';
import type { Clock, Cluster, KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import { BUDGET_RESERVATIONS_MAX } from './rule-facts.ts';
import { rulePath, statusOf } from './teardown-rules.ts';

/** Tokens that were taken and not used lapse after this long. */
export const TOKEN_LIVES_MS = 60_000;
const CONFLICTS_MAX = 5;

const budgetSchema = z.object({
  reservations: z._default(z.array(z.object({ time: z.string(), size: z.int() })), []),
});

/**
 * Whether a deletion may be requested: until `lapsesAt` (monotonic ms), when its block stops covering it; or not, and from
 * when it is worth asking again (`until`, ms since the epoch).
 */
export type Grant = { readonly ok: true; readonly lapsesAt: number } | { readonly ok: false; readonly until: number };

/** What asking for a block came to; `conflict`: somebody else wrote the rule's status, and nothing was taken. */
type Asked = { readonly kind: 'taken' | 'conflict' } | { readonly kind: 'none'; readonly until: number };

/** A block in the rule's status; it counts for the window and a minute, used or not. */
interface Reservation {
  /** ms since the epoch. */
  readonly time: number;
  readonly size: number;
}

interface Block {
  left: number;
  /** Monotonic ms. */
  readonly takenAt: number;
}

/** The brakes of all rules that have a budget. */
export class Brakes {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #blocks = new Map<string, Block>();
  readonly #asking = new Map<string, Promise<Asked>>();

  constructor({ cluster, clock }: { readonly cluster: Cluster; readonly clock: Clock }) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Takes one token of a rule's budget. Throws when the rule cannot be read or written. */
  async take(rule: Rule): Promise<Grant> {
    const { budget } = rule;
    if (budget === undefined) return { ok: true, lapsesAt: Number.POSITIVE_INFINITY };
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; ) {
      const lapsesAt = this.#use(rule.uid);
      if (lapsesAt !== undefined) return { ok: true, lapsesAt };
      const asked = await this.#askOnce(rule, budget);
      if (asked.kind === 'none') return { ok: false, until: asked.until };
      // A block that others have used up before is no failure: each one lets somebody go, until there is none left.
      if (asked.kind === 'conflict') conflicts += 1;
    }
    throw new Error(`taking from the budget of rule ${rule.name}: others were faster ${CONFLICTS_MAX} times`);
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
    const now = this.#clock.now();
    const counting = reservationsOf(object).filter(({ time }) => now < countsUntil(time, budget.window));
    const size = blockSize(budget.limit, counting);
    if (size === 0) return { kind: 'none', until: countsUntil(counting[0]?.time ?? now, budget.window) };
    const takenAt = this.#clock.monotonic();
    const reservations = [...counting, { time: now, size }].map((block) => ({
      time: new Date(block.time).toISOString(),
      size: block.size,
    }));
    const status = { ...statusOf(object), budget: { reservations } };
    const operations = [...guards(object.metadata), { op: 'add' as const, path: '/status', value: status }];
    const outcome = await this.#cluster.patch(rulePath(name), operations, 'status');
    if (outcome.kind !== 'patched') return { kind: 'conflict' };
    this.#blocks.set(uid, { left: size, takenAt });
    return { kind: 'taken' };
  }
}

/** Oldest first, as the server keeps them. */
function reservationsOf(object: KubeObject): readonly Reservation[] {
  const parsed = budgetSchema.safeParse(statusOf(object).budget ?? {});
  const written = parsed.success ? parsed.data.reservations : [];
  return written
    .map(({ time, size }) => ({ time: Date.parse(time), size }))
    .sort((left, right) => left.time - right.time);
}

/** A block's tokens may be used up to a minute after it was taken, so it counts a minute longer than the window. */
function countsUntil(time: number, window: number): number {
  return time + window + TOKEN_LIVES_MS;
}

function blockSize(limit: number, counting: readonly Reservation[]): number {
  if (counting.length >= BUDGET_RESERVATIONS_MAX) return 0;
  const taken = counting.reduce((sum, { size }) => sum + size, 0);
  return Math.max(0, Math.min(Math.max(1, Math.floor(limit / 10)), limit - taken));
}
