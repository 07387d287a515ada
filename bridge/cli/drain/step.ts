/*
 * What a drain says of one rule after each look: done, going on, or blocked, and by which objects. Types only; made by
 * rule-drain.ts and holding.ts, read by run.ts and report.ts.
 */
import type { Carrier, Unseen } from './sweep.ts';

/** Who sees to what is left of a rule: a bridge that can, or this process. */
export type Hands = 'bridge' | 'own';

/** Objects that must be finished or released first, and why. */
export interface Blocker {
  readonly carrier: Carrier;
  readonly reason: string;
  readonly message: string;
  /** What would be left outside, as far as it is known. */
  readonly target?: string | undefined;
}

/**
 * `nextIn` in ms. `moves`: it may come to an end without anybody's word. `readyAt`, in ms since the epoch: when a release
 * that waits may be acted on, in the API server's time.
 */
export type Step =
  | { readonly state: 'done' }
  | { readonly state: 'waiting'; readonly why: string; readonly nextIn: number }
  | {
      readonly state: 'blocked';
      readonly why: string;
      readonly nextIn: number;
      readonly moves: boolean;
      readonly by: readonly Blocker[];
      readonly readyAt?: number | undefined;
    };

/** What was left in the end. */
export interface Left {
  readonly rule: string;
  readonly step: Exclude<Step, { state: 'done' }>;
}

/** How a drain ended; clean when nothing is left. `unseen`: what nobody could look at. */
export interface DrainEnd {
  readonly left: readonly Left[];
  readonly unseen: readonly Unseen[];
}
