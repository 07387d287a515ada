/*
 * Small differences that decide has to tell apart: the same answer, refusal or request for something else, and the moments at which
 * it has to wake by itself. What is mixed up here lets an entry go, or waits in silence (P1, P4, P7). The traps that have a name are
 * in decide-traps.test.ts, the whole table in decide.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { decide } from '../../bridge/decide.ts';
import type { Observation } from '../../bridge/observation.ts';
import {
  LIVE,
  NOW,
  OTHER,
  observation,
  RULED,
  RULED_OTHERWISE,
  ruleView,
  TERM_ENDS,
} from '../support/decision-axes.ts';
import { asked, decided, gone, MINUTE, sent } from '../support/decision-story.ts';

const rule = { whenAbsent: 'Hold' as const };
const begun = { ...asked(LIVE), started: true };

describe('that nothing was found', () => {
  const found = (evidence: 'absent' | 'deleted') => [gone(LIVE, { evidence })];

  it('is for a person to look at only where nothing was found: what was deleted is gone (P4)', () => {
    expect(decided({ seen: [asked(LIVE)], gones: found('deleted') }, rule)).toBe('remove Gone');
    expect(decided({ seen: [asked(LIVE)], gones: found('absent') }, rule)).toBe('hold FoundNothing');
  });

  it.each([
    ['another target', { ...begun, target: OTHER, requested: false }],
    ['this target under another rule', { ...begun, rule: RULED_OTHERWISE }],
  ])('is no end of a teardown of %s, which was seen to begin (V16, P1)', (_what, other) => {
    expect(decided({ seen: [asked(LIVE), other], gones: found('absent') }, rule)).toBe('hold FoundNothing');
    expect(decided({ seen: [begun, other], gones: found('absent') }, rule)).toBe('remove Gone');
  });

  it('after its teardown was seen to begin is told as deleted, else as it was said', () => {
    const evidenceOf = (see: Partial<Observation>) =>
      decide({ ...observation, rule: ruleView, gones: found('absent'), ...see }, NOW);
    expect(evidenceOf({ seen: [begun] })).toMatchObject({ act: 'remove', evidence: 'deleted' });
    expect(evidenceOf({ seen: [asked(LIVE)] })).toMatchObject({ act: 'remove', evidence: 'absent' });
  });
});

describe('a request', () => {
  const refusal = { target: LIVE, rule: RULED, attempt: 3, retry: 2, reason: 'NotOwned', message: 'no' };

  it('is sent at once under a rule that has changed, in the same term: another teardown is asked for (P4)', () => {
    const see = { seen: [asked(LIVE)], sent: [sent(LIVE, { rule: RULED_OTHERWISE })] };
    expect(decided(see)).toBe('publish 3/2');
    expect(decided({ ...see, sent: [...see.sent, sent(LIVE)] })).toMatch(/^wait Requested/);
  });

  it('that a person asked for is sent once, although what was refused before is not due yet (P8)', () => {
    const see = { seen: [asked(LIVE)], refusal: { ...refusal, dueAt: NOW + MINUTE }, retryAsked: true };
    expect(decided({ ...see, sent: [sent(LIVE)] })).toBe('publish 3/3');
    expect(decided({ ...see, sent: [sent(LIVE, { retry: 3 })] })).toMatch(/^wait Requested/);
  });

  it('is not sent without the digest of its rule: what answers it could not be told from what answers another', () => {
    expect(decided({}, { digest: undefined })).toMatch(/^wait Requested/);
    expect(decided({ sent: [sent(OTHER)] }, { digest: undefined })).toMatch(/^wait Requested/);
  });

  it('is held up by no refusal of another target, or under another rule (P4)', () => {
    const resting = { ...refusal, dueAt: NOW + MINUTE };
    expect(decided({ refusal: resting })).toBe(`hold NotOwned until ${NOW + MINUTE}`);
    expect(decided({ refusal: { ...resting, target: OTHER } })).toBe('publish 3/2');
    expect(decided({ refusal: { ...resting, rule: RULED_OTHERWISE } })).toBe('publish 3/2');
  });

  it('waits for the finalizers that a rule names, each told, and for nothing once they are off (P4, P7)', () => {
    const waitFor = (...finalizers: readonly string[]) => ({ waitFor: { finalizers, until: NOW + MINUTE } });
    expect(decided({}, waitFor())).toBe('publish 3/2');
    for (const now of [NOW, NOW + MINUTE]) {
      const see = { ...observation, rule: { ...ruleView, ...waitFor('a/b', 'c/d') } };
      expect(decide(see, now)).toMatchObject({ message: expect.stringContaining('waiting for a/b, c/d') });
    }
  });
});

describe('while a request is out', () => {
  const waiting = (firstPublished: number | undefined, now = NOW) =>
    decided({ seen: [asked(LIVE)], sent: [sent(LIVE)], firstPublished }, {}, now);
  const first = (leftMs: number) => NOW - ruleView.deadline + leftMs;

  it('the end of the term wakes it, also when its deadline comes later, has passed or does not run', () => {
    expect(waiting(undefined)).toBe(`wait Requested until ${TERM_ENDS}`);
    expect(waiting(first(TERM_ENDS - NOW))).toBe(`wait Requested until ${TERM_ENDS}`);
    expect(waiting(first(-1))).toBe(`wait Requested until ${TERM_ENDS}, overdue`);
  });

  it('its deadline wakes it the moment that it is past, so that it is told at once (P7)', () => {
    expect(waiting(first(MINUTE))).toBe(`wait Requested until ${NOW + MINUTE + 1}`);
    expect(waiting(first(MINUTE), NOW + MINUTE)).toBe(`wait Requested until ${NOW + MINUTE + 1}`);
    expect(waiting(first(MINUTE), NOW + MINUTE + 1)).toBe(`wait Requested until ${TERM_ENDS}, overdue`);
  });
});

describe('a budget that holds a deletion back', () => {
  const told = (heldBack: Observation['heldBack']) => decide({ ...observation, heldBack }, NOW);

  it('is told as used up, or as what else it is, until the moment at which it is worth asking again (P7)', () => {
    const held = { act: 'hold', reason: 'BudgetExceeded', wakeAt: NOW + 1 };
    expect(told({ until: NOW + 1 })).toEqual({ ...held, message: expect.stringContaining('used up its budget') });
    const notKept = 'it cannot be counted';
    expect(told({ until: NOW + 1, notKept })).toEqual({ ...held, reason: 'BudgetNotKept', message: notKept });
    expect(told({ until: NOW, notKept })).toMatchObject({ act: 'publish' });
  });
});
