/*
 * What decide must never do, whatever it is told: properties over arbitrary observations, coherent or not.
 * The table itself is in decide.test.ts, the traps by name in decide-traps.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptAt, CLOCK_SKEW_MS } from '../../bridge/contract.ts';
import { decide } from '../../bridge/decide.ts';
import type { Gone, Observation, RuleView } from '../../bridge/observation.ts';
import { holds } from '../support/property.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

const uid = fc.constantFrom('uid-1', 'uid-2');
const target = fc.constantFrom('target-a', 'target-b', 'target-c');
const ruleDigest = fc.constantFrom('rule-r', 'rule-s');
const near = fc.oneof(
  fc.integer({ min: NOW - 30 * HOUR, max: NOW + 30 * HOUR }),
  fc.integer({ min: NOW - 90_000, max: NOW + 90_000 }),
  fc.constantFrom(NOW, NOW - CLOCK_SKEW_MS, NOW - CLOCK_SKEW_MS - 1),
);
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const small = fc.nat({ max: 40 });

const view: fc.Arbitrary<RuleView> = fc.record({
  digest: fc.constant('rule-r'),
  target: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('found' as const), digest: target }) },
    fc.constant({ kind: 'missing' as const, detail: 'no such key' }),
    fc.constant({ kind: 'invalid' as const, reason: 'TargetInvalid', detail: 'empty' }),
  ),
  policy: fc.constantFrom('Delete', 'Delete', 'Delete', 'Retain', 'Invalid'),
  policyDetail: fc.constant('neither'),
  binding: fc.constantFrom('uid', 'uid', 'name', 'none'),
  terms: fc.record({ began: near, term: fc.constantFrom(HOUR / 2, HOUR, 6 * HOUR) }),
  paused: fc.boolean(),
  notAccepted: fc.option(fc.constant('its handler is not known'), { nil: undefined, freq: 5 }),
  deadline: fc.constantFrom(HOUR, 24 * HOUR),
  waitFor: maybe(fc.record({ finalizers: fc.constantFrom([], ['example.com/other']), until: near })),
  whenTargetMissing: fc.constantFrom('Hold', 'Release'),
  whenAbsent: fc.constantFrom('Release', 'Hold'),
});
const gone: fc.Arbitrary<Gone> = fc.record({
  ...{ uid, target, rule: ruleDigest, expires: near },
  evidence: fc.constantFrom('deleted', 'absent'),
});
const anything: fc.Arbitrary<Observation> = fc.record({
  uid: fc.constant('uid-1'),
  rule: fc.option(view, { nil: undefined, freq: 10 }),
  neverAccepted: maybe(fc.constant('it does not read')),
  release: fc.constantFrom('none', 'none', 'none', 'wait', 'now'),
  retryAsked: fc.boolean(),
  retries: small,
  graceEnds: near,
  firstPublished: maybe(near),
  heldBack: maybe(fc.record({ until: near, notKept: fc.constant('not counted') }, { requiredKeys: ['until'] })),
  seen: fc.array(fc.record({ target, rule: ruleDigest, requested: fc.boolean(), started: fc.boolean() }), {
    maxLength: 3,
  }),
  sent: fc.array(
    fc.record({ confirmed: fc.boolean(), target, rule: ruleDigest, attempt: small, retry: small, at: near }),
    { maxLength: 2 },
  ),
  gones: fc.array(gone, { maxLength: 3 }),
  refusal: maybe(
    fc.record({
      ...{ target, rule: ruleDigest, attempt: small, retry: small, dueAt: near },
      ...{ reason: fc.constant('NotOwned'), message: fc.constant('another owner') },
    }),
  ),
  knowsAllSent: fc.boolean(),
  unknownTarget: fc.boolean(),
  runsEnd: maybe(near),
});
/** One that never had an outside resource, so that its rare way out is seen in every run. */
const untouched: fc.Arbitrary<Observation> = fc.record({ see: anything, view }).map(({ see, view: rule }) => ({
  ...see,
  rule: { ...rule, target: { kind: 'missing', detail: 'no such key' }, policy: 'Delete', notAccepted: undefined },
  ...{ seen: [], sent: [], gones: [], release: 'none', knowsAllSent: true, unknownTarget: false, runsEnd: undefined },
}));
const observed = fc.oneof({ weight: 19, arbitrary: anything }, { weight: 1, arbitrary: untouched });

const runs = { numRuns: 6_000 };
const isRunning = ({ runsEnd }: Observation) => runsEnd !== undefined && NOW < runsEnd;

/** A gone for this object that was in time, or that waits for copies and was in time when it came. */
const counts = (see: Observation, { uid: of, expires }: Gone) => {
  const isWeak = see.rule !== undefined && see.rule.binding !== 'uid';
  return of === see.uid && NOW <= Math.max(expires, isWeak ? (see.runsEnd ?? 0) : 0) + CLOCK_SKEW_MS;
};

