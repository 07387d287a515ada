/*
 * The blocks of a rule's budget as its status has them: read, counted, merged, written. Pure; used by brake.ts.
 * A block's tokens are used within its life, so it counts for the window and that life: by the monotonic clock since it was
 * taken or met, or by its written time, whichever ends first. The written time is somebody's wall clock, so it counts as
 * much longer as two clocks may be apart: no clock makes two blocks of more than the limit fall into one window.
 */
import * as z from 'zod/mini';
import { CLOCK_SKEW_MS } from './contract.ts';
import { BUDGET_RESERVATIONS_MAX } from './rule-facts.ts';

/** Tokens that were taken and not used lapse after this long. */
export const TOKEN_LIVES_MS = 60_000;
/** Each of two clocks may be off, one this way and one that way. */
const CLOCKS_APART_MS = 2 * CLOCK_SKEW_MS;

const budgetSchema = z.object({
  reservations: z._default(z.array(z.object({ time: z.string(), size: z.int(), holder: z.optional(z.string()) })), []),
});

/** A block in the rule's status. */
export interface Reservation {
  /** ms since the epoch, by the clock of whoever took it. */
  readonly time: number;
  /** Its tokens; what was not used of a lapsed one is taken out by its holder. */
  readonly size: number;
  /** The process that took it. */
  readonly holder?: string | undefined;
  /** Monotonic ms of this process at which it was taken, or met. */
  readonly metAt: number;
}

/** One moment on both clocks. */
export interface Moment {
  readonly now: number;
  readonly monotonic: number;
}

/** A block by what does not change about it. */
export function blockKey({ time, holder = '' }: Pick<Reservation, 'time' | 'holder'>): string {
  return `${time} ${holder}`;
}

/** The blocks of a status, oldest first; one that was met before was met when `met` says. */
export function readBlocks(budget: unknown, met: ReadonlyMap<string, number>, at: Moment): readonly Reservation[] {
  const parsed = budgetSchema.safeParse(budget ?? {});
  const written = parsed.success ? parsed.data.reservations : [];
  return written
    .map(({ time, ...rest }) => ({ ...rest, time: Date.parse(time) }))
    .map((block) => ({ ...block, metAt: met.get(blockKey(block)) ?? at.monotonic }))
    .sort((left, right) => left.time - right.time);
}

/** For how many more ms a block counts; not at all from 0 on. */
export function countsFor({ time, metAt }: Reservation, window: number, at: Moment): number {
  const lasts = window + TOKEN_LIVES_MS;
  return Math.min(metAt + lasts - at.monotonic, time + lasts + CLOCKS_APART_MS - at.now);
}

/** How many tokens the next block has: a tenth of the limit, or what is left of it. */
export function nextSize(limit: number, counting: readonly Reservation[]): number {
  const taken = counting.reduce((sum, { size }) => sum + size, 0);
  return Math.max(0, Math.min(Math.max(1, Math.floor(limit / 10)), limit - taken));
}

/**
 * No more blocks than the status holds (at least one): those closest to each other become one that counts for as long as the
 * later. It has no holder, so what is not used of it is given back by nobody.
 */
export function fitted(blocks: readonly Reservation[], most = BUDGET_RESERVATIONS_MAX): readonly Reservation[] {
  let fit = blocks;
  while (fit.length > most) {
    const { first, second } = neighbours(fit).reduce((best, pair) => (gapOf(pair) < gapOf(best) ? pair : best));
    const joined = { time: second.time, size: first.size + second.size, metAt: Math.max(first.metAt, second.metAt) };
    fit = fit.flatMap((block) => (block === first ? [] : block === second ? joined : block));
  }
  return fit;
}

interface Neighbours {
  readonly first: Reservation;
  readonly second: Reservation;
}

function neighbours(blocks: readonly Reservation[]): readonly Neighbours[] {
  return blocks.flatMap((second, index) => {
    const first = blocks[index - 1];
    return first === undefined ? [] : { first, second };
  });
}

function gapOf({ first, second }: Neighbours): number {
  return second.time - first.time;
}

/** The blocks as the status has them. */
export function writeBlocks(blocks: readonly Reservation[]): { readonly reservations: readonly object[] } {
  return {
    reservations: blocks.map(({ time, size, holder }) => ({
      time: new Date(time).toISOString(),
      size,
      ...(holder === undefined ? {} : { holder }),
    })),
  };
}
