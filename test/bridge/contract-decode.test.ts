/*
 * What decoding makes of junk, of tampering and of other versions:
 * a value that says why, never an exception.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRequest, decodeResult, MESSAGE_MAX_BYTES, REQUEST_TYPE, RESULT_TYPE } from '../../bridge/contract.ts';
import { goldenBytes } from '../support/golden.ts';
import { holds } from '../support/property.ts';

const REQUEST = goldenBytes('request-retry.json');
const RESULT = goldenBytes('result-pending.json');

/** A copy of a message in which something was set (`undefined` removes) at a path. */
function tampered(body: string, path: string, value: unknown): string {
  const message = JSON.parse(body);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const holder = keys.reduce((inner, key) => inner[key], message);
  holder[last] = value;
  return JSON.stringify(message);
}

const junk = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .record({ specversion: fc.constant('1.0'), id: fc.string(), source: fc.string(), type: fc.string() })
    .map((x) => JSON.stringify(x)),
);

describe('decoding junk', () => {
  it('never throws, and never takes junk for a message', () => {
    holds(
      fc.property(junk, (body) => {
        expect(decodeRequest(body)).toMatchObject({ ok: false, detail: expect.any(String) });
        expect(decodeResult(body)).toMatchObject({ ok: false, detail: expect.any(String) });
      }),
      { numRuns: 500 },
    );
  });

  it('takes a real message with one field turned to junk only where that field is free text or a time', () => {
    const paths = [
      'id',
      'source',
      'type',
      'time',
      'data',
      'data.rule',
      'data.object',
      'data.object.uid',
      'data.expires',
    ];
    holds(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const request = decodeRequest(tampered(REQUEST, path, value));
        const result = decodeResult(tampered(RESULT, path, value));
        const free = path === 'source' || (path === 'id' && value !== '');
        expect(request.ok).toBe(path === 'source' && typeof value === 'string');
        expect(result.ok).toBe(free && typeof value === 'string');
      }),
      { numRuns: 500 },
    );
  });

  it('never throws on a message cut off anywhere', () => {
    for (let length = 0; length < REQUEST.length; length += 1) {
      expect(decodeRequest(REQUEST.slice(0, length))).toMatchObject({ ok: false, failure: 'NotJson' });
    }
  });

  it.each([
    ['', 'NotJson'],
    ['{', 'NotJson'],
    ['null', 'NotCloudEvent'],
    ['[]', 'NotCloudEvent'],
    ['"text"', 'NotCloudEvent'],
    ['{"specversion":"0.3","id":"1","source":"s","type":"t"}', 'NotCloudEvent'],
    [`{"specversion":"1.0","id":"1","source":"s","type":"${REQUEST_TYPE}"}`, 'Invalid'],
  ])('calls %s what it is', (body, failure) => {
    expect(decodeRequest(body)).toMatchObject({ ok: false, failure });
  });

  it('survives nesting deeper than the stack within the size limit', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const body = REQUEST.replace('"options":{}', `"options":{"deep":${deep}}`);
    expect(body).toContain(deep);
    expect(decodeRequest(body)).toMatchObject({ ok: false, failure: 'Invalid' });
  });
});

describe('size limit', () => {
  const padded = (bytes: number, filler: string) =>
    `${REQUEST.slice(0, -1)},"extra":"${filler.repeat((bytes - Buffer.byteLength(REQUEST) - 11) / Buffer.byteLength(filler))}"}`;

  it('takes a message of exactly the limit', () => {
    const body = padded(MESSAGE_MAX_BYTES, 'x');
    expect(Buffer.byteLength(body)).toBe(MESSAGE_MAX_BYTES);
    expect(decodeRequest(body)).toMatchObject({ ok: true });
  });

  it('refuses one byte more, counted in UTF-8 (Q6)', () => {
    expect(decodeRequest(`${padded(MESSAGE_MAX_BYTES, 'x')} `)).toMatchObject({ ok: false, failure: 'TooLarge' });
    const umlauts = padded(MESSAGE_MAX_BYTES + 2, 'ü');
    expect(umlauts.length).toBeLessThan(MESSAGE_MAX_BYTES);
    expect(decodeRequest(umlauts)).toMatchObject({ ok: false, failure: 'TooLarge' });
    expect(decodeResult('x'.repeat(MESSAGE_MAX_BYTES + 1))).toMatchObject({ ok: false, failure: 'TooLarge' });
  });
});

