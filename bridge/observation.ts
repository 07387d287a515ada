/*
 * What decide is told: one pending object under one rule, as it is now. Types only; times in ms since the epoch (UTC).
 * Gathered by observe.ts from the live object, the record on it and what this process remembers.
 */
import type { Evidence, Terms } from './contract.ts';
import type { OwnershipBinding } from './rule.ts';
import type { Release } from './words.ts';

/** The live target, as far as it can be computed. */
export type LiveTarget =
  | { readonly kind: 'found'; readonly digest: string }
  | { readonly kind: 'missing'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly reason: string; readonly detail: string };

/** A target met in this deletion. `requested`: a request may have been sent; `started`: a result said it had begun. */
export interface Seen {
  readonly target: string;
  readonly rule: string;
  readonly requested: boolean;
  readonly started: boolean;
}

/** The last request this process sent for one pair of digests. */
export interface Sent {
  /** The queue said that it has it; otherwise it may or may not have it. */
  readonly confirmed: boolean;
  readonly target: string;
  readonly rule: string;
  readonly attempt: number;
  readonly retry: number;
  /** When, in ms. */
  readonly at: number;
}

/** A `gone` that came back, as its result says it. `expires` in ms. */
export interface Gone {
  readonly uid: string;
  readonly target: string;
  readonly rule: string;
  readonly expires: number;
  readonly evidence: Evidence;
}

/** The latest refusal. `dueAt` in ms: retryAt, or a day after it came. */
export interface Refusal {
  readonly target: string;
  readonly rule: string;
  readonly attempt: number;
  readonly retry: number;
  readonly reason: string;
  readonly message: string;
  readonly dueAt: number;
}

/** A budget that has no token: from when it is worth asking again (ms since the epoch), and why if it cannot be counted at all. */
export interface HeldBack {
  readonly until: number;
  readonly notKept?: string;
}

/** What the rule says about this object, as far as decisions need it. Times in ms. */
export interface RuleView {
  readonly digest: string | undefined;
  readonly target: LiveTarget;
  readonly policy: 'Delete' | 'Retain' | 'Invalid';
  readonly policyDetail: string;
  readonly binding: OwnershipBinding;
  readonly terms: Terms;
  readonly paused: boolean;
  /** Why the latest generation is not in force; this is the last one that was. */
  readonly notAccepted: string | undefined;
  readonly deadline: number;
  readonly waitFor: { readonly finalizers: readonly string[]; readonly until: number } | undefined;
  readonly whenTargetMissing: 'Hold' | 'Release';
  readonly whenAbsent: 'Release' | 'Hold';
}

/** One pending object under one rule, as it is now. Times in ms. */
export interface Observation {
  readonly uid: string;
  /** undefined: no rule has this entry's name. */
  readonly rule: RuleView | undefined;
  /** Why there is no rule although one of this name exists; undefined when there is none. */
  readonly neverAccepted: string | undefined;
  readonly release: Release;
  /** A person asked for another try and it has not been handled yet. */
  readonly retryAsked: boolean;
  /** How many retries were handled in this deletion. */
  readonly retries: number;
  readonly graceEnds: number;
  readonly firstPublished: number | undefined;
  /** That the rule's budget holds this deletion back; undefined when it does not, or a person has approved it. */
  readonly heldBack: HeldBack | undefined;
  readonly seen: readonly Seen[];
  readonly sent: readonly Sent[];
  readonly gones: readonly Gone[];
  readonly refusal: Refusal | undefined;
  /** This process has watched the deletion from its beginning, so nobody else can have sent anything. */
  readonly knowsAllSent: boolean;
  /** A request for a target that nobody knows may have been sent before anything was written down (trap V10). */
  readonly unknownTarget: boolean;
  /** When the last request that may have been sent has surely ended; undefined when none can have been. */
  readonly runsEnd: number | undefined;
}
