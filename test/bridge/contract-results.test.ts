/*
 * Making results: what a handler says always fits into the contract,
 * and repeats what the request said.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeResult,
  encodeResult,
  makeRequest,
  makeResult,
  type Outcome,
  RESULT_MESSAGE_MAX,
} from '../../bridge/contract.ts';
import { plainInput } from '../support/golden.ts';
import { holds } from '../support/property.ts';

const text = fc.string({ unit: 'binary', maxLength: 2000, size: 'max' });
const instant = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const reason = fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,63}$/);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    outcome: fc.constant('gone' as const),
    evidence: fc.constantFrom('deleted' as const, 'absent' as const),
    message: text,
  }),
  fc.record({ outcome: fc.constant('pending' as const), reason, message: text, progress: text, retryAt: instant }),
  fc.record({ outcome: fc.constant('pending' as const), reason }),
  fc.record({ outcome: fc.constant('refused' as const), reason, message: text, retryAt: instant }),
);

describe('results', () => {
  it('of any outcome can be read again, with messages cut to what is allowed', () => {
    holds(
      fc.property(outcome, fc.nat(), (said, durationMs) => {
        const request = makeRequest(plainInput);
        const handler = { name: 's3-bucket', version: '1.2.3' };
        const result = makeResult({ request, outcome: said, handler, nonce: 'n', now: 1_772_444_000_000, durationMs });
        const decoded = decodeResult(encodeResult(result));
        expect(decoded).toEqual({ ok: true, message: result });
        expect(result.data.result.outcome).toBe(said.outcome);
        expect(result.data.result.message?.length ?? 0).toBeLessThanOrEqual(RESULT_MESSAGE_MAX);
      }),
      { numRuns: 300 },
    );
  });

  it('keep a message that just fits, and mark one that was cut', () => {
    const of = (message: string) =>
      makeResult({
        request: makeRequest(plainInput),
        outcome: { outcome: 'refused', reason: 'NotOwned', message },
        handler: { name: 's3-bucket', version: '1' },
        nonce: 'n',
        now: 0,
        durationMs: 0,
      }).data.result.message;
    expect(of('m'.repeat(RESULT_MESSAGE_MAX))).toBe('m'.repeat(RESULT_MESSAGE_MAX));
    expect(of('m'.repeat(RESULT_MESSAGE_MAX + 1))).toBe(`${'m'.repeat(RESULT_MESSAGE_MAX - 1)}…`);
    // What no queue takes is shown to have been there.
    expect(of('a\uffffb')).toBe('a\ufffdb');
  });

  it('repeat what the request said, so that the bridge can match them', () => {
    const request = makeRequest({ ...plainInput, attempt: 4, retry: 2 });
    const { data, traceparent, subject } = makeResult({
      request,
      outcome: { outcome: 'gone', evidence: 'absent' },
      handler: { name: 's3-bucket', version: '1' },
      nonce: 'n',
      now: 0,
      durationMs: 0,
    });
    const { cluster, rule, object, attempt, retry, targetDigest, ruleDigest, expires } = request.data;
    expect(data).toMatchObject({ cluster, rule, object, attempt, retry, targetDigest, ruleDigest, expires });
    expect({ id: data.requestId, traceparent, subject }).toEqual({
      id: request.id,
      traceparent: request.traceparent,
      subject: request.subject,
    });
  });
});
