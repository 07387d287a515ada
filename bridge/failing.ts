/*
 * What fails again and again is held with the failure as its reason, so that it is never stuck silently (P7, K29): in
 * memory and metrics, by an Event, and on the object itself where that can be written. Called for each failed run of the
 * work queue, which goes on trying by itself.
 */
import { heldNote, isNewTelling } from './event-note.ts';
import { explain } from './log.ts';
import { FAILING, type Pending } from './pending.ts';
import { record, Unrecordable } from './recording.ts';
import type { Rule } from './rule.ts';
import { type Reach, ruleSeen } from './run.ts';

/** A single failure says little; from this many in a row on it is told. */
const FAILURES_UNTIL_HELD = 3;
const RECORD_EVERY_MS = 60_000;

/** A run that failed. */
export interface Failure {
  readonly key: string;
  readonly error: unknown;
  /** In a row. */
  readonly failures: number;
}

/** Takes note of a failure; never rejects. */
export async function noteFailure(reach: Reach, { key, error, failures }: Failure): Promise<void> {
  const { pendings, metrics, log, clock, reporter } = reach;
  const pending = pendings.get(key);
  const rule = pending?.rule ?? key.slice(key.indexOf('/') + 1);
  const message = explain(error);
  metrics.failures.inc({ rule: reach.labelOf(rule, pending?.kind) });
  // The first few, and then ever more rarely: thousands of objects may be refused alike.
  const level = failures <= FAILURES_UNTIL_HELD || Number.isInteger(Math.log2(failures)) ? 'warn' : 'debug';
  log[level]({ key, failures, err: message }, 'settling an object: trying again');
  if (pending === undefined || failures < FAILURES_UNTIL_HELD) return;
  // Where something is to be sent only once the record names it, nothing is wrong but that it cannot be written.
  const isHeld = error instanceof Unrecordable && error.standing.phase === 'Held';
  const told = isHeld ? error.standing : { reason: FAILING, message };
  const isNews = pending.standing?.reason !== told.reason;
  const since = isNews ? clock.now() : (pending.standing?.since ?? clock.now());
  const standing = { phase: 'Held' as const, reason: told.reason, message: told.message, since };
  pending.standing = standing;
  if (isNews && isNewTelling(pending, standing.reason, clock.monotonic())) {
    reporter.tell(pending, {
      type: 'Warning',
      reason: 'TeardownHeld',
      action: 'Teardown',
      message: heldNote(pending, standing),
    });
  }
  const { facts } = pending;
  if (facts === undefined || clock.now() < (pending.recordedAt ?? 0) + RECORD_EVERY_MS) return;
  try {
    await record({ reach, pending, facts, rule: ruleKnownUnder(reach, pending), hasResults: false }, standing);
  } catch (cause) {
    log.debug({ key, err: explain(cause) }, 'writing on the object why it fails: given up');
  }
}

/**
 * The rule, where what stands on the object is in memory and is written in the version that the rule is for. Else nothing is known
 * under it, and a record under it would forget what was requested (P1).
 */
function ruleKnownUnder(reach: Reach, pending: Pending): Rule | undefined {
  return pending.recalled ? ruleSeen(pending, reach.ruleOf(pending.rule, pending.kind)) : undefined;
}
