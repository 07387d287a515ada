/*
 * The JSON Schemas for authors in other languages:
 * generated, current, and saying what the contract says.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { messageSchemas } from '../../infra/message-schemas.ts';
import { goldenBytes, requestSamples, resultSamples } from '../support/golden.ts';

const root = join(import.meta.dirname, '../..');
const REQUEST = 'docs/schemas/request.v1.schema.json';
const RESULT = 'docs/schemas/result.v1.schema.json';

function validator(path: string) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(join(root, path), 'utf8')));
}

const isRequest = validator(REQUEST);
const isResult = validator(RESULT);

function changed(file: string, change: (data: Record<string, unknown>) => void): unknown {
  const message = JSON.parse(goldenBytes(file));
  change(message.data);
  return message;
}

describe('generated JSON Schemas', () => {
  it('have not drifted from the contract', () => {
    expect(messageSchemas().map(({ path }) => path)).toEqual([REQUEST, RESULT]);
    for (const { path, text } of messageSchemas()) expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it.each(requestSamples)('accept $file', ({ file }) => {
    expect(isRequest(JSON.parse(goldenBytes(file))), JSON.stringify(isRequest.errors)).toBe(true);
  });

  it.each(resultSamples)('accept $file', ({ file }) => {
    expect(isResult(JSON.parse(goldenBytes(file))), JSON.stringify(isResult.errors)).toBe(true);
  });

  it('do not take one message for the other', () => {
    expect(isRequest(JSON.parse(goldenBytes('result-pending.json')))).toBe(false);
    expect(isResult(JSON.parse(goldenBytes('request-plain.json')))).toBe(false);
  });

  it('accept fields that a later version may add', () => {
    expect(isRequest(changed('request-plain.json', (data) => Object.assign(data, { later: 1 })))).toBe(true);
  });

  it.each([
    ['no target', (data: Record<string, unknown>) => delete data.target],
    ['an empty target value', (data: Record<string, unknown>) => Object.assign(data, { target: { bucket: '' } })],
    ['a fraction in a target', (data: Record<string, unknown>) => Object.assign(data, { target: { size: 1.5 } })],
    [
      'a target key that is no identifier',
      (data: Record<string, unknown>) => Object.assign(data, { target: { 'a-b': 'x' } }),
    ],
    ['a negative attempt', (data: Record<string, unknown>) => Object.assign(data, { attempt: -1 })],
    ['a retry of zero', (data: Record<string, unknown>) => Object.assign(data, { retry: 0 })],
    ['neither tags nor none', (data: Record<string, unknown>) => Object.assign(data, { ownership: {} })],
    [
      'tags and none',
      (data: Record<string, unknown>) => Object.assign(data, { ownership: { tags: { a: 'b' }, none: true } }),
    ],
    ['a digest that is none', (data: Record<string, unknown>) => Object.assign(data, { targetDigest: 'ABC' })],
    ['an expiry that is no time', (data: Record<string, unknown>) => Object.assign(data, { expires: 'soon' })],
  ])('refuse a request with %s', (_what, change) => {
    expect(isRequest(changed('request-plain.json', change))).toBe(false);
  });

  it.each([
    ['an unknown outcome', { outcome: 'failed' }],
    ['a gone without evidence', { outcome: 'gone' }],
    ['a refusal without a reason', { outcome: 'refused', message: 'm' }],
    ['a reason that is no word', { outcome: 'pending', reason: 'not yet' }],
    ['a message too long', { outcome: 'refused', reason: 'NotOwned', message: 'm'.repeat(513) }],
  ])('refuse a result with %s', (_what, result) => {
    expect(isResult(changed('result-gone-absent.json', (data) => Object.assign(data, { result })))).toBe(false);
  });
});
