/*
 * The traps and cases that decide alone keeps shut, each by its name: one small story a test.
 * The whole table is in decide.test.ts; here a reader finds why a row stands where it stands.
 */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS, runEndsBy } from '../../bridge/contract.ts';
import { decide } from '../../bridge/decide.ts';
import type { Observation, RuleView } from '../../bridge/observation.ts';
import { EXPIRES, LIVE, NOW, OTHER, observation, RULED, RUNS_END, ruleView } from '../support/decision-axes.ts';
import { asked, cleared, decided, gone, MINUTE, seen, sent } from '../support/decision-story.ts';

describe('a changed target', () => {
  it('is held, and nothing is published for it, until a person says so (V8)', () => {
    const see = { seen: [asked(OTHER), seen(LIVE)], sent: [sent(OTHER)] };
    expect(decided(see)).toBe('hold TargetChanged');
    expect(decided({ ...see, retryAsked: true })).toBe('publish 3/3');
    expect(decided({ ...see, release: 'now' })).toBe('remove Released');
  });

  it('is held when a gone tells of a target that nobody remembers', () => {
    expect(decided({ gones: [gone(OTHER)] })).toBe('hold TargetChanged');
    expect(decided({ gones: [gone(OTHER, { uid: 'uid-2' })] })).toBe('publish 3/2');
  });

  it('does not leak the new target when it is cleared after the old one is gone (V9)', () => {
    const see = { seen: [asked(LIVE), seen(OTHER)], gones: [gone(LIVE)] };
    expect(decided(see, cleared)).toBe('hold TargetMissing');
    expect(decided({ seen: [asked(LIVE)], sent: [sent(OTHER)], gones: [gone(LIVE)] }, cleared)).toBe(
      'hold TargetMissing',
    );
  });

  it('needs the gone of every target that was asked for (V10)', () => {
    const see = { seen: [asked(OTHER), asked(LIVE)], sent: [sent(LIVE)] };
    expect(decided({ ...see, gones: [gone(LIVE)] })).toBe('hold TargetChanged');
    expect(decided({ ...see, gones: [gone(LIVE), gone(OTHER)] })).toBe('remove Gone');
    expect(decided({ ...see, gones: [gone(LIVE), gone(OTHER, { uid: 'uid-2' })] })).toBe('hold TargetChanged');
  });

  it.each([
    ['not asked for', [asked(OTHER), seen(LIVE)], [], /^the target changed after a request was sent/],
    ['gone', [asked(OTHER), asked(LIVE)], [gone(LIVE)], /^the live target is gone, but an earlier one was requested/],
  ])('that is %s is held with words of its own (V10, P7)', (_what, met, gones, message) => {
    const decision = decide({ ...observation, seen: met, gones }, NOW);
    expect(decision).toMatchObject({ act: 'hold', message: expect.stringMatching(message) });
  });

  it('that came back to what was asked for is not held', () => {
    expect(decided({ seen: [asked(LIVE), seen(OTHER)], sent: [sent(LIVE)] })).toMatch(/^wait Requested/);
  });
});

describe('a target that somebody may have asked for and nobody knows', () => {
  const unknown = { knowsAllSent: false, unknownTarget: true };
  const messageOf = (see: Partial<Observation>, rule: Partial<RuleView> = {}) => {
    const decision = decide({ ...observation, rule: { ...ruleView, ...rule }, ...unknown, ...see }, NOW);
    return decision.act === 'hold' ? decision.message : '';
  };

  it('has the next one held before anything is sent for it, with words of its own (V10)', () => {
    expect(decided({ ...unknown, seen: [seen(LIVE)] })).toBe('hold TargetChanged');
    expect(messageOf({ seen: [seen(LIVE)] })).toMatch(
      /^another target may have been requested before.* the deletion began before it led.*, release; the present one is not asked for yet: retry takes it down$/,
    );
  });

  it('keeps the entry on after a retry took the next one down; only a release frees it (V10)', () => {
    expect(decided({ ...unknown, seen: [seen(LIVE)], retryAsked: true })).toBe('publish 3/3');
    const asked_ = { ...unknown, seen: [asked(LIVE)], sent: [sent(LIVE)] };
    expect(decided(asked_)).toMatch(/^wait Requested/);
    const answered = { ...asked_, gones: [gone(LIVE)] };
    expect(decided(answered)).toBe('hold TargetChanged');
    expect(messageOf(answered)).toMatch(/, release; the present one is gone$/);
    expect(decided(answered, cleared)).toBe('hold TargetMissing');
    expect(decided(answered, { binding: 'name' })).toBe('hold TargetChanged');
    expect(decided({ ...answered, release: 'wait' })).toBe('remove Released');
  });

  it('is told of where the live one is missing or invalid, and has that held whatever the policy is (V10, V11)', () => {
    const detail = /^no such key; another target may have been requested before this bridge looked.* release$/;
    expect(messageOf({}, cleared)).toMatch(detail);
    const invalid = { kind: 'invalid' as const, reason: 'TargetInvalid', detail: 'no such key' };
    expect(messageOf({}, { target: invalid })).toMatch(detail);
    const release = { ...cleared, whenTargetMissing: 'Release' as const };
    expect(decided({ unknownTarget: true, knowsAllSent: true }, release)).toBe('hold TargetMissing');
  });

  it('that an answer tells of is known: what it asks for then is its own gone (V10)', () => {
    const known = { knowsAllSent: false, seen: [asked(OTHER)], gones: [gone(OTHER)] };
    expect(decided(known, cleared)).toBe('remove Gone');
    expect(decided({ ...known, ...unknown }, cleared)).toBe('hold TargetMissing');
  });
});

