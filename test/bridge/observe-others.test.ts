/*
 * What decide is told where this process is not the only one that acts: answers to requests that it has not sent, records that
 * somebody has damaged or dated ahead, proofs that hold no uid, words of a person. The rest is in observe.test.ts.
 */
import { describe, expect, it } from 'vitest';
import {
  CALL_TIMEOUT_MS,
  CLOCK_SKEW_MS,
  possibleRunsEndOfAnyTerm,
  ruleDigestOf,
  TERM_DEFAULT_MS,
} from '../../bridge/contract.ts';
import { factsOf, noteAnswer, observe, recall } from '../../bridge/observe.ts';
import type { Pending, SentRequest } from '../../bridge/pending.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { type Record, recordKey } from '../../bridge/record.ts';
import type { Rule } from '../../bridge/rule.ts';
import { CLUSTER_UID, deletingMeta, HANDLER, pendingOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const MARGIN = CLOCK_SKEW_MS + CALL_TIMEOUT_MS;
/** When a request of the first term expires. */
const FIRST = START + 2 * TERM_DEFAULT_MS;

const objectOf = (meta: ObjectMeta, spec: object = { bucket: 'b' }) => ({
  ...{ apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata: meta, spec },
});
const factsUnder = (pending: Pending, rule: Rule | undefined, spec?: object) =>
  factsOf({ object: objectOf(pending.meta, spec), name: RULE, rule, clusterUid: CLUSTER_UID, readAt: 5 });
/** The observation in a look under a rule. */
const observed = (pending: Pending, rule: Rule | undefined = ruleOf(), spec?: object) =>
  observe(pending, factsUnder(pending, rule, spec), { rule });

const sentOf = (expires: number): SentRequest => ({
  ...{ target: A, rule: B, attempt: 0, retry: 0, confirmed: true, at: START, expires },
});

describe('an answer', () => {
  const now = START + 90_000;
  const held: Rule = { ...ruleOf(), termHeldSince: START };

  it('to what nobody can have sent, as far as is known here, tells of another leader: it may have sent more (V1, V12)', () => {
    const pending = pendingOf();
    noteAnswer(pending, held, { expires: FIRST, now });
    expect(observed(pending, held)).toMatchObject({ knowsAllSent: false, runsEnd: FIRST + MARGIN });
    const unheld = pendingOf();
    noteAnswer(unheld, ruleOf(), { expires: FIRST, now });
    expect(observed(unheld).runsEnd).toBe(possibleRunsEndOfAnyTerm(now));
  });

  it('to a request of a later term than this process has sent does as well; what both have sent counts', () => {
    const pending = pendingOf({ sent: [sentOf(FIRST)] });
    noteAnswer(pending, held, { expires: FIRST + 1, now });
    expect(pending.othersUntil).toBe(now);
    pending.sent = [sentOf(FIRST + TERM_DEFAULT_MS)];
    expect(observed(pending, held).runsEnd).toBe(FIRST + TERM_DEFAULT_MS + MARGIN);
    pending.sent = [];
    expect(observed(pending, held).runsEnd).toBe(FIRST + MARGIN);
  });

  it('to what this process has sent, or is known to have been sent before it looked, tells of nobody', () => {
    const own = pendingOf({ sent: [sentOf(FIRST)] });
    noteAnswer(own, held, { expires: FIRST, now });
    expect(observed(own, held)).toMatchObject({ knowsAllSent: true, runsEnd: FIRST + MARGIN });
    const newcomer = pendingOf({ knowsAllSent: false, firstLooked: START });
    noteAnswer(newcomer, held, { expires: FIRST, now });
    expect(newcomer.othersUntil).toBeUndefined();
    noteAnswer(newcomer, held, { expires: FIRST + TERM_DEFAULT_MS, now });
    expect(newcomer.othersUntil).toBe(now);
  });
});

describe('a record', () => {
  const recorded = (changes: Partial<Record> = {}): ObjectMeta => {
    const record: Record = {
      ...{ uid: 'uid-logs', ruleUid: `uid-of-${RULE}`, phase: 'Held', reason: 'NotOwned', message: 'another owner' },
      ...{ since: stamp(START - 60_000), targets: [], ...changes },
    };
    return deletingMeta({ annotations: { [recordKey(RULE)]: JSON.stringify(record) } });
  };
  const recalled = (changes: Partial<Pending>, rule: Rule | undefined = ruleOf()): Pending => {
    const pending = pendingOf(changes);
    recall(pending, rule, START);
    return pending;
  };

  it('says where the deletion stands, and since when', () => {
    const since = START - 60_000;
    expect(recalled({ meta: recorded() })).toMatchObject({
      ...{ recalled: true, recordedAt: since, unknownTarget: false, retryHandled: undefined, refusal: undefined },
      ...{
        firstPublished: undefined,
        standing: { phase: 'Held', reason: 'NotOwned', message: 'another owner', since },
      },
    });
  });

  it('that is dated ahead of this clock holds nothing off: it counts from the first look', () => {
    const meta = recorded({ since: stamp(START + 3_600_000) });
    expect(recalled({ meta, firstLooked: START + 5 })).toMatchObject({
      ...{ recordedAt: START + 5, standing: { since: START + 5 } },
    });
  });

  it('is believed up to a number of retries that somebody can have asked for', () => {
    expect(recalled({ meta: recorded({ retries: 100_000 }) }).retries).toBe(100_000);
    expect(recalled({ meta: recorded({ retries: 1_000_000 }) }).retries).toBe(100_000);
    expect(recalled({ meta: recorded() }).retries).toBe(0);
  });

  it('is not read before there is a rule, and then is', () => {
    const pending = pendingOf({ meta: recorded({ retries: 3 }) });
    recall(pending, undefined, START);
    expect(pending).toMatchObject({ recalled: false, retries: 0 });
    recall(pending, ruleOf(), START);
    expect(pending).toMatchObject({ recalled: true, retries: 3 });
  });

  it('that is cut off makes whoever has not seen the deletion begin careful, and nobody else (V14)', () => {
    const meta = deletingMeta({ annotations: { [recordKey(RULE)]: '{"phase":"Held","rea' } });
    expect(recalled({ meta, knowsAllSent: false })).toMatchObject({ unknownTarget: true, seen: [{ requested: true }] });
    expect(recalled({ meta })).toMatchObject({ unknownTarget: undefined, seen: [] });
  });

  it('keeps a target unknown that no answer was about; one that was only met is no answer', () => {
    const meta = recorded({ unknownTarget: true });
    const seen = (requested: boolean) => [{ target: A, rule: B, requested, started: false }];
    expect(recalled({ meta, seen: seen(false) }).unknownTarget).toBe(true);
    expect(recalled({ meta, seen: seen(true) }).unknownTarget).toBe(false);
  });
});

describe('a proof of ownership', () => {
  const binding = (tags: object, spec?: object) =>
    observed(pendingOf(), ruleOf({ ownership: { tags } }), spec).rule?.binding;

  it('binds to this object only where it holds the uid that it reads (V12)', () => {
    expect(binding({ owner: 'object.metadata.uid' })).toBe('uid');
    expect(binding({ team: "'a'", owner: "'x-' + object.metadata.uid" })).toBe('uid');
    expect(binding({ owner: "object.metadata.uid == '' ? 'a' : 'b'" })).toBe('name');
  });

  it('that cannot be computed, or is none, is bound as the rule says', () => {
    expect(binding({ owner: 'object.metadata.uid + object.spec.owner' })).toBe('uid');
    const tags = { owner: "object.metadata.namespace + '/' + object.metadata.name" };
    expect(binding(tags)).toBe('name');
    const namedSo = pendingOf({ meta: deletingMeta({ name: 'uid-logs' }) });
    expect(observed(namedSo, ruleOf({ ownership: { tags } })).rule?.binding).toBe('name');
    expect(observed(pendingOf(), ruleOf({ ownership: { none: true } })).rule?.binding).toBe('none');
  });

  it('has its part in the digest of the rule, and without it there is none', () => {
    const rule = ruleOf({ options: { gently: true } });
    const ownership = { tags: { 'finalizer-bridge.dev/owner-uid': 'uid-logs' } };
    const facts = factsUnder(pendingOf(), rule);
    expect(facts).toMatchObject({ rule, readAt: 5 });
    expect(facts.ruleDigest).toBe(
      ruleDigestOf({ cluster: CLUSTER_UID, rule: rule.uid, handler: HANDLER, options: { gently: true }, ownership }),
    );
    expect(factsUnder(pendingOf(), undefined)).toMatchObject({ evaluation: undefined, ruleDigest: undefined });
  });

  it('is not the digest under which a target is met where it cannot be computed, and no other is (V10, V11)', () => {
    const rule = ruleOf({ ownership: { tags: { owner: 'object.metadata.uid + object.spec.owner' } } });
    const unproven = observed(pendingOf(), rule);
    expect(unproven.seen).toMatchObject([{ rule: '0'.repeat(64), requested: false, started: false }]);
    expect(unproven.rule?.target).toEqual({
      ...{ kind: 'invalid', reason: 'OwnershipInvalid', detail: expect.stringMatching(/^ownership owner: ./) },
    });
    const proven = observed(pendingOf(), rule, { bucket: 'b', owner: 'me' });
    expect(proven.seen).toMatchObject([{ rule: proven.rule?.digest }]);
  });
});

describe('what is told of the rule', () => {
  it('is what it says of a target that is missing or invalid, and of which key', () => {
    const target = (spec: object) => observed(pendingOf(), ruleOf(), spec).rule?.target;
    expect(target({})).toEqual({ kind: 'missing', detail: expect.stringMatching(/^target bucket: ./) });
    const detail = 'target bucket: an empty string';
    expect(target({ bucket: '' })).toEqual({ kind: 'invalid', reason: 'TargetInvalid', detail });
  });

  it('is nothing to wait for where it says nothing, and none where no such finalizer is on', () => {
    expect(observed(pendingOf()).rule?.waitFor).toBeUndefined();
    const rule = ruleOf({ waitFor: { finalizers: ['a/b'], atMost: '10m' } });
    for (const finalizers of [undefined, ['c/d']]) {
      const see = observed(pendingOf({ meta: deletingMeta({ finalizers }) }), rule);
      expect(see.rule?.waitFor).toEqual({ finalizers: [], until: START + 600_000 });
    }
  });

  it('is nothing that what is kept of an object could tell, where there was none when it was read', () => {
    const pending = pendingOf({ knowsAllSent: false });
    const see = observe(pending, factsUnder(pending, undefined), { rule: ruleOf() });
    expect(see).toMatchObject({ rule: undefined, seen: [] });
  });

  it('is that there is none, and why', () => {
    const pending = pendingOf();
    const see = observe(pending, factsUnder(pending, undefined), { rule: undefined, neverAccepted: 'no such kind' });
    expect(see).toMatchObject({ rule: undefined, neverAccepted: 'no such kind', seen: [], unknownTarget: false });
  });
});

describe('a person', () => {
  it('who takes a word away that was handled has not said another: nothing is tried again for that (V10)', () => {
    expect(observed(pendingOf({ retryHandled: '1' })).retryAsked).toBe(false);
  });

  it('has approved what the budget holds back, and released it', () => {
    const heldBack = { until: START + 5 };
    expect(observed(pendingOf({ heldBack }))).toMatchObject({ heldBack, release: 'none' });
    const word = (prefix: string) =>
      deletingMeta({ annotations: { [`${prefix}.finalizer-bridge.dev/${RULE}`]: 'uid-logs' } });
    expect(observed(pendingOf({ heldBack, meta: word('approve') })).heldBack).toBeUndefined();
    expect(observed(pendingOf({ meta: word('release') })).release).toBe('wait');
  });
});
