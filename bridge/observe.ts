/*
 * Gathers what decide needs: recalls the record, evaluates the rule over the object as it was read, computes what may
 * have been sent. Called by reconcile.ts between its GET and decide. No I/O; changes only the pending memory.
 */
import { possibleRunsEnd, possibleRunsEndOfAnyTerm, ruleDigestOf, runEndsBy } from './contract.ts';
import type { LiveTarget, Observation, RuleView } from './observation.ts';
import { beganAt, type Facts, type Pending, remember } from './pending.ts';
import type { KubeObject } from './ports.ts';
import { countsFor, isNamed, namesRequested, type Record, readRecord, UNPROVEN } from './record.ts';
import type { Evaluation, Rule } from './rule.ts';
import { slimmed } from './wire.ts';
import { hasWord, isApproved, releaseWord, retryWord } from './words.ts';

/** A GET and what it is to be evaluated under. */
export interface Reading {
  readonly object: KubeObject;
  /** Of the entry's rule, whether that is there or not. */
  readonly name: string;
  readonly rule: Rule | undefined;
  readonly clusterUid: string;
  /** Monotonic ms of the moment before the GET was sent. */
  readonly readAt: number;
}

/**
 * Evaluates a rule over a whole object, if there is one. Once that is done only a little of the object is kept: many deletions may
 * be pending at once, for as long as their functions take, or until there is a rule, and objects are as large as their authors like.
 */
export function factsOf({ object, name, rule, clusterUid, readAt }: Reading): Facts {
  const evaluation = rule?.evaluate(object);
  const ruleDigest =
    rule !== undefined && evaluation?.ownership.kind === 'found'
      ? ruleDigestOf({
          cluster: clusterUid,
          rule: rule.uid,
          handler: rule.handler,
          options: rule.options,
          ownership: evaluation.ownership.ownership,
        })
      : undefined;
  // Whose word it was stands in the managed fields. Under a rule that comes later it is read again.
  const kept = hasWord(object.metadata, name) ? object : slimmed(object);
  return { object: kept, rule, evaluation, ruleDigest, readAt };
}

/**
 * Takes what the object's record says into memory; it can only add to what is known. Later only what is not known was asked for:
 * another process that believes to lead can have written that. Before each look, and before each write over it.
 */
export function recall(pending: Pending, rule: Rule | undefined, now: number): void {
  if (rule === undefined) return;
  const { meta, recalled } = pending;
  pending.recalled = true;
  const record = readRecord(meta, rule);
  if (record === undefined || !countsFor(record, pending)) return;
  if (!recalled) recallFirst(pending, record);
  else recallOthers(pending, record, now);
}

function recallFirst(pending: Pending, record: Record): void {
  // An answer that came before the first look can have been about the one that nobody knew.
  pending.unknownTarget = record.unknownTarget === true && namesRequested(record, pending.seen);
  for (const target of record.targets) remember(pending, target);
  pending.firstPublished ??= record.firstPublished === undefined ? undefined : Date.parse(record.firstPublished);
  pending.retryHandled ??= record.retry;
  pending.retries = Math.max(pending.retries, Math.min(record.retries ?? 0, RETRIES_BELIEVED));
  // A time ahead of this clock is somebody's mistake, and must not hold anything off.
  const since = Math.min(Date.parse(record.since), pending.firstLooked);
  pending.recordedAt = since;
  pending.standing ??= { phase: record.phase, reason: record.reason, message: record.message, since };
  if (record.refused !== undefined) {
    const { due, ...refusal } = record.refused;
    pending.refusal ??= { ...refusal, dueAt: Date.parse(due) };
  }
}

/**
 * What another process has asked for needs a gone of its own, and has to stay written (trap V10); copies of it can still run (V12).
 * A record that somebody has damaged names nothing, and who knows what was sent is not made to forget it (P4).
 */
function recallOthers(pending: Pending, { targets }: Record, now: number): void {
  const asked = targets.filter((target) => target.requested && isNamed(target));
  // What is known already tells of nothing new: two that only tell of a release would put it off for each other for good (P4).
  if (!namesRequested({ targets: pending.seen }, asked)) pending.othersUntil = now;
  for (const target of asked) remember(pending, target);
}

/** Nobody asks so often: what says more is somebody's mistake, and counted on from there no record could be written any more. */
const RETRIES_BELIEVED = 100_000;

/** The rule of an entry as it is now, or why one that exists has none that was ever accepted. */
export interface RuleNow {
  readonly rule: Rule | undefined;
  readonly neverAccepted?: string | undefined;
}

/** The observation of a pending object whose facts are fresh. */
export function observe(pending: Pending, facts: Facts, { rule, neverAccepted }: RuleNow): Observation {
  const { meta } = pending;
  const began = beganAt(pending);
  const { evaluation } = facts;
  // What is kept of an object cannot be evaluated any more.
  const view =
    rule === undefined || evaluation === undefined ? undefined : ruleView(facts, { rule, evaluation }, began);
  if (view !== undefined) noteTarget(pending, view, evaluation);
  const word = retryWord(meta, pending.rule);
  return {
    uid: meta.uid,
    rule: view,
    neverAccepted,
    release: releaseWord(meta, pending.rule),
    retryAsked: word !== undefined && word !== pending.retryHandled,
    retries: pending.retries,
    graceEnds: Date.parse(meta.deletionTimestamp ?? meta.creationTimestamp),
    firstPublished: pending.firstPublished,
    heldBack: isApproved(meta, pending.rule) ? undefined : pending.heldBack,
    seen: pending.seen,
    sent: pending.sent,
    gones: pending.gones,
    refusal: pending.refusal,
    knowsAllSent: pending.knowsAllSent && pending.othersUntil === undefined,
    unknownTarget: pending.unknownTarget === true,
    runsEnd: runsEnd(pending, rule, began),
  };
}