describe('whatever is observed', () => {
  it('takes the entry off only for a gone, a policy or a word that allows it (P1)', () => {
    const reasons = new Set<string>();
    holds(
      fc.property(observed, (see) => {
        const decision = decide(see, NOW);
        if (decision.act !== 'remove') return;
        const { reason } = decision;
        reasons.add(reason);
        switch (reason) {
          case 'Gone': {
            const mine = see.gones.filter((each) => counts(see, each) && each.rule === see.rule?.digest);
            const live = see.rule?.target;
            const met = [...see.seen, ...see.sent].map((each) => each.target);
            const [proof] = mine.filter((each) =>
              live?.kind === 'found' ? each.target === live.digest : met.every((other) => other === each.target),
            );
            expect(proof).toBeDefined();
            expect(live?.kind).not.toBe('invalid');
            const asked = see.seen.filter(({ requested }) => requested).map((each) => each.target);
            const confirmed = see.gones.filter((each) => counts(see, each)).map((each) => each.target);
            expect(confirmed).toEqual(expect.arrayContaining(asked));
            expect(see.unknownTarget).toBe(false);
            return;
          }
          case 'Released':
            expect(see.release === 'now' || (see.release === 'wait' && !isRunning(see))).toBe(true);
            return;
          case 'Retained':
            expect(see.rule?.policy).toBe('Retain');
            expect(isRunning(see)).toBe(false);
            return;
          case 'TargetMissing':
            expect(see.rule).toMatchObject({ whenTargetMissing: 'Release', target: { kind: 'missing' } });
            expect(see).toMatchObject({ knowsAllSent: true, unknownTarget: false, seen: [], sent: [] });
            return;
          default:
            reason satisfies never;
        }
      }),
      runs,
    );
    // A property that never sees a removal proves nothing.
    expect([...reasons].sort()).toEqual(['Gone', 'Released', 'Retained', 'TargetMissing']);
  });

  it('lets no Retain and no waited-for release overtake a request that can still run (V1, V2)', () => {
    holds(
      fc.property(observed, (see) => {
        const decision = decide({ ...see, gones: [] }, NOW);
        if (!isRunning(see) || decision.act !== 'remove') return;
        expect(see.release === 'now' || decision.reason === 'TargetMissing').toBe(true);
      }),
      runs,
    );
  });

  it('publishes nothing while it is released, retained, paused, in its grace period or not acceptable', () => {
    holds(
      fc.property(observed, (see) => {
        const decision = decide(see, NOW);
        if (decision.act !== 'publish') return;
        expect(see).toMatchObject({
          release: 'none',
          rule: { policy: 'Delete', paused: false, target: { kind: 'found' } },
        });
        expect(see.graceEnds).toBeLessThanOrEqual(NOW);
        expect(see.rule?.waitFor?.finalizers ?? []).toEqual([]);
        const earlier = see.sent.filter(
          (each) =>
            each.rule === see.rule?.digest &&
            see.rule.target.kind === 'found' &&
            each.target === see.rule.target.digest,
        );
        const term = see.rule === undefined ? -1 : attemptAt(see.rule.terms, NOW);
        expect(decision.attempt).toBeGreaterThanOrEqual(term);
        expect([term, ...earlier.map(({ attempt }) => attempt)]).toContain(decision.attempt);
        expect(decision.retry).toBe(see.retries + (see.retryAsked ? 1 : 0));
      }),
      runs,
    );
  });

  it('publishes one request a term: what the queue confirmed is not published again without a reason', () => {
    holds(
      fc.property(observed, (see) => {
        const decision = decide(see, NOW);
        if (decision.act !== 'publish' || see.rule?.target.kind !== 'found') return;
        const { attempt, retry } = decision;
        const { digest } = see.rule.target;
        const last = { confirmed: true, target: digest, rule: 'rule-r', attempt, retry, at: NOW };
        const next = decide({ ...see, retryAsked: false, retries: retry, sent: [last] }, NOW);
        expect(next.act).not.toBe('publish');
      }),
      runs,
    );
  });

  it('lets a release at once through every state, holds and waits included (V7)', () => {
    holds(
      fc.property(observed, (see) => {
        expect(decide({ ...see, release: 'now' }, NOW).act).toBe('remove');
        const waiting = decide({ ...see, release: 'wait' }, NOW);
        expect(waiting.act).toBe(isRunning(see) && waiting.act !== 'remove' ? 'wait' : 'remove');
      }),
      runs,
    );
  });

  it('ends once no request can run any more and nothing is held: it never asks to be woken in the past (P4)', () => {
    holds(
      fc.property(observed, (see) => {
        const decision = decide(see, NOW);
        if (decision.act !== 'hold' && decision.act !== 'wait') return;
        expect(decision.wakeAt ?? NOW + 1).toBeGreaterThan(NOW);
        expect(decision.reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(decision.message).not.toBe('');
      }),
      runs,
    );
  });

  it('is decided without an exception, the same way each time, and changes nothing of what it was told', () => {
    const odd = fc.double();
    holds(
      fc.property(observed, odd, odd, odd, (see, now, runsEnd, graceEnds) => {
        const told = structuredClone({ ...see, runsEnd, graceEnds });
        const decision = decide(told, now);
        expect(decide(told, now)).toEqual(decision);
        expect(told).toEqual({ ...see, runsEnd, graceEnds });
      }),
    );
  });

  it('counts nothing that was said about another object (K3)', () => {
    holds(
      fc.property(observed, (see) => {
        const foreign = see.gones.filter((each) => each.uid !== see.uid);
        const own = see.gones.filter((each) => each.uid === see.uid);
        expect(decide({ ...see, gones: [...foreign, ...own] }, NOW)).toEqual(decide({ ...see, gones: own }, NOW));
      }),
      runs,
    );
  });
});
