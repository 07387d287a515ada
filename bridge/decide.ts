/*
 * What to do with a pending object: pure and total, the table of docs/promises.md. The first row that applies wins.
 * Called by reconcile.ts with what observe.ts gathered; reconcile acts on the answer. `now` is ms since the epoch.
 * Row numbers below are the table's; the order is the safety argument, so a row is never moved without its trap tests.
 */
import { attemptAt, attemptBegins, type Evidence, isGoneInTime } from './contract.ts';
import type { Gone, Observation, Refusal, RuleView, Seen } from './observation.ts';

/** Why the entry comes off. */
export type RemoveReason = 'Gone' | 'Released' | 'Retained' | 'TargetMissing';

/** One of a closed set of intentions. `wakeAt` in ms: when to look again without being told. */
export type Decision =
  | { readonly act: 'remove'; readonly reason: RemoveReason; readonly evidence?: Evidence }
  | { readonly act: 'publish'; readonly attempt: number; readonly retry: number }
  | { readonly act: 'hold'; readonly reason: string; readonly message: string; readonly wakeAt?: number }
  | {
      readonly act: 'wait';
      readonly reason: string;
      readonly message: string;
      readonly wakeAt: number | undefined;
      readonly overdue: boolean;
    };

type Row = (see: Observation, now: number) => Decision | undefined;
type RuledRow = (see: Observation, rule: RuleView, now: number) => Decision | undefined;

/** Decides; never undefined, never throws. */
export function decide(see: Observation, now: number): Decision {
  const early = goneRow(see, now) ?? releaseRow(see, now) ?? copiesRow(see, now);
  if (early !== undefined) return early;
  if (see.rule === undefined) {
    if (see.neverAccepted !== undefined) return hold('RuleNotAccepted', see.neverAccepted);
    return hold('NoRule', 'no rule has the name of this entry; restore the rule, or release the entry');
  }
  for (const row of RULED_ROWS) {
    const decision = row(see, see.rule, now);
    if (decision !== undefined) return decision;
  }
  return waitRow(see, see.rule, now);
}

/** Row 1: a valid gone, and no other requested target without its own. */
const goneRow: Row = (see, now) => {
  const gone = sufficientGone(see, now);
  if (gone === undefined || mayCopyHarm(see, now)) return undefined;
  return { act: 'remove', reason: 'Gone', evidence: hasBegun(gone, see) ? 'deleted' : gone.evidence };
};

/** Row 1 under weak ownership: no sent copy may outlive the entry (trap V12). A person's release comes first (trap V7). */
const copiesRow: Row = (see, now) => {
  if (sufficientGone(see, now) === undefined) return undefined;
  return wait('WaitingForCopies', 'gone; waiting until no copy of a request can still run', see.runsEnd);
};

/** Row 2: a person's release, never overtaking a request that can still run unless the word says so. */
const releaseRow: Row = (see, now) => {
  if (see.release === 'none') return undefined;
  if (see.release === 'now' || !mayStillRun(see, now)) return { act: 'remove', reason: 'Released' };
  return wait('ReleaseWaiting', 'released; waiting until no sent request can still run', see.runsEnd);
};

/** Row 4: the target is, or may be, another one than what was requested. Ended by a person's retry or release. */
const targetChangedRow: RuledRow = (see, rule, now) => {
  if (see.retryAsked || rule.target.kind !== 'found') return undefined;
  const live = rule.target.digest;
  const isKnown = see.seen.some(({ target, requested }) => requested && target === live);
  if (isKnown && !see.gones.some((gone) => isValidGone(gone, see, now))) return undefined;
  const others = see.seen.some(({ target, requested }) => requested && target !== live && !hasGone(see, target, now));
  const strangers = !isKnown && see.gones.some((gone) => gone.uid === see.uid && gone.target !== live);
  const unknown = `${UNKNOWN_TARGET}; the present one is ${isKnown ? 'gone' : 'not asked for yet: retry takes it down'}`;
  if (see.unknownTarget) return hold('TargetChanged', unknown);
  return others || strangers ? hold('TargetChanged', isKnown ? UNCONFIRMED : CHANGED) : undefined;
};

const UNCONFIRMED = 'the live target is gone, but an earlier one was requested and never confirmed';
const CHANGED = 'the target changed after a request was sent; look at both, then retry or release';
const UNKNOWN_TARGET =
  'another target may have been requested before this bridge looked, and nobody knows which: the deletion began before it led and the object named no target in its first look, or its record could not be read whole; if there was none, or that one is gone, release';

