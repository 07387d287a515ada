/*
 * What this process remembers of one pending deletion under one rule, from the first sight until the entry is off.
 * Made by intake.ts, filled by observe, publishing and inbox, forgotten by removal. Nothing here is the only copy of
 * something that safety needs: after a restart it is built again from the object, its record and the messages.
 */
import { deletionBegan } from './contract.ts';
import type { Decision } from './decide.ts';
import type { Gone, HeldBack, Refusal, Seen, Sent } from './observation.ts';
import type { KindRef, KubeObject, ObjectMeta } from './ports.ts';
import type { Evaluation, Rule } from './rule.ts';
import { type Answered, NOTHING_ANSWERED } from './slowness.ts';
import { isOlder } from './wire.ts';

/** A GET of the object, evaluated. Valid while the watch has not moved past its resourceVersion. */
export interface Facts {
  /** Without its content, unless a person has spoken. */
  readonly object: KubeObject;
  readonly rule: Rule | undefined;
  readonly evaluation: Evaluation | undefined;
  /** The rule digest, when the ownership could be computed. */
  readonly ruleDigest: string | undefined;
  /** Monotonic ms of the moment before the GET was sent. */
  readonly readAt: number;
}

/** A result that waits for its end: told true when it may be deleted from the queue. */
export type Settle = (acknowledge: boolean) => void;

/** A request that this process may have sent. */
export interface SentRequest extends Sent {
  /** In ms since the epoch: another rule may have come by the name since, with another term. */
  readonly expires: number;
}

/** One pending deletion under one rule. */
export interface Pending {
  /** `<uid>/<rule>` */
  readonly key: string;
  readonly rule: string;
  /** In the version in which the object is read and written: the rule's own, if that is served. */
  kind: KindRef;
  /** The versions in which watches have shown it, or that it is not there any more. */
  shownIn: readonly string[];
  /** This deletion began after the first complete list, so no other process can have sent anything for it. */
  readonly knowsAllSent: boolean;
  /** When an answer last came to a request that, as far as was known here, nobody had sent; in ms since the epoch. */
  othersUntil: number | undefined;
  /** When it was first looked at, in ms since the epoch. */
  readonly firstLooked: number;
  /** The newest metadata known, from the watch or from a write of ours. */
  meta: ObjectMeta;
  /** What was read of the times of that metadata: each look at all that is pending asks for it. */
  began: { readonly meta: ObjectMeta; readonly at: number } | undefined;
  facts: Facts | undefined;
  /** The watch said DELETED, or a complete list lacked it: only a GET decides. */
  doubted: boolean;
  /** It was over once, and told; a list that was read before shows it again. */
  wasOver: boolean;
  /** A removal of ours was sent; if the entry is then found gone, it was us. */
  removing: Extract<Decision, { act: 'remove' }> | undefined;
  /**
   * A request for a target that nobody knows may have been sent: the first look found none, and nobody had written anything
   * down (trap V10). Undefined before the first look under a rule.
   */
  unknownTarget: boolean | undefined;
  seen: Seen[];
  sent: SentRequest[];
  gones: Gone[];
  refusal: Refusal | undefined;
  /** The latest thing a function said that was no outcome of ours to act on. */
  progress: { readonly reason: string; readonly message: string } | undefined;
  /** Which of its requests were answered, and how. */
  answered: Answered;
  settles: Settle[];
  firstPublished: number | undefined;
  /** Until when (monotonic ms) the token of the rule's budget that was taken for it covers its first request. */
  tokenLapsesAt: number | undefined;
  /** The budget had none, from `until` (ms since the epoch) on it is worth asking again. */
  heldBack: HeldBack | undefined;
  retries: number;
  retryHandled: string | undefined;
  /** A retry, or a target that the record lacks, is in memory only; nothing is sent before it is written down. */
  owesRecord: boolean;
  /** A refusal is in memory only: written down before its result goes, unless the API server takes no record of the object. */
  owesRefusal: boolean;
  /** The record on the object has been read into this memory. */
  recalled: boolean;
  /** When the record was last written, in ms since the epoch. */
  recordedAt: number | undefined;
  /** The record as this process wrote it last. */
  recordedText: string | undefined;
  /** Phase and reason that it told. */
  recordedReason: string | undefined;
  /** How often somebody else had written over it since. */
  overwritten: number;
  /** Reasons that were told by an Event, and when (monotonic ms). */
  readonly told: Map<string, number>;
  /** Words of a person that this process has told of. */
  readonly heard: Set<string>;
  /** What a person has said last, and since when it stands there for this process (monotonic ms). */
  said: { readonly text: string; readonly at: number } | undefined;
  /** Why it is not done, since when, and whether that was told by an Event. */
  standing: Standing | undefined;
}

