/*
 * What decide is told: what a record brings back, what counts as asked for, and until when a request may still run.
 * The rules are real ones, the object and the memory of it plain data.
 */
import { describe, expect, it } from 'vitest';
import {
  CALL_TIMEOUT_MS,
  CLOCK_SKEW_MS,
  possibleRunsEndOfAnyTerm,
  TERM_DEFAULT_MS,
  TERM_MAX_MS,
} from '../../bridge/contract.ts';
import type { Observation } from '../../bridge/observation.ts';
import { factsOf, observe, recall } from '../../bridge/observe.ts';
import type { Pending, SentRequest } from '../../bridge/pending.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { type Record, recordKey } from '../../bridge/record.ts';
import type { Rule } from '../../bridge/rule.ts';
import {
  CLUSTER_UID,
  deletingMeta,
  ENTRY,
  pendingOf,
  RULE,
  ruleOf,
  type SpecChanges,
} from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const MARGIN = CLOCK_SKEW_MS + CALL_TIMEOUT_MS;

interface Under {
  /** undefined where there is none; a plain one unless told. */
  readonly rule?: Rule | undefined;
  readonly spec?: SpecChanges;
  readonly pending?: Pending;
}

/** The observation of a pending object under a rule. */
function observed(changes: Partial<Pending> = {}, under: Under = {}): Observation {
  const { spec = { bucket: 'b' }, pending = pendingOf(changes) } = under;
  const rule = 'rule' in under ? under.rule : ruleOf();
  const object = { apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata: pending.meta, spec };
  recall(pending, rule, START);
  return observe(pending, factsOf({ object, name: RULE, rule, clusterUid: CLUSTER_UID, readAt: 0 }), { rule });
}

function recorded(changes: Partial<Record> = {}, meta: Partial<ObjectMeta> = {}): ObjectMeta {
  const record: Record = {
    ...{ uid: 'uid-logs', ruleUid: `uid-of-${RULE}`, phase: 'Held', reason: 'NotOwned', message: 'another owner' },
    ...{ since: stamp(START - 60_000), targets: [], ...changes },
  };
  return deletingMeta({ annotations: { [recordKey(RULE)]: JSON.stringify(record) }, ...meta });
}

describe('until when a request may still run', () => {
  const expires = START + 4 * TERM_DEFAULT_MS;
  const sent: SentRequest = { target: A, rule: B, attempt: 2, retry: 0, confirmed: false, at: START, expires };
  const held = (termHeldSince: number): Rule => ({ ...ruleOf(), termHeldSince });

  it('is known of a deletion watched from its beginning: nothing, or what was sent, confirmed or not', () => {
    expect(observed().runsEnd).toBeUndefined();
    expect(observed({ sent: [sent] }).runsEnd).toBe(START + 4 * TERM_DEFAULT_MS + MARGIN);
    const newer = { ...sent, target: B, attempt: 3, expires: expires + TERM_DEFAULT_MS };
    expect(observed({ sent: [newer, sent] }).runsEnd).toBe(START + 5 * TERM_DEFAULT_MS + MARGIN);
  });

  it.each([
    ['whose term nobody knows', ruleOf()],
    ['younger than the deletion', held(START + 1)],
    ['that is no more', undefined],
  ])('is assumed by the largest term under a rule %s (V6)', (_what, rule) => {
    const firstLooked = START + 10_000;
    const expected = firstLooked + 2 * CLOCK_SKEW_MS + 2 * TERM_MAX_MS + MARGIN;
    expect(observed({ knowsAllSent: false, firstLooked }, { rule }).runsEnd).toBe(expected);
  });

  it('is assumed by the term of the first look, two skews ahead (V1, V4)', () => {
    const rule = held(START);
    const looked = (after: number) => observed({ knowsAllSent: false, firstLooked: START + after }, { rule }).runsEnd;
    expect(looked(0)).toBe(START + 2 * TERM_DEFAULT_MS + MARGIN);
    expect(looked(TERM_DEFAULT_MS - 2 * CLOCK_SKEW_MS - 1)).toBe(START + 2 * TERM_DEFAULT_MS + MARGIN);
    expect(looked(TERM_DEFAULT_MS - 2 * CLOCK_SKEW_MS)).toBe(START + 3 * TERM_DEFAULT_MS + MARGIN);
  });

  it('is assumed by the largest term for what was sent under a rule that is no more', () => {
    const at = START + 60_000;
    expect(observed({ sent: [{ ...sent, at }] }, { rule: undefined }).runsEnd).toBe(possibleRunsEndOfAnyTerm(at));
  });
});

describe('a target', () => {
  it('counts as asked for when it is the first that a bridge meets that has not seen the deletion begin (V1)', () => {
    expect(observed({ knowsAllSent: false }).seen).toMatchObject([{ requested: true, started: false }]);
    expect(observed({ knowsAllSent: true }).seen).toMatchObject([{ requested: false, started: false }]);
  });

  it('that comes second was not asked for: that would have been written down', () => {
    const seen = [{ target: A, rule: B, requested: true, started: false }];
    expect(observed({ knowsAllSent: false, seen }).seen.map(({ requested }) => requested)).toEqual([true, false]);
  });

  it('is not the only thing that may be invalid: so may the policy, which then says why', () => {
    expect(observed({}, { rule: ruleOf({ policy: 'object.spec.bucket' }) }).rule).toMatchObject({
      ...{ policy: 'Invalid', policyDetail: 'policy: the policy is "b", neither "Delete" nor "Retain"' },
    });
    expect(observed().rule).toMatchObject({ policy: 'Delete', policyDetail: '' });
  });

  it('that is missing or invalid is not remembered', () => {
    expect(observed({}, { spec: {} })).toMatchObject({ seen: [], rule: { target: { kind: 'missing' } } });
    const empty = observed({}, { spec: { bucket: '' } });
    expect(empty).toMatchObject({ seen: [], rule: { target: { kind: 'invalid', reason: 'TargetInvalid' } } });
  });

  it('whose ownership cannot be computed is invalid, and says so; it is met all the same', () => {
    const rule = ruleOf({ ownership: { tags: { owner: 'object.metadata.uid + object.spec.owner' } } });
    expect(observed({}, { rule })).toMatchObject({
      rule: { digest: undefined, target: { kind: 'invalid', reason: 'OwnershipInvalid' } },
      seen: [{ target: expect.any(String), requested: false }],
    });
  });
});

