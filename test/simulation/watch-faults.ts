/*
 * What happens to a simulated watch after it was opened: cut, silent, too old, refused by an event, or followed by what was
 * said before. Drawn by a seed or said by a scenario; struck by cluster-port.ts. End-to-end: test/support/fault-script.ts.
 */
import { ApiError, type WatchFrame } from '../../bridge/ports.ts';

/**
 * `silent`: nothing comes any more, and nobody says so. `garbled`: a line that is half of one. `echo`: all that ever was comes
 * again, in any order.
 */
export interface WatchFault {
  readonly kind: (typeof WATCH_FAULTS)[number];
  /** After the opening, in ms. */
  readonly afterMs: number;
  /** Instead: after so many lines, in the place of the one that would be next. */
  readonly afterLines?: number;
  /** Instead: whenever it is called; given to the scenario for each watch that is opened. */
  readonly severedBy?: (strike: () => void) => void;
}

/** What strikes the next watch that is opened, if anything. */
export type WatchFaults = () => WatchFault | undefined;

export const WATCH_FAULTS = ['cut', 'end', 'silent', 'garbled', 'expired', 'busy', 'failed', 'echo'] as const;

/** How long a watch that is refused is told to wait, in ms. */
export const BUSY_MS = 5_000;

/** Longest that a watch of bad weather lives, in ms. */
const LIVES_MAX_MS = 3 * 60_000;

/** Weather: so large a share of the watches is struck. `random` gives numbers in [0, 1). */
export function drawnFaults(random: () => number, share: number, kinds: readonly WatchFault['kind'][]): WatchFaults {
  return () => {
    const [chance, choice, span] = [random(), random(), random()];
    const kind = kinds[Math.floor(choice * kinds.length)];
    // Most at once: what ends at once is what storms are made of.
    return chance < share && kind !== undefined ? { kind, afterMs: LIVES_MAX_MS * span ** 4 } : undefined;
  };
}

/** How the stream of a fault ends; undefined where it goes on. */
export function endOf(kind: WatchFault['kind'], doing: string): ApiError | 'end' | undefined {
  switch (kind) {
    case 'cut':
    case 'garbled':
      return new ApiError(doing, 0);
    case 'end':
      return 'end';
    case 'expired':
      return new ApiError(doing, 410);
    case 'busy':
      return new ApiError(doing, 429, { retryAfter: BUSY_MS });
    case 'failed':
      return new ApiError(doing, 500);
    case 'silent':
    case 'echo':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** The same frames in another order. */
export function shuffled(frames: readonly WatchFrame[], random: () => number): readonly WatchFrame[] {
  return frames
    .map((frame) => ({ frame, at: random() }))
    .toSorted((one, two) => one.at - two.at)
    .map(({ frame }) => frame);
}
