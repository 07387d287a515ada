/*
 * Says why a deletion is not done: in memory for metrics, in the record on the object, by an Event when it is held.
 * Called by reconcile.ts for the decisions hold and wait. A happy deletion never gets here with anything to write (P8):
 * the record is written when a deletion is held or has not been done within half a minute, and at most once a minute, but
 * sooner after a person's word, and at once where a result may only go when it is written down (traps V8, V10, V16).
 */
import type { Decision } from './decide.ts';
import { doubled } from './doubling.ts';
import { heldNote, isNewTelling } from './event-note.ts';
import type { Seen } from './observation.ts';
import { beganAt, type Pending, type Standing } from './pending.ts';
import { namesRequested, readRecordOfAnyRule, readRecordUnder, recordKey } from './record.ts';
import { inShort, recordIfNew, Unrecordable } from './recording.ts';
import type { Run, Step } from './run.ts';
import { isTooSlow } from './slowness.ts';
import { unreadWords, wordsSaid } from './words.ts';

const QUIET_MS = 30_000;
const RECORD_EVERY_MS = 60_000;
/** Where two bridges write over each other's records, each waits twice as long to repeat itself, up to so long. */
const REPEATED_MAX_MS = 16 * 60_000;
/** In the minute after a person's word somebody is looking: what comes of it is written sooner. */
const RECORD_AFTER_WORD_MS = 2_000;
const LISTENING_MS = 60_000;

type Standstill = Extract<Decision, { act: 'hold' | 'wait' }>;

/** Takes note of where a deletion stands, tells it where that is due, and says when to look again. */
export async function stand(run: Run, decision: Standstill): Promise<Step> {
  const { reach, pending } = run;
  const now = reach.clock.now();
  const standing = standingOf(pending, decision, now);
  const isNews = pending.standing?.reason !== standing.reason || pending.standing.phase !== standing.phase;
  pending.standing = standing;
  if (isNews && standing.phase === 'Held') tellHeld(run, standing);
  noteOverwriting(pending);
  const isOwed = pending.owesRecord || (run.hasResults && pending.gones.length > 0);
  // What a rule of the same name has left that went is nothing to whoever leads next under this one (V14).
  const written = readRecordUnder(run.rule, pending);
  // Once it is on the object, how it goes on changing can wait for its minute.
  const mustBeWritten = isOwed || (decision.reason === 'TargetChanged' && written?.reason !== 'TargetChanged');
  // What was answered is not heard again: what it was about has to be known to whoever leads next (trap V10).
  const unnamed = run.hasResults ? pending.seen.filter((one) => !namesRequested(written, [one])) : [];
  const dueAt =
    mustBeWritten || pending.owesRefusal || unnamed.length > 0
      ? now
      : recordDueAt(pending, { ...standing, isListening: isNewlySaid(pending, reach.clock.monotonic()) }, now);
  if (dueAt <= now) {
    await recordIfNew(run, standing, decision.wakeAt).catch((error: unknown) => {
      const isNeeded = mustBeWritten || unnamed.some((one) => isAnother(run, one));
      if (isNeeded || !(error instanceof Unrecordable)) throw error;
      // It is told elsewhere, and tried again as any record; nothing else depends on it: what was refused is refused again.
      pending.standing = error.standing;
      pending.recordedAt = now;
      pending.owesRefusal = false;
    });
  }
  const wakes = [decision.wakeAt, dueAt > now ? dueAt : undefined].filter((at) => at !== undefined);
  return { kind: 'done', wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes) };
}

/** Whether it is another target than the live one, which whoever leads next takes for asked for in any case. */
function isAnother({ facts }: Run, { target }: Pick<Seen, 'target'>): boolean {
  const live = facts.evaluation?.target;
  return live?.kind === 'found' && live.digest !== target;
}

function standingOf(pending: Pending, decision: Standstill, now: number): Standing {
  const { reason, message: said, phase } = told(pending, decision);
  const unread = unreadWords(pending.meta, pending.rule);
  const message = unread.length === 0 ? said : `${said}; not understood: ${unread.join('; ')}`;
  return { phase, reason, message, since: sinceWhen(pending, { phase, reason }, now) };
}

