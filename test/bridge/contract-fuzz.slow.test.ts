/*
 * Any request and any result that can be made, and what is left of them when somebody changes their bytes: they read back as they
 * were, or are refused, and never mean the teardown of anything else. A failure prints its seed and the smallest message.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRequest,
  decodeResult,
  encodeRequest,
  encodeResult,
  makeRequest,
  makeResult,
  type Ownership,
  type Request,
  type Target,
} from '../../bridge/contract.ts';
import { holds } from '../support/property.ts';

const MINUTE = 60_000;

/** Text that a message can carry: well formed, and not the two characters that SQS refuses. */
const text = (maxLength: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength })
    .filter((one) => one.isWellFormed() && !/[\ufffe\uffff]/.test(one));
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/);
const time = fc
  .integer({ min: Date.parse('2020-01-01T00:00:00Z') / 1000, max: Date.parse('2090-01-01T00:00:00Z') / 1000 })
  .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
const target: fc.Arbitrary<Target> = fc.dictionary(
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,12}$/).filter((key) => !Object.hasOwn(Object.prototype, key)),
  fc.oneof(
    text(40),
    fc.boolean(),
    fc.maxSafeInteger().map((one) => one || 0),
    fc.array(text(12), { maxLength: 4 }),
  ),
  { minKeys: 1, maxKeys: 4 },
);
const tags = fc.dictionary(
  text(20).filter((key) => !Object.hasOwn(Object.prototype, key)),
  text(40),
  { minKeys: 1, maxKeys: 3 },
);
const ownership: fc.Arbitrary<Ownership> = fc.oneof(
  tags.map((all) => ({ tags: all })),
  fc.constant({ none: true as const }),
);
const options = fc.dictionary(
  fc.stringMatching(/^[a-z][A-Za-z]{0,10}$/).filter((key) => !Object.hasOwn(Object.prototype, key)),
  fc.oneof(fc.boolean(), fc.integer(), text(20)),
  { maxKeys: 3 },
);
const request: fc.Arbitrary<Request> = fc
  .record({
    cluster: fc.record({ uid: fc.uuid() }),
    rule: fc.record({ name, uid: fc.uuid() }),
    ...{ handler: name, path: text(60), target, options, ownership },
    object: fc.record({
      ...{ apiVersion: fc.constant('storage.example.com/v1'), kind: fc.constant('Bucket') },
      ...{ resource: fc.constant('buckets'), namespace: fc.option(name, { nil: undefined }), name, uid: fc.uuid() },
      ...{ creationTimestamp: time, deletionTimestamp: time },
    }),
    gracePeriodSeconds: fc.constantFrom(0, 0, 30),
    attempt: fc.nat(200),
    retry: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    term: fc.constantFrom(30 * MINUTE, 60 * MINUTE, 360 * MINUTE),
  })
  .map(makeRequest);

describe('any request', () => {
  it('reads back as it was made, and the same one is the same bytes (P6)', () => {
    holds(
      fc.property(request, (made) => {
        const body = encodeRequest(made);
        expect(decodeRequest(body)).toEqual({ ok: true, message: JSON.parse(JSON.stringify(made)) });
        expect(encodeRequest(JSON.parse(JSON.stringify(made)))).toBe(body);
      }),
      { numRuns: 300 },
    );
  });

  it('of which bytes were changed is refused, or still asks for the same of the same object (P2)', () => {
    const seen = new Set<boolean>();
    const what = ({ data }: Request) => {
      const { target: of, options: how, ownership: proof, handler, cluster, rule, object, attempt, retry } = data;
      return { of, how, proof, handler, cluster: cluster.uid, rule, uid: object.uid, attempt, retry };
    };
    const damage = fc.record({
      at: fc.nat(),
      cut: fc.constantFrom(0, 1, 1, 2, 7),
      put: fc.oneof(fc.constantFrom('', '"', '0', '1', 'a', ',', '}', 'null', ' '), fc.string({ maxLength: 3 })),
    });
    holds(
      fc.property(request, fc.array(damage, { minLength: 1, maxLength: 2 }), (made, damages) => {
        const body = damages.reduce((left, { at, cut, put }) => {
          const from = at % (left.length + 1);
          return left.slice(0, from) + put + left.slice(from + cut);
        }, encodeRequest(made));
        const decoded = decodeRequest(body);
        seen.add(decoded.ok);
        if (decoded.ok) expect(what(decoded.message)).toEqual(what(made));
        else expect(decoded.detail).toEqual(expect.any(String));
      }),
      { numRuns: 1_500 },
    );
    // A property that only ever sees refusals proves nothing of what is taken.
    expect([...seen].sort()).toEqual([false, true]);
  });
});

describe('any result', () => {
  const reason = fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,20}$/);
  const outcome = fc.oneof(
    fc.record({
      outcome: fc.constant('gone' as const),
      evidence: fc.constantFrom('deleted' as const, 'absent' as const),
    }),
    fc.record({ outcome: fc.constant('pending' as const), reason, message: text(60) }),
    fc.record({ outcome: fc.constant('refused' as const), reason, message: text(60) }),
  );
  const about = { handler: { name: 'thing', version: '1.0.0' }, nonce: 'n', now: Date.parse('2026-03-01T08:00:00Z') };

  it('says of its request what the request said, and cut anywhere is refused', () => {
    holds(
      fc.property(request, outcome, fc.nat(), (made, of, at) => {
        const body = encodeResult(makeResult({ request: made, outcome: of, ...about, durationMs: 5 }));
        const decoded = decodeResult(body);
        if (!decoded.ok) throw new Error(`decoding ${body}: ${decoded.detail}`);
        const { data } = decoded.message;
        expect(data.result).toMatchObject(of);
        expect([data.requestId, data.object.uid]).toEqual([made.id, made.data.object.uid]);
        expect([data.targetDigest, data.ruleDigest]).toEqual([made.data.targetDigest, made.data.ruleDigest]);
        expect(decodeResult(body.slice(0, at % body.length)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
