/*
 * What an endpoint's answer means, as a table of statuses and bodies, and what errors on the way to it mean, by code.
 * Answers that come over a real connection are in webhook-network.test.ts.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../functions/aws-errors.ts';
import { outcomeOf } from '../../functions/handlers/webhook/answer.ts';
import { webhookErrors } from '../../functions/handlers/webhook/errors.ts';
import { holds } from '../support/property.ts';
import { NOW } from './fixtures.ts';

const targetDigest = 'a'.repeat(64);
const gone = { outcome: 'gone', evidence: 'deleted' } as const;
const refusal = { outcome: 'refused', reason: 'NotOwned', message: 'of another owner' } as const;
const deleting = { outcome: 'pending', reason: 'Deleting' } as const;

/** The outcome of an answer; an object is written as JSON with the digest of the target. */
function outcome(status: number, body: object | string = '', retryAfter?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify({ targetDigest, ...body });
  return outcomeOf({ webhook: 'crm', targetDigest, status, retryAfter, body: text, now: NOW });
}
const inSeconds = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

describe('gone', () => {
  it.each([200, 201, 204, 299, 404, 410])('is believed with %i if the body says so of this target', (status) => {
    expect(outcome(status, gone)).toEqual(gone);
    expect(outcome(status, { ...gone, evidence: 'absent' })).toEqual({ outcome: 'gone', evidence: 'absent' });
  });

  it('is never said by a status alone, nor by a body that is no answer', () => {
    const bodies = [
      ...['', 'gone', '[]', 'null', '{}', '"gone"', '<html>', JSON.stringify(gone)],
      ...[{ outcome: 'gone' }, { outcome: 'gone', evidence: 'yes' }, { outcome: 'Gone', evidence: 'deleted' }],
      ...[
        { ...gone, targetDigest: 'b'.repeat(64) },
        { ...gone, targetDigest: targetDigest.toUpperCase() },
      ],
      ...[{ ...gone, targetDigest: undefined }, { result: gone }, [{ ...gone, targetDigest }]],
    ];
    for (const status of [200, 204, 404, 410, 400, 500]) {
      for (const body of bodies)
        expect(outcome(status, body).outcome, `${status} ${JSON.stringify(body)}`).toBe('pending');
    }
  });

  it('is not believed with any other status, whatever the body says (C5)', () => {
    const others = Array.from({ length: 500 }, (_, index) => 100 + index).filter(
      (status) => (status < 200 || status > 299 || status === 202) && status !== 404 && status !== 410,
    );
    expect(others.filter((status) => outcome(status, gone).outcome === 'gone')).toEqual([]);
  });

  it('is never made of anything that does not repeat the digest', () => {
    const digest = fc.oneof(fc.string(), fc.constant(undefined), fc.stringMatching(/^[0-9a-f]{64}$/), fc.object());
    holds(
      fc.property(fc.integer({ min: 100, max: 599 }), digest, (status, other) => {
        fc.pre(other !== targetDigest);
        return outcome(status, { ...gone, targetDigest: other }).outcome !== 'gone';
      }),
    );
  });
});

describe.each([
  [200, '', 'InvalidAnswer'],
  [200, { ...gone, targetDigest: 'b'.repeat(64) }, 'WrongDigest'],
  [202, '', 'Accepted'],
  [202, gone, 'Accepted'],
  [202, refusal, 'Accepted'],
  [300, gone, 'Redirected'],
  [301, gone, 'Redirected'],
  [307, refusal, 'Redirected'],
  [400, '', 'UnexpectedStatus'],
  [404, '', 'UnexpectedStatus'],
  [409, gone, 'UnexpectedStatus'],
  [410, 'Gone', 'UnexpectedStatus'],
  [429, refusal, 'Throttled'],
  [500, gone, 'ServiceError'],
  [503, refusal, 'ServiceError'],
  [100, gone, 'ServiceError'],
] as const)('an answer of %i with the body %j', (status, body, reason) => {
  it(`is pending, ${reason}`, () => {
    expect(outcome(status, body)).toEqual({ outcome: 'pending', reason, message: `crm answered ${status}` });
  });

  it('is asked for again when Retry-After says', () => {
    expect(outcome(status, body, '120')).toMatchObject({ reason, retryAt: inSeconds(120) });
  });
});

describe('refused', () => {
  it.each([200, 400, 401, 403, 404, 409, 410, 422])('is taken with %i if the body says so of this target', (status) => {
    expect(outcome(status, refusal)).toEqual(refusal);
  });

  it.each([401, 403])('is what a %i without an answer means, also if it says gone', (status) => {
    for (const body of ['', gone, { ...refusal, targetDigest: 'b'.repeat(64) }]) {
      const message = `crm answered ${status}: it takes no request of this function`;
      expect(outcome(status, body)).toEqual({ outcome: 'refused', reason: 'EndpointDenied', message });
    }
  });

  it('carries when to look again', () => {
    expect(outcome(200, { ...refusal, retryAt: inSeconds(86_400) })).toMatchObject({ retryAt: inSeconds(86_400) });
  });
});

describe('pending', () => {
  it.each([200, 202, 404, 409])('is taken with %i, with its progress', (status) => {
    const said = { ...deleting, message: 'two of five', progress: 'begun' };
    expect(outcome(status, said)).toStrictEqual(said);
  });

  it.each([
    ['a number of seconds', '90', 90],
    ['less than ten seconds', '0', 10],
    ['a day', '86400', 3600],
    ['more than can be counted', '999999999', 3600],
    ['a date', new Date(NOW + 60_000).toUTCString(), 60],
    ['a date that is over', new Date(NOW - 60_000).toUTCString(), 10],
  ])('waits as long as %s says, between ten seconds and an hour', (_what, retryAfter, seconds) => {
    expect(outcome(202, '', retryAfter)).toMatchObject({ retryAt: inSeconds(seconds) });
    expect(outcome(200, { ...deleting, retryAt: inSeconds(999) }, retryAfter)).toMatchObject({
      retryAt: inSeconds(seconds),
    });
  });

  it.each(['', 'soon', 'soon GMT', 'Tue, 01 Jan 2030 00:02:00 GMT+0100', '-5', '1e3', '9999999999999'])(
    'overlooks the Retry-After %j',
    (retryAfter) => {
      expect(outcome(202, '', retryAfter)).not.toHaveProperty('retryAt');
      expect(outcome(200, { ...deleting, retryAt: inSeconds(100_000) }, retryAfter)).toMatchObject({
        retryAt: inSeconds(3600),
      });
    },
  );
});

describe('errors on the way', () => {
  const rows = Object.entries(webhookErrors['webhook:Ask'] ?? {});

  it.each(rows)('%s means again, whatever the status', (code, { reason }) => {
    for (const status of [undefined, 200, 404, 410]) {
      const error = Object.assign(new Error('x'), { code, $metadata: { httpStatusCode: status } });
      expect(classify('webhook:Ask', error, webhookErrors)).toMatchObject({ means: 'again', code, reason });
    }
  });

  it('are all that there are, and tell certificates from what is too large and what is not reached', () => {
    expect(Object.keys(webhookErrors)).toEqual(['webhook:Ask']);
    expect([...new Set(rows.map(([, { reason }]) => reason))].sort()).toEqual([
      ...['CertificateInvalid', 'ResponseTooLarge', 'Unreachable'],
    ]);
  });
});