describe('a cleared target', () => {
  it('is gone when its only request was answered so, and held otherwise (K32)', () => {
    expect(decided({ seen: [asked(LIVE)], gones: [gone(LIVE)] }, cleared)).toBe('remove Gone');
    expect(decided({ seen: [asked(LIVE)] }, cleared)).toBe('hold TargetMissing');
  });

  it.each([
    ['a target was seen', { seen: [seen(LIVE)] }],
    ['something was sent', { sent: [sent(LIVE, { confirmed: false })] }],
    ['another process may have sent something', { knowsAllSent: false }],
  ])('is not released under whenTargetMissing: Release when %s (V11)', (_why, see) => {
    const rule = { ...cleared, whenTargetMissing: 'Release' as const };
    expect(decided(see, rule)).toBe('hold TargetMissing');
    expect(decided({}, rule)).toBe('remove TargetMissing');
  });
});

describe('weak ownership', () => {
  it.each(['name', 'none'] as const)('by %s keeps the entry until no copy of a request can run (V12)', (binding) => {
    const see = { seen: [asked(LIVE)], sent: [sent(LIVE)], gones: [gone(LIVE)], runsEnd: RUNS_END };
    expect(decided(see, { binding })).toBe(`wait WaitingForCopies until ${RUNS_END}`);
    expect(decided(see, { binding }, RUNS_END)).toBe('remove Gone');
    expect(decided({ ...see, release: 'now' }, { binding })).toBe('remove Released');
    expect(decided(see, { binding: 'uid' })).toBe('remove Gone');
  });

  it('ends by that gone, although copies can run longer than a gone counts (P4)', () => {
    const runsEnd = runEndsBy(EXPIRES);
    const see = { seen: [asked(LIVE)], sent: [sent(LIVE)], gones: [gone(LIVE)], runsEnd };
    expect(runsEnd).toBeGreaterThan(EXPIRES + CLOCK_SKEW_MS);
    expect(decided(see, { binding: 'name' }, runsEnd - 1)).toBe(`wait WaitingForCopies until ${runsEnd}`);
    expect(decided(see, { binding: 'name' }, runsEnd)).toBe('remove Gone');
    expect(decided(see, { binding: 'name' }, runsEnd + CLOCK_SKEW_MS)).toBe('remove Gone');
    expect(decided(see, { binding: 'name' }, runsEnd + CLOCK_SKEW_MS + 1)).toMatch(/^publish/);
  });
});

describe('a gone', () => {
  it.each([
    [EXPIRES + CLOCK_SKEW_MS, 'remove Gone'],
    [EXPIRES + CLOCK_SKEW_MS + 1, 'publish 5/2'],
  ])('counts until a minute after its request expired: at %d it is %s (V22)', (now, expected) => {
    expect(decided({ seen: [asked(LIVE)], gones: [gone(LIVE)] }, {}, now)).toBe(expected);
  });

  it('of another object counts for nothing (K3)', () => {
    expect(decided({ gones: [gone(LIVE, { uid: 'uid-2' })] })).toBe('publish 3/2');
  });

  it('counts under a rule that has become unusable', () => {
    const see = { seen: [asked(LIVE)], gones: [gone(LIVE)] };
    expect(decided(see, { policy: 'Invalid' })).toBe('remove Gone');
    expect(decided(see, { paused: true })).toBe('remove Gone');
  });

  it('that found nothing is held under whenAbsent: Hold, unless this deletion had begun to take it down (V16)', () => {
    const gones = [gone(LIVE, { evidence: 'absent' })];
    const rule = { whenAbsent: 'Hold' as const };
    expect(decided({ seen: [asked(LIVE)], gones }, rule)).toBe('hold FoundNothing');
    expect(decided({ seen: [{ ...asked(LIVE), started: true }], gones }, rule)).toBe('remove Gone');
    expect(decided({ seen: [asked(LIVE)], gones, release: 'wait' }, rule)).toBe('remove Released');
    expect(decided({ seen: [asked(LIVE)], gones, retryAsked: true }, rule)).toBe('publish 3/3');
  });
});