describe('other versions', () => {
  it.each(['dev.finalizer-bridge.deletion.pending.v2', 'dev.finalizer-bridge.deletion.preview.v1', RESULT_TYPE, ''])(
    'calls a request of type "%s" an unknown type, whatever its data (Q12)',
    (type) => {
      expect(decodeRequest(tampered(tampered(REQUEST, 'data', 'new'), 'type', type))).toEqual({
        ok: false,
        failure: 'UnknownType',
        detail: type,
      });
    },
  );

  it('calls a dry run or a request where a result is expected an unknown type', () => {
    expect(decodeResult(tampered(RESULT, 'type', 'dev.finalizer-bridge.teardown.preview.v1'))).toMatchObject({
      failure: 'UnknownType',
    });
    expect(decodeResult(REQUEST)).toMatchObject({ failure: 'UnknownType' });
  });

  it('tolerates and drops fields that it does not know, at every level (Q12)', () => {
    for (const path of ['new', 'data.new', 'data.object.new', 'data.rule.new', 'data.cluster.new']) {
      expect(decodeRequest(tampered(REQUEST, path, { a: 1 }))).toEqual(decodeRequest(REQUEST));
      expect(decodeResult(tampered(RESULT, path, { a: 1 }))).toEqual(decodeResult(RESULT));
    }
    for (const path of ['data.result.new', 'data.handler.new']) {
      expect(decodeResult(tampered(RESULT, path, [1]))).toEqual(decodeResult(RESULT));
    }
    expect(decodeRequest(REQUEST)).toMatchObject({ ok: true });
    expect(decodeResult(RESULT)).toMatchObject({ ok: true });
  });
});

describe('tampering with a request', () => {
  it.each([
    ['id', 'x'],
    ['data.targetDigest', '0'.repeat(64)],
    ['data.ruleDigest', '0'.repeat(64)],
    ['data.target.bucket', 'team-b-data'],
    ['data.target', {}],
    ['data.options', { force: true }],
    ['data.ownership', { none: true }],
    ['data.handler', 'webhook'],
    ['data.attempt', 3],
    ['data.retry', 4],
    ['data.retry', undefined],
    ['data.rule.name', 'other'],
    ['data.rule.uid', 'other'],
    ['data.object.uid', 'other'],
    ['data.cluster.uid', 'other'],
  ])('in %s is noticed by digests and id (P2)', (path, value) => {
    const outcome = decodeRequest(tampered(REQUEST, path, value));
    expect(outcome).toMatchObject({ ok: false, failure: 'Invalid' });
    expect(outcome).toMatchObject({ detail: expect.stringContaining('does not match the data') });
  });

  it.each([
    ['data.attempt', -1],
    ['data.attempt', 1.5],
    ['data.retry', 0],
    ['data.expires', 'tomorrow'],
    ['data.expires', '2026-03-02T12:30:00+01:00'],
    ['data.object.uid', 'a/b'],
    ['data.rule.name', 'A'],
    ['data.rule.name', 'x'.repeat(64)],
    ['data.target.bucket', ''],
    ['data.target.bucket', 'ü'.repeat(513)],
    ['data.target.bucket', null],
    ['data.target.bucket', 1.5],
    ['data.target.bucket', [1]],
    ['data.ownership', {}],
    ['data.ownership', { tags: {} }],
    ['data.ownership', { tags: { a: 'b' }, none: true }],
    ['data.ownership', { none: false }],
    ['traceparent', '00-0-0-01'],
  ])('%s = %j is outside the schema', (path, value) => {
    expect(decodeRequest(tampered(REQUEST, path, value))).toMatchObject({ ok: false, failure: 'Invalid' });
  });

  it.each(['id', 'subject', 'time', 'traceparent', 'data', 'data.object.namespace'])(
    'without %s it is refused only where the field is needed',
    (path) => {
      const outcome = decodeRequest(tampered(REQUEST, path, undefined));
      expect(outcome.ok).toBe(path === 'data.object.namespace');
    },
  );
});

describe('tampering with a result', () => {
  it.each([
    ['data.requestId', 'x'],
    ['data.object.uid', 'other'],
    ['data.rule.name', 'other'],
    ['data.attempt', 9],
    ['data.retry', undefined],
    ['data.targetDigest', 'f'.repeat(64)],
    ['data.ruleDigest', 'f'.repeat(64)],
  ])('in %s is noticed by the request id (P1)', (path, value) => {
    expect(decodeResult(tampered(RESULT, path, value))).toMatchObject({ ok: false, failure: 'Invalid' });
  });

  it.each([
    { outcome: 'done' },
    { outcome: 'gone' },
    { outcome: 'gone', evidence: 'probably' },
    { outcome: 'Gone', evidence: 'deleted' },
    { outcome: 'pending' },
    { outcome: 'refused', reason: 'NotOwned' },
    { outcome: 'refused', reason: 'not owned', message: 'm' },
    { outcome: 'refused', reason: 'NotOwned', message: 'm'.repeat(513) },
    {},
    null,
  ])('%j is no outcome (P1)', (result) => {
    expect(decodeResult(tampered(RESULT, 'data.result', result))).toMatchObject({ ok: false, failure: 'Invalid' });
  });
});