/** Two bridges that both believe to lead came to it at different times: the earlier one counts, or each would write its own. */
function sinceWhen(pending: Pending, { phase, reason }: Pick<Told, 'phase' | 'reason'>, now: number): number {
  const isSame = (one: Pick<Told, 'phase' | 'reason'> | undefined) => one?.phase === phase && one.reason === reason;
  const own = isSame(pending.standing) ? (pending.standing?.since ?? now) : now;
  const written = readRecordOfAnyRule(pending.meta, pending.rule);
  return written !== undefined && isSame(written) ? Math.min(own, Date.parse(written.since)) : own;
}

type Told = Pick<Standing, 'phase' | 'reason' | 'message'>;

const OVERDUE = { phase: 'Held', reason: 'DeadlineExceeded' } as const;

/** It goes on trying, but only more functions, or a shorter queue, will change anything. */
const TOO_SLOW = {
  phase: 'Held',
  reason: 'QueueTooSlow',
  message:
    'two requests in a row expired before the function began them: look at the age of the queue and at the function',
} as const satisfies Told;

function told(pending: Pending, decision: Standstill): Told {
  if (decision.act === 'hold') return { phase: 'Held', reason: decision.reason, message: decision.message };
  const said = waitingFor(pending, decision);
  return decision.overdue ? { ...OVERDUE, message: `${said.reason}: ${said.message}` } : said;
}

function waitingFor(pending: Pending, decision: Extract<Standstill, { act: 'wait' }>): Told {
  const { progress, answered } = pending;
  if (decision.reason !== 'Requested') return { phase: 'Pending', ...decision, message: withTime(decision) };
  if (isTooSlow(answered)) return TOO_SLOW;
  return { phase: 'Pending', ...(progress ?? decision) };
}

/** A wait for a point in time says it; a result is waited for as long as it takes. */
function withTime({ reason, message, wakeAt }: Extract<Decision, { act: 'wait' }>): string {
  return wakeAt === undefined || reason === 'Requested'
    ? message
    : `${message}, until ${new Date(wakeAt).toISOString()}`;
}

/** A word stands on the object for good: without an end two bridges would overwrite each other's records all the time. */
function isNewlySaid(pending: Pending, now: number): boolean {
  const text = wordsSaid(pending.meta, pending.rule);
  if (pending.said?.text !== text) pending.said = { text, at: now };
  return text !== '' && now - (pending.said?.at ?? now) < LISTENING_MS;
}

/** Two bridges that both believe to lead know of different answers: neither is to write over the other every minute. */
function noteOverwriting(pending: Pending): void {
  const { recordedText, meta, rule, overwritten } = pending;
  const text = meta.annotations?.[recordKey(rule)];
  if (recordedText === undefined || text === undefined || text === recordedText) return;
  pending.recordedText = undefined;
  pending.overwritten = overwritten + 1;
}

/** Held: at once. Otherwise after half a minute. Never sooner than a minute after the last one, or two seconds where a person spoke. */
function recordDueAt(
  pending: Pending,
  { isListening, ...standing }: Standing & { readonly isListening: boolean },
  now: number,
): number {
  const earliest = standing.phase === 'Held' ? 0 : beganAt(pending) + QUIET_MS;
  const isNews = pending.recordedReason !== inShort(standing);
  const repeated = isNews ? 0 : pending.overwritten;
  const first = isListening ? RECORD_AFTER_WORD_MS : RECORD_EVERY_MS;
  const every = doubled({ first, most: REPEATED_MAX_MS }, repeated);
  // A clock that was set back must not hold the next record off.
  return Math.max(earliest, Math.min(pending.recordedAt ?? 0, now) + every);
}

/** Tells of a reason once an hour: standing may go to and fro between two. */
function tellHeld({ reach, pending, rule }: Run, { reason, message, since }: Standing): void {
  if (reason === 'DeadlineExceeded' && rule !== undefined) reach.metrics.overdue.inc({ rule: rule.name });
  if (!isNewTelling(pending, reason, reach.clock.monotonic())) return;
  reach.reporter.tell(pending, {
    type: 'Warning',
    reason: 'TeardownHeld',
    action: 'Teardown',
    message: heldNote(pending, { reason, message, since }),
  });
}