/** Row 5: the first look found nothing, and the rule wants a person to look. */
const foundNothingRow: RuledRow = (see, _rule, now) => {
  if (see.retryAsked) return undefined;
  const gone = see.gones.find((candidate) => isValidGone(candidate, see, now));
  return gone !== undefined && needsAWord(gone, see)
    ? hold('FoundNothing', 'the first look found nothing to delete; release the entry, or retry')
    : undefined;
};

/** Row 6: Retain publishes nothing more, whenever it was set (trap V2). */
const retainRow: RuledRow = (see, rule, now) => {
  if (rule.policy !== 'Retain') return undefined;
  if (!mayStillRun(see, now)) return { act: 'remove', reason: 'Retained' };
  return wait('RetainWaiting', 'to be retained; waiting until no sent request can still run', see.runsEnd);
};

/** Row 7: nothing that could be sent. */
const unusableRow: RuledRow = (see, rule) => {
  if (rule.notAccepted !== undefined) return hold('RuleNotAccepted', rule.notAccepted);
  if (rule.policy === 'Invalid') return hold('PolicyInvalid', rule.policyDetail);
  if (rule.target.kind === 'found') return undefined;
  const detail = see.unknownTarget ? `${rule.target.detail}; ${UNKNOWN_TARGET}` : rule.target.detail;
  if (rule.target.kind === 'invalid') return hold(rule.target.reason, detail);
  const isUntouched = see.knowsAllSent && see.seen.length === 0 && see.sent.length === 0 && !see.unknownTarget;
  if (rule.whenTargetMissing === 'Release' && isUntouched) return { act: 'remove', reason: 'TargetMissing' };
  return hold('TargetMissing', detail);
};

/** Row 8: refused, and not due again. Due means going on with the next rows (trap V15). */
const refusedRow: RuledRow = (see, rule, now) => {
  const refusal = currentRefusal(see, rule);
  if (refusal === undefined || see.retryAsked || now >= refusal.dueAt) return undefined;
  return { act: 'hold', reason: refusal.reason, message: refusal.message, wakeAt: refusal.dueAt };
};

/** Row 9: not yet: paused, the grace period, other controllers first. */
const notYetRow: RuledRow = (see, rule, now) => {
  if (rule.paused) return wait('Paused', 'the rule is paused; nothing new is sent', undefined);
  if (now < see.graceEnds) return wait('GracePeriod', 'waiting for the grace period to end', see.graceEnds);
  if (rule.waitFor === undefined || rule.waitFor.finalizers.length === 0) return undefined;
  const names = rule.waitFor.finalizers.join(', ');
  return now < rule.waitFor.until
    ? wait('WaitingForFinalizers', `waiting for ${names}`, rule.waitFor.until)
    : hold('WaitForTimedOut', `still waiting for ${names}; goes on by itself when they are off`);
};

/** Row 10: the budget has no token, or cannot be counted; held until the window moves, or it can, or a person approves. */
const budgetRow: RuledRow = ({ heldBack }, _rule, now) => {
  if (heldBack === undefined || now >= heldBack.until) return undefined;
  const { notKept, until: wakeAt } = heldBack;
  if (notKept !== undefined) return { act: 'hold', reason: 'BudgetNotKept', message: notKept, wakeAt };
  return { act: 'hold', reason: 'BudgetExceeded', message: USED_UP, wakeAt };
};

const USED_UP = 'the rule has used up its budget; goes on when the window has moved, or when a person approves';

/** Row 12: no request with these digests sent in this term (or since a refusal fell due, or since a retry). */
const publishRow: RuledRow = (see, rule, now) => {
  if (rule.target.kind !== 'found' || rule.digest === undefined) return undefined;
  const { digest } = rule.target;
  const last = see.sent.find((sent) => sent.target === digest && sent.rule === rule.digest);
  // Never back to an earlier attempt: after a step of the clock the later one may still run, and must stay known.
  const attempt = Math.max(attemptAt(rule.terms, now), last?.attempt ?? 0);
  const retry = see.retries + (see.retryAsked ? 1 : 0);
  const refusal = currentRefusal(see, rule);
  const isSent =
    last?.confirmed === true &&
    last.attempt >= attempt &&
    last.retry >= retry &&
    (refusal === undefined || now < refusal.dueAt || Math.min(last.at, now) >= refusal.dueAt);
  return isSent ? undefined : { act: 'publish', attempt, retry };
};