describe('a refusal', () => {
  const refusal = { target: LIVE, rule: RULED, attempt: 3, retry: 2, reason: 'NotOwned', message: 'no', dueAt: NOW };
  const due = { seen: [asked(LIVE)], sent: [sent(LIVE)], refusal };

  it('keeps the entry on, for as long as it takes (K4)', () => {
    const resting = { ...due, refusal: { ...refusal, dueAt: NOW + 1 } };
    expect(decided(resting)).toBe(`hold NotOwned until ${NOW + 1}`);
    expect(decided({ ...resting, sent: [] })).toBe(`hold NotOwned until ${NOW + 1}`);
  });

  it('that is due goes on with the next rows, and so minds a pause and a wait (V15)', () => {
    expect(decided(due)).toBe('publish 3/2');
    expect(decided(due, { paused: true })).toBe('wait Paused until undefined');
    expect(decided({ ...due, graceEnds: NOW + 1 })).toBe(`wait GracePeriod until ${NOW + 1}`);
  });

  it('that was due and was sent again waits for the answer', () => {
    expect(decided({ ...due, sent: [sent(LIVE, { at: NOW })] })).toMatch(/^wait Requested/);
  });
});

describe('waiting', () => {
  it('for a pause says so and ends by itself; a release still works (K22)', () => {
    expect(decided({}, { paused: true })).toBe('wait Paused until undefined');
    expect(decided({ release: 'wait' }, { paused: true })).toBe('remove Released');
    expect(decided({}, { paused: false })).toBe('publish 3/2');
  });

  it('for the grace period of a Pod comes before the first request, whose number is never negative (K31, V19)', () => {
    const terms = { began: NOW, term: ruleView.terms.term };
    expect(decided({ graceEnds: NOW + 30_000 }, { terms })).toBe(`wait GracePeriod until ${NOW + 30_000}`);
    expect(decided({ graceEnds: NOW }, { terms: { ...terms, began: NOW + MINUTE } })).toBe('publish 0/2');
  });

  it('for the next term never goes back to an earlier attempt when the clock is set back (V5)', () => {
    const later = { seen: [asked(LIVE)], sent: [sent(LIVE, { attempt: 4 })] };
    expect(decided(later)).toMatch(/^wait Requested/);
    expect(decided({ ...later, retryAsked: true })).toBe('publish 4/3');
  });

  it('for an entry without a rule lasts until a person releases it, after what may still run (K33, V7)', () => {
    expect(decided({ rule: undefined, gones: [gone(LIVE)] })).toBe('hold NoRule');
    expect(decided({ rule: undefined, release: 'wait', runsEnd: RUNS_END })).toBe(
      `wait ReleaseWaiting until ${RUNS_END}`,
    );
    expect(decided({ rule: undefined, release: 'wait', runsEnd: RUNS_END }, {}, RUNS_END)).toBe('remove Released');
    expect(decided({ rule: undefined, release: 'now', runsEnd: RUNS_END })).toBe('remove Released');
  });

  it('for Retain publishes nothing more, late as it may have been set (V2)', () => {
    const see = { seen: [asked(LIVE)], sent: [sent(LIVE, { attempt: 0 })], runsEnd: RUNS_END };
    expect(decided(see, { policy: 'Retain' })).toBe(`wait RetainWaiting until ${RUNS_END}`);
    expect(decided({}, { policy: 'Retain' })).toBe('remove Retained');
  });
});

it('says that a deletion is past its deadline and goes on trying (row 11)', () => {
  const firstPublished = NOW - ruleView.deadline;
  expect(decided({ firstPublished })).toBe('publish 3/2');
  expect(decided({ firstPublished: firstPublished - 1 })).toBe('publish 3/2');
  expect(decided({ firstPublished: firstPublished - 1, sent: [sent(LIVE)] })).toMatch(/^wait Requested .*, overdue$/);
});