/**
 * A target met counts as requested when somebody else may have sent it before this process looked (trap V1). Where there was
 * none to be met, and no record, what may have been sent is not known (trap V10): what is met later is not it. One whose proof
 * cannot be computed now is met all the same: it may have been asked for when it could (V10), and is a target (V11).
 */
function noteTarget(pending: Pending, { digest }: RuleView, evaluation: Evaluation | undefined): void {
  const target = evaluation?.target.kind === 'found' ? evaluation.target.digest : undefined;
  const mayBeAsked = !pending.knowsAllSent && !pending.seen.some(({ requested }) => requested);
  pending.unknownTarget ??= mayBeAsked && target === undefined;
  if (target === undefined) return;
  const isFirst = pending.seen.length === 0;
  const requested = isFirst && !pending.knowsAllSent && !pending.unknownTarget;
  remember(pending, { target, rule: digest ?? UNPROVEN, requested, started: false });
}

/**
 * Takes note of an answer. Where, as far as is known here, nobody can have sent what it answers, another process believes to lead as
 * well, and may have sent more by now: copies of that can still run (trap V12), and a word waits for it (trap V1).
 */
export function noteAnswer(
  pending: Pending,
  rule: Rule,
  { expires, now }: { readonly expires: number; readonly now: number },
): void {
  const known = runsEnd(pending, rule, beganAt(pending));
  if (known === undefined || known < runEndsBy(expires)) pending.othersUntil = now;
}

/** When the last request that may have been sent has surely ended; undefined when none can have been. */
function runsEnd(pending: Pending, rule: Rule | undefined, began: number): number | undefined {
  const ends: number[] = [];
  if (!pending.knowsAllSent) {
    ends.push(othersRunsEnd(rule, { began, until: pending.firstLooked }));
  }
  if (pending.othersUntil !== undefined) ends.push(othersRunsEnd(rule, { began, until: pending.othersUntil }));
  for (const { at, expires } of pending.sent) {
    ends.push(rule === undefined ? possibleRunsEndOfAnyTerm(at) : runEndsBy(expires));
  }
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * When the last request that somebody else may have sent `until` then has surely ended, for a deletion that began at
 * `began`. Without a term that is known to have been this deletion's from its start, the largest is assumed (trap V6).
 */
export function othersRunsEnd(
  rule: Pick<Rule, 'term' | 'termHeldSince'> | undefined,
  { began, until }: { readonly began: number; readonly until: number },
): number {
  return rule?.termHeldSince !== undefined && rule.termHeldSince <= began
    ? possibleRunsEnd({ began, term: rule.term }, until)
    : possibleRunsEndOfAnyTerm(until);
}

function ruleView(
  { object, ruleDigest }: Facts,
  { rule, evaluation }: { readonly rule: Rule; readonly evaluation: Evaluation },
  began: number,
): RuleView {
  const { policy } = evaluation;
  const waiting = rule.waitFor?.finalizers.filter((name) => object.metadata.finalizers?.includes(name)) ?? [];
  return {
    digest: ruleDigest,
    target: liveTarget(evaluation),
    policy: policy.kind === 'found' ? policy.policy : 'Invalid',
    policyDetail: policy.kind === 'found' ? '' : `policy: ${policy.detail}`,
    binding: bindingNow(rule, evaluation, object.metadata.uid),
    terms: { began, term: rule.term },
    paused: rule.paused,
    notAccepted: rule.notAccepted,
    deadline: rule.deadline,
    waitFor: rule.waitFor === undefined ? undefined : { finalizers: waiting, until: began + rule.waitFor.atMost },
    whenTargetMissing: rule.whenTargetMissing,
    whenAbsent: rule.whenAbsent,
  };
}

/** An expression may read the uid and not give it: only a proof that holds the uid binds to this very object (V12). */
function bindingNow({ binding }: Rule, { ownership }: Evaluation, uid: string): Rule['binding'] {
  if (binding !== 'uid' || ownership.kind !== 'found' || !('tags' in ownership.ownership)) return binding;
  return Object.values(ownership.ownership.tags).some((value) => value.includes(uid)) ? 'uid' : 'name';
}

function liveTarget({ target, ownership }: Evaluation): LiveTarget {
  switch (target.kind) {
    case 'invalid':
      return { kind: 'invalid', reason: 'TargetInvalid', detail: `target ${target.key}: ${target.detail}` };
    case 'missing':
      return { kind: 'missing', detail: `target ${target.key}: ${target.detail}` };
    case 'found':
      return ownership.kind === 'found'
        ? { kind: 'found', digest: target.digest }
        : { kind: 'invalid', reason: 'OwnershipInvalid', detail: `ownership ${ownership.key}: ${ownership.detail}` };
    default:
      return target satisfies never;
  }
}