const RULED_ROWS: readonly RuledRow[] = [
  targetChangedRow,
  foundNothingRow,
  retainRow,
  unusableRow,
  refusedRow,
  notYetRow,
  budgetRow,
  publishRow,
];

/** Row 13, with row 11's mark: wait until the term ends, or until the deadline has passed. */
function waitRow(see: Observation, rule: RuleView, now: number): Decision {
  const termEnds = attemptBegins(rule.terms, attemptAt(rule.terms, now) + 1);
  const overdue = isOverdue(see, rule, now);
  const overdueAt = overdue || see.firstPublished === undefined ? termEnds : see.firstPublished + rule.deadline + 1;
  return { ...wait('Requested', 'waiting for the result', Math.min(termEnds, overdueAt)), overdue };
}

/** A valid gone that no person has to look at, when no other target that was or may have been requested is without its own. */
function sufficientGone(see: Observation, now: number): Gone | undefined {
  if (see.unknownTarget) return undefined;
  const gone = see.gones.find((candidate) => isValidGone(candidate, see, now));
  if (gone === undefined || needsAWord(gone, see)) return undefined;
  const isOpen = ({ target, requested }: Seen) => requested && target !== gone.target && !hasGone(see, target, now);
  return see.seen.some(isOpen) ? undefined : gone;
}

/** Same uid, same rule digest, in time; the live target, or a cleared one when no other was met. */
function isValidGone(gone: Gone, see: Observation, now: number): boolean {
  const { rule } = see;
  if (rule === undefined || gone.uid !== see.uid || gone.rule !== rule.digest) return false;
  if (!stillCounts(gone, see, now)) return false;
  switch (rule.target.kind) {
    case 'found':
      return gone.target === rule.target.digest;
    case 'missing':
      return [...see.seen, ...see.sent].every(({ target }) => target === gone.target);
    case 'invalid':
      return false;
    default:
      return rule.target satisfies never;
  }
}

function hasGone(see: Observation, target: string, now: number): boolean {
  return see.gones.some((gone) => gone.uid === see.uid && gone.target === target && stillCounts(gone, see, now));
}

/**
 * Only what came in time is told here. Where copies have to be waited for, they can run longer than a gone counts, so it
 * counts until they have ended: otherwise each wait would end in another request and another wait.
 */
function stillCounts({ expires }: Gone, see: Observation, now: number): boolean {
  return isGoneInTime(isWeak(see) ? Math.max(expires, see.runsEnd ?? 0) : expires, now);
}

/** Weak ownership cannot tell a successor's resource from this one. */
function isWeak({ rule }: Observation): boolean {
  return rule !== undefined && rule.binding !== 'uid';
}

function mayCopyHarm(see: Observation, now: number): boolean {
  return isWeak(see) && mayStillRun(see, now);
}

/** Absent under `whenAbsent: Hold`, and nothing on record says that this deletion had begun to take it down. */
function needsAWord(gone: Gone, see: Observation): boolean {
  return gone.evidence === 'absent' && see.rule?.whenAbsent === 'Hold' && !hasBegun(gone, see);
}

/** A slow deletion that was seen to begin ends by finding nothing: that is no first look. */
function hasBegun(gone: Gone, see: Observation): boolean {
  return see.seen.some(({ target, rule, started }) => started && target === gone.target && rule === gone.rule);
}

function currentRefusal({ refusal }: Observation, rule: RuleView): Refusal | undefined {
  if (refusal === undefined || rule.target.kind !== 'found') return undefined;
  return refusal.target === rule.target.digest && refusal.rule === rule.digest ? refusal : undefined;
}

function mayStillRun({ runsEnd }: Observation, now: number): boolean {
  return runsEnd !== undefined && now < runsEnd;
}

function isOverdue({ firstPublished }: Observation, rule: RuleView, now: number): boolean {
  return firstPublished !== undefined && now > firstPublished + rule.deadline;
}

function hold(reason: string, message: string): Decision {
  return { act: 'hold', reason, message };
}

function wait(reason: string, message: string, wakeAt: number | undefined): Decision & { act: 'wait' } {
  return { act: 'wait', reason, message, wakeAt, overdue: false };
}