/** The reason of a deletion that fails again and again. */
export const FAILING = 'Failing';

/** Where a deletion stands: what annotation, metrics and Events say of it. */
export interface Standing {
  readonly phase: 'Pending' | 'Held';
  readonly reason: string;
  readonly message: string;
  readonly since: number;
}

/** When a deletion was asked for: ages count from then, whatever grace period was given. In ms since the epoch. */
export function beganAt(pending: Pick<Pending, 'meta'> & Partial<Pick<Pending, 'began'>>): number {
  const { meta, began } = pending;
  if (began?.meta === meta) return began.at;
  const at = deletionBegan(meta.deletionTimestamp ?? meta.creationTimestamp, meta.deletionGracePeriodSeconds);
  pending.began = { meta, at };
  return at;
}

/** Whether it is a rule's of that name for that kind: another kind's entries may have the name as well. */
export function isUnder({ rule, kind }: Pick<Pending, 'rule' | 'kind'>, name: string, match: KindRef): boolean {
  return rule === name && kind.group === match.group && kind.resource === match.resource;
}

/** The key of a pending deletion. */
export function pendingKey(uid: string, rule: string): string {
  return `${uid}/${rule}`;
}

/** Targets that were only met, not requested, are remembered so many at a time: one is enough to be careful. */
const MET_MAX = 4;

function forgetSome(pending: Pending): void {
  const met = pending.seen.filter(({ requested, started }) => !requested && !started);
  const [oldest] = met;
  if (met.length > MET_MAX) pending.seen = pending.seen.filter((seen) => seen !== oldest);
}

/** A fresh memory of a deletion just seen. */
export function newPending(from: Pick<Pending, 'rule' | 'kind' | 'meta' | 'knowsAllSent' | 'firstLooked'>): Pending {
  return {
    ...from,
    key: pendingKey(from.meta.uid, from.rule),
    shownIn: [from.kind.version],
    began: undefined,
    othersUntil: undefined,
    facts: undefined,
    doubted: false,
    wasOver: false,
    removing: undefined,
    unknownTarget: undefined,
    seen: [],
    sent: [],
    gones: [],
    refusal: undefined,
    progress: undefined,
    answered: NOTHING_ANSWERED,
    settles: [],
    firstPublished: undefined,
    tokenLapsesAt: undefined,
    heldBack: undefined,
    retries: 0,
    retryHandled: undefined,
    owesRecord: false,
    owesRefusal: false,
    recalled: false,
    recordedAt: undefined,
    recordedText: undefined,
    recordedReason: undefined,
    overwritten: 0,
    told: new Map(),
    heard: new Set(),
    said: undefined,
    standing: undefined,
  };
}

/** Takes newer metadata; an older sight than what is known changes nothing. Returns whether it was taken. */
export function advance(pending: Pending, meta: ObjectMeta): boolean {
  if (isOlder(meta.resourceVersion, pending.meta.resourceVersion)) return false;
  pending.meta = meta;
  return true;
}

/** Remembers a target; knowing more is kept, never less. */
export function remember(pending: Pending, seen: Seen): void {
  const index = pending.seen.findIndex(({ target, rule }) => target === seen.target && rule === seen.rule);
  const old = pending.seen[index];
  if (old === undefined) {
    pending.seen.push(seen);
    forgetSome(pending);
  } else {
    pending.seen[index] = {
      ...old,
      requested: old.requested || seen.requested,
      started: old.started || seen.started,
    };
  }
}

/**
 * Remembers a target that an answer is about: it was asked for, whoever sent the request. Before its first record a bridge asks
 * for one target only, so one that this process did not know of is the one that nobody knew.
 */
export function learn(pending: Pending, { target, rule }: Pick<Seen, 'target' | 'rule'>): void {
  const isNews = !pending.seen.some((seen) => seen.requested && seen.target === target);
  if (isNews && pending.unknownTarget === true) pending.unknownTarget = false;
  remember(pending, { target, rule, requested: true, started: false });
}
