/*
 * What a rule is to the rest of the bridge, and what evaluating it over an object can say. Types only.
 * Made by rules.ts from a file (later: from TeardownRule resources), read by decide, reconcile and watch.
 */
import type { Options, Ownership, Target } from './contract.ts';

/** The least a rule needs to know of an object; expressions see all of it. */
export interface ObjectLike {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly [field: string]: unknown;
}

/**
 * The expression asked for something the object does not have (yet). Tells "never got an outside resource" from faults.
 * `key` is the target key, the tag, or `policy`, whose expression it was.
 */
export interface Missing {
  readonly kind: 'missing';
  readonly key: string;
  readonly detail: string;
}

/** The expression failed, or gave something that cannot be acted on: empty, too long, of the wrong type. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly key: string;
  readonly detail: string;
}

/** The target of an object, with its digest (hex, as in requests). `invalid` of any key beats `missing` of another. */
export type TargetOutcome =
  | { readonly kind: 'found'; readonly target: Target; readonly digest: string }
  | Missing
  | Invalid;

/** The ownership proof that the outside resource must carry. */
export type OwnershipOutcome = { readonly kind: 'found'; readonly ownership: Ownership } | Missing | Invalid;

/** Take it down, or keep it and let the object go. */
export type Policy = 'Delete' | 'Retain';

/** What the policy expression says. A missing key is `invalid`: nothing may be guessed about keeping or deleting. */
export type PolicyOutcome = { readonly kind: 'found'; readonly policy: Policy } | Invalid;

/** All that a rule's expressions say about one object, as it was read. */
export interface Evaluation {
  readonly target: TargetOutcome;
  readonly ownership: OwnershipOutcome;
  readonly policy: PolicyOutcome;
}

/**
 * How surely the ownership proof belongs to one object: `uid` cannot be shared by a successor, `name` can (weak),
 * `none` is the rule's explicit opt-out.
 */
export type OwnershipBinding = 'uid' | 'name' | 'none';

/** An accepted rule. */
export interface Rule {
  /** At most 63 characters, an RFC 1123 subdomain. */
  readonly name: string;
  /** `metadata.uid`; for a file rule without one a UUID derived from its name. */
  readonly uid: string;
  /** The finalizer: `finalizer-bridge.dev/<name>`. */
  readonly entry: string;
  /** The kind; `group` is empty for core. */
  readonly match: { readonly group: string; readonly version: string; readonly resource: string };
  /** Whether a live object with these labels is selected. */
  readonly matches: (labels: Readonly<Record<string, string>>) => boolean;
  /** Whether objects in a namespace with these labels are selected; undefined when all are. */
  readonly matchesNamespace?: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  readonly handler: string;
  readonly options: Options;
  readonly binding: OwnershipBinding;
  /** Evaluates every expression over one object. Never throws. */
  readonly evaluate: (object: ObjectLike) => Evaluation;
  /** ms, 30 min to 6 h. */
  readonly term: number;
  /** Since when (ms since the epoch) the term is known to have been in force; undefined when nobody can tell. */
  readonly termHeldSince?: number | undefined;
  /** ms from the first publish; held and alarmed after it, and it goes on trying. */
  readonly deadline: number;
  /** The brake: more deletions than `limit` within `window` ms wait for the window to move, or for a person. */
  readonly budget?: { readonly limit: number; readonly window: number } | undefined;
  /** Finalizers of others that must be gone before the first publish; held after `atMost` ms. */
  readonly waitFor?: { readonly finalizers: readonly string[]; readonly atMost: number };
  readonly whenTargetMissing: 'Hold' | 'Release';
  readonly whenAbsent: 'Release' | 'Hold';
  readonly unmatched: 'Keep' | 'Release';
  readonly paused: boolean;
  /** metadata.generation of a rule from the API. */
  readonly generation?: number | undefined;
  /** The latest generation is not accepted, and why; this is the last one that was. Nothing is published meanwhile. */
  readonly notAccepted?: string | undefined;
  /** The rule is being deleted: it takes no new object, and finishes what is pending. */
  readonly isWithdrawn?: boolean | undefined;
}
