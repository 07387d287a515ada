/*
 * Says why a deletion is not done: in memory for metrics, in the record on the object, by an Event when it is held.
 * Called by reconcile.ts for the decisions hold and wait. A happy deletion never gets here with anything to write (P8):
 * the record is written when a deletion is held or has not been done within half a minute, and at most once a minute,
 * except where a result may only be acknowledged once it is written down (traps V8, V16).
 */
import { deletionBegan } from './contract.ts';
import type { Decision } from './decide.ts';
import { advance, type Pending, type Standing } from './pending.ts';
import { nameOf, pathOf, type Run, type Step } from './reconcile.ts';
import { type Record, readRecord, saysTheSame, writeRecord } from './record.ts';
import { trimmed } from './wire.ts';

const QUIET_MS = 30_000;
const RECORD_EVERY_MS = 60_000;

type Standstill = Extract<Decision, { act: 'hold' | 'wait' }>;

/** Takes note of where a deletion stands, tells it where that is due, and says when to look again. */
export async function stand(run: Run, decision: Standstill): Promise<Step> {
  const { reach, pending } = run;
  const now = reach.clock.now();
  const standing = standingOf(pending, decision, now);
  const isNews = pending.standing?.reason !== standing.reason || pending.standing.phase !== standing.phase;
  pending.standing = standing;
  if (isNews && standing.phase === 'Held') tellHeld(run, standing);
  const mustBeWritten = decision.reason === 'TargetChanged' || (run.hasResults && pending.gones.length > 0);
  const dueAt = mustBeWritten ? now : recordDueAt(pending, standing);
  if (dueAt <= now) await recordIfNew(run, standing, decision.wakeAt);
  const wakes = [decision.wakeAt, dueAt > now ? dueAt : undefined].filter((at) => at !== undefined);
  return { kind: 'done', wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes) };
}

/**
 * Writes the record.
 * @throws when the object moved: nothing that depends on the record may go on.
 */
export async function record(run: Run, standing: Standing, next?: number): Promise<void> {
  const { reach, pending, rule } = run;
  if (rule === undefined) return;
  if (!reach.lease.holds()) throw new Error(`recording on ${nameOf(pending)}: the lease is not held`);
  const wanted = recordOf(pending, { ruleUid: rule.uid, standing, next });
  const outcome = await reach.cluster.patch(pathOf(pending), writeRecord(pending.meta, pending.rule, wanted));
  if (outcome.kind !== 'patched') {
    pending.facts = undefined;
    throw new Error(`recording on ${nameOf(pending)}: ${outcome.kind}`);
  }
  advance(pending, trimmed(outcome.meta));
  pending.recordedAt = reach.clock.now();
}

/** A record is best-effort unless results or a second target depend on it: then a failure keeps them in the queue. */
async function recordIfNew(run: Run, standing: Standing, next: number | undefined): Promise<void> {
  const { pending, rule } = run;
  if (rule === undefined) return;
  const wanted = recordOf(pending, { ruleUid: rule.uid, standing, next });
  if (!saysTheSame(readRecord(pending.meta, rule), wanted)) await record(run, standing, next);
}

function standingOf(pending: Pending, decision: Standstill, now: number): Standing {
  const { reason, message, phase } = told(pending, decision);
  const isSame = pending.standing?.reason === reason && pending.standing.phase === phase;
  return { phase, reason, message, since: isSame ? (pending.standing?.since ?? now) : now };
}

function told(pending: Pending, decision: Standstill): Pick<Standing, 'phase' | 'reason' | 'message'> {
  if (decision.act === 'hold') return { phase: 'Held', reason: decision.reason, message: decision.message };
  const { progress } = pending;
  const isWaiting = decision.reason === 'Requested' && progress !== undefined;
  const { reason, message } = isWaiting ? progress : decision;
  return decision.overdue
    ? { phase: 'Held', reason: 'DeadlineExceeded', message: `${reason}: ${message}` }
    : { phase: 'Pending', reason, message };
}

/** Held: at once. Otherwise after half a minute. Never sooner than a minute after the last one. */
function recordDueAt(pending: Pending, { phase }: Standing): number {
  const { deletionTimestamp, creationTimestamp, deletionGracePeriodSeconds } = pending.meta;
  const began = deletionBegan(deletionTimestamp ?? creationTimestamp, deletionGracePeriodSeconds);
  const earliest = phase === 'Held' ? 0 : began + QUIET_MS;
  return Math.max(earliest, (pending.recordedAt ?? 0) + RECORD_EVERY_MS);
}

interface RecordInput {
  readonly ruleUid: string;
  readonly standing: Standing;
  readonly next: number | undefined;
}

function recordOf(pending: Pending, { ruleUid, standing, next }: RecordInput): Record {
  const { refusal, firstPublished, retryHandled, retries } = pending;
  const { phase, reason, message, since } = standing;
  return {
    uid: pending.meta.uid,
    ruleUid,
    phase,
    reason,
    message,
    since: new Date(since).toISOString(),
    ...(firstPublished === undefined ? {} : { firstPublished: new Date(firstPublished).toISOString() }),
    ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
    ...(retryHandled === undefined ? {} : { retry: retryHandled }),
    ...(retries === 0 ? {} : { retries }),
    targets: [...pending.seen],
    ...(refusal === undefined ? {} : { refused: pick(refusal) }),
  };
}

function pick({ target, rule, attempt, retry }: NonNullable<Pending['refusal']>): NonNullable<Record['refused']> {
  return { target, rule, attempt, retry };
}

function tellHeld({ reach, pending, rule }: Run, { reason, message }: Standing): void {
  if (reason === 'DeadlineExceeded' && rule !== undefined) reach.metrics.overdue.inc({ rule: rule.name });
  reach.reporter.tell(pending, {
    type: 'Warning',
    reason: 'TeardownHeld',
    action: 'Teardown',
    message: `${pending.rule}: ${reason}: ${message}`,
  });
}