describe('a record', () => {
  const target = { target: A, rule: B, requested: true, started: true };

  it('brings back what was known, and makes the next bridge no less careful', () => {
    const refusal = { target: A, rule: B, attempt: 1, retry: 1, reason: 'NotOwned', message: 'another owner' };
    const refused = { ...refusal, due: stamp(START + 3_600_000) };
    const meta = recorded({ targets: [target], firstPublished: stamp(START), retry: 'x', retries: 2, refused });
    expect(observed({ meta })).toMatchObject({
      ...{ firstPublished: START, retries: 2 },
      seen: [target, { requested: false }],
      refusal: { ...refusal, dueAt: START + 3_600_000 },
    });
  });

  it('takes nothing back that this process knows better', () => {
    const refusal = { target: A, rule: B, attempt: 1, retry: 1, reason: 'NotOwned', message: 'another owner' };
    const meta = recorded({
      ...{ targets: [{ ...target, requested: false, started: false }], firstPublished: stamp(START), retry: 'old' },
      refused: { ...refusal, due: stamp(START) },
    });
    const newer = { ...refusal, attempt: 2, reason: 'Retained', dueAt: START + 1 };
    const standing = { phase: 'Held' as const, reason: 'Retained', message: 'locked', since: START };
    const known = { firstPublished: START + 1, retries: 5, refusal: newer };
    const pending = pendingOf({ meta, seen: [target], retryHandled: 'new', standing, ...known });
    expect(observed({}, { pending })).toMatchObject({ seen: [target, {}], ...known });
    expect(pending).toMatchObject({ retryHandled: 'new', standing });
  });

  it('of this process itself tells it nothing new', () => {
    const own = { ...target, started: false };
    const pending = pendingOf({ meta: recorded({ targets: [own], retries: 3 }), recalled: true, seen: [own] });
    expect(observed({}, { pending })).toMatchObject({
      seen: [own, { requested: false }],
      retries: 0,
      runsEnd: undefined,
    });
  });

  it.each([
    ['another object', { uid: 'uid-of-the-original' }],
    ['another rule of that name', { ruleUid: 'older-rule' }],
  ])('of %s is not read (V14)', (_what, changes) => {
    const see = observed({ meta: recorded({ ...changes, targets: [target], firstPublished: stamp(START) }) });
    expect(see.firstPublished).toBeUndefined();
    expect(see.seen).not.toContainEqual(target);
  });
});

describe('a person', () => {
  it('is heard once a word', () => {
    const meta = deletingMeta({ annotations: { [`retry.finalizer-bridge.dev/${RULE}`]: 'uid-logs/2' } });
    expect(observed({ meta }).retryAsked).toBe(true);
    expect(observed({ meta, retryHandled: '1' }).retryAsked).toBe(true);
    expect(observed({ meta, retryHandled: '2' }).retryAsked).toBe(false);
    expect(observed().retryAsked).toBe(false);
  });
});

describe('time', () => {
  it('counts from when the deletion was asked for; the grace period ends at deletionTimestamp (K31)', () => {
    const meta = deletingMeta({ deletionTimestamp: stamp(START + 30_000), deletionGracePeriodSeconds: 30 });
    const rule = ruleOf({ waitFor: { finalizers: ['a/b', 'c/d'], atMost: '10m' } });
    expect(observed({ meta: { ...meta, finalizers: ['c/d', ENTRY] } }, { rule })).toMatchObject({
      graceEnds: START + 30_000,
      rule: {
        terms: { began: START, term: TERM_DEFAULT_MS },
        waitFor: { finalizers: ['c/d'], until: START + 600_000 },
      },
    });
  });
});

describe('what is kept of an object while its deletion is pending', () => {
  const whole = (annotations: Readonly<{ [key: string]: string }>) => ({
    ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket', spec: { bucket: 'b', notes: 'x'.repeat(10_000) } },
    metadata: { ...deletingMeta({ annotations }), managedFields: [{ manager: 'kubectl', notes: 'x'.repeat(10_000) }] },
  });
  const kept = (annotations: Readonly<{ [key: string]: string }>, rule: Rule | undefined) =>
    factsOf({ object: whole(annotations), name: RULE, rule, clusterUid: CLUSTER_UID, readAt: 0 }).object;
  const RULES = [
    ['under its rule', ruleOf()],
    ['without a rule', undefined],
  ] as const;

  it.each(RULES)('%s, does not grow with its content, nor with what others have written on it (P8)', (_what, rule) => {
    const object = kept({ 'example.com/notes': 'x'.repeat(10_000) }, rule);
    expect(JSON.stringify(object).length).toBeLessThan(500);
    expect(object).toEqual({
      ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket' },
      metadata: { ...deletingMeta(), annotations: {} },
    });
  });

  it.each(RULES)('%s, is all of it while a person’s word stands on it: who signed it is to be told', (_what, rule) => {
    const word = { [`retry.finalizer-bridge.dev/${RULE}`]: 'uid-logs/again' };
    expect(kept(word, rule)).toEqual(whole(word));
  });
});
