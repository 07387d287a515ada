/*
 * The messages as they were released: every byte of a golden sample must still be read and made the same way.
 * The public CloudEvents library is the oracle for the envelope.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CloudEvent, HTTP } from 'cloudevents';
import { describe, expect, it, vi } from 'vitest';
import { decodeRequest, decodeResult, encodeRequest, encodeResult, makeRequest } from '../../bridge/contract.ts';
import { goldenBytes, plainInput, requestSamples, resultSamples } from '../support/golden.ts';

const samples = [...requestSamples, ...resultSamples];

describe('golden samples of version 1', () => {
  it('are all tested, and none is missing', () => {
    const files = readdirSync(join(import.meta.dirname, '../golden/v1')).sort();
    expect(files).toEqual(samples.map(({ file }) => file).sort());
    expect(files.length).toBeGreaterThanOrEqual(12);
  });

  it.each(samples)('$file is made from the same input byte by byte', ({ file, make }) => {
    expect(make()).toBe(goldenBytes(file));
  });

  it.each(requestSamples)('$file is decoded and encoded again to the same bytes', ({ file }) => {
    const decoded = decodeRequest(goldenBytes(file));
    expect(decoded).toMatchObject({ ok: true });
    if (decoded.ok) expect(encodeRequest(decoded.message)).toBe(goldenBytes(file));
  });

  it.each(resultSamples)('$file is decoded and encoded again to the same bytes', ({ file }) => {
    const decoded = decodeResult(goldenBytes(file));
    expect(decoded).toMatchObject({ ok: true });
    if (decoded.ok) expect(encodeResult(decoded.message)).toBe(goldenBytes(file));
  });

  it.each(samples)('$file is a CloudEvent to the public library', ({ file }) => {
    const body = goldenBytes(file);
    const read = HTTP.toEvent({ headers: { 'content-type': 'application/cloudevents+json' }, body });
    expect(read).toMatchObject(JSON.parse(body));
    expect(new CloudEvent(JSON.parse(body), true).validate()).toBe(true);
  });
});

describe('bytes of a request', () => {
  const again = { ...plainInput, target: { region: 'eu-central-1', bucket: 'team-a-logs', account: '111122223333' } };

  it('depend neither on the order of keys nor on what else the caller holds (P6)', () => {
    const wider = { ...plainInput.object, resourceVersion: '815', finalizers: ['x'] };
    const rule = { ...plainInput.rule, evaluate: () => 'not a message' };
    expect(encodeRequest(makeRequest({ ...again, object: wider, rule }))).toBe(goldenBytes('request-plain.json'));
  });

  it('say all that the request says, field by field, and no more', () => {
    const { namespace: _, ...object } = plainInput.object;
    for (const input of [plainInput, { ...plainInput, object, cluster: { uid: 'another' }, retry: 2 }]) {
      const request = makeRequest(input);
      const decoded = decodeRequest(encodeRequest(request));
      expect(decoded).toStrictEqual({ ok: true, message: request });
    }
  });

  it.each([plainInput, { ...again, cluster: { uid: 'another' } }])(
    'are written at one go, which costs a fraction of sorting them, whatever the rule says first (P8)',
    (input) => {
      const request = makeRequest(input);
      const stringify = vi.spyOn(JSON, 'stringify');
      encodeRequest(request);
      expect(stringify).toHaveBeenCalledTimes(1);
      stringify.mockRestore();
    },
  );

  it('leave out a retry of zero', () => {
    expect(encodeRequest(makeRequest({ ...again, retry: 0 }))).toBe(goldenBytes('request-plain.json'));
  });

  it.each([
    ['uid of the object', { object: { ...plainInput.object, uid: 'another' } }],
    ['attempt', { attempt: 1 }],
    ['retry', { retry: 1 }],
    ['target', { target: { ...plainInput.target, bucket: 'other' } }],
    ['options', { options: { force: true } }],
    ['ownership', { ownership: { none: true as const } }],
    ['handler', { handler: 'other' }],
    ['uid of the rule', { rule: { ...plainInput.rule, uid: 'another' } }],
    ['cluster', { cluster: { uid: 'another' } }],
  ])('have another id when the %s differs (K3)', (_what, change) => {
    expect(makeRequest({ ...plainInput, ...change }).id).not.toBe(makeRequest(plainInput).id);
  });
});
