/*
 * How many delete calls are in flight: one more for each round that went well, half as many, after a pause, when S3 says
 * SlowDown. Made for each pass by delete-versions.ts. So a bucket in one of S3's partitions is not pushed over its limit,
 * and one that S3 has spread over many is emptied faster.
 */
import { type Clock, pause } from '../../ports.ts';

const FIRST = 4;
/** Each holds up to 1,000 keys in memory. */
const MOST = 12;
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 16_000;

/** Slots for calls. */
export interface Pace {
  /** Runs work as soon as a slot is free; resolves when it has begun. `work` never rejects. */
  begin(work: () => Promise<void>): Promise<void>;
  /** Resolves when all that has begun is done. */
  rest(): Promise<void>;
  wentWell(): void;
  /** Halves the slots and keeps all from beginning for a while. Several at once are one. */
  slowDown(): void;
  /** Resolves at once, or when the pause is over. */
  paused(): Promise<void>;
  readonly slots: number;
}

/** Makes the slots of one pass. */
export function createPace(clock: Clock, signal: AbortSignal): Pace {
  const inFlight = new Set<Promise<void>>();
  let slots = FIRST;
  let pauses = 0;
  let pausing: Promise<void> | undefined;
  return {
    async begin(work) {
      while (inFlight.size >= Math.floor(slots)) await Promise.race(inFlight);
      await pausing;
      const done = work().finally(() => inFlight.delete(done));
      inFlight.add(done);
    },
    rest: async () => {
      while (inFlight.size > 0) await Promise.race(inFlight);
    },
    wentWell() {
      pauses = 0;
      slots = Math.min(MOST, slots + 1 / slots);
    },
    slowDown() {
      if (pausing !== undefined) return;
      slots = Math.max(1, slots / 2);
      pauses += 1;
      pausing = pause(clock, Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (pauses - 1)), signal).then(() => {
        pausing = undefined;
      });
    },
    paused: () => pausing ?? Promise.resolve(),
    get slots() {
      return slots;
    },
  };
}
