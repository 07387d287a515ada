/*
 * What decoding says of a message that it does not take, in words and with the place; limits that hold although the digests are
 * right; and the trace that goes on from request to result. Tampering is in contract-decode.test.ts.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { complaints, decodeEvent } from '../../bridge/contract/envelope.ts';
import {
  continueTrace,
  decodeRequest,
  decodeResult,
  encodeRequest,
  MESSAGE_MAX_BYTES,
  makeRequest,
  type RequestInput,
} from '../../bridge/contract.ts';
import { goldenBytes, plainInput } from '../support/golden.ts';

/** A request that its maker did not check: its digests are right, whatever it holds. */
const decoded = (changes: Partial<RequestInput>) =>
  decodeRequest(encodeRequest(makeRequest({ ...plainInput, ...changes })));

describe('limits of a request whose digests are right', () => {
  it.each([
    ['a value of 1 KiB', { bucket: 'x'.repeat(1024) }],
    ['a value of 1 KiB in UTF-8', { bucket: 'ü'.repeat(512) }],
    ['the longest list', { buckets: Array.from({ length: 100 }, () => 'x') }],
  ])('allow %s', (_what, target) => {
    expect(decoded({ target })).toMatchObject({ ok: true, message: { data: { target } } });
  });

  it.each([
    ['a value over 1 KiB', { bucket: 'x'.repeat(1025) }],
    ['a value over 1 KiB in UTF-8 only', { bucket: 'ü'.repeat(513) }],
    ['an empty value', { bucket: '' }],
    ['too long a list', { buckets: Array.from({ length: 101 }, () => 'x') }],
    ['a fraction', { size: 1.5 }],
    ['a key that is none', { 'a.b': 'x' }],
  ])('do not allow %s in the target (C12, Q6)', (_what, target) => {
    expect(decoded({ target })).toMatchObject({
      ok: false,
      failure: 'Invalid',
      detail: expect.stringMatching(/^data\.target/),
    });
  });

  it.each([
    ['no tag at all', {}],
    ['an empty tag', { owner: '' }],
    ['a tag longer than AWS takes', { owner: 'x'.repeat(257) }],
    ['a key longer than AWS takes', { ['k'.repeat(129)]: 'x' }],
    ['a tag without a name', { '': 'x' }],
  ])('do not allow %s for a proof of ownership (P2)', (_what, tags) => {
    const outcome = decoded({ ownership: { tags } });
    expect(outcome).toMatchObject({ ok: false, failure: 'Invalid', detail: expect.stringMatching(/^data\.ownership/) });
  });

  it('allow the longest tag', () => {
    const ownership = { tags: { ['k'.repeat(128)]: 'x'.repeat(256) } };
    expect(decoded({ ownership })).toMatchObject({ ok: true, message: { data: { ownership } } });
  });
});

describe('what is said of a message that is not taken', () => {
  const request = goldenBytes('request-retry.json');
  const result = goldenBytes('result-pending.json');

  it.each<readonly [string, () => unknown, string | RegExp]>([
    [
      'its size',
      () => decodeResult('x'.repeat(MESSAGE_MAX_BYTES + 1)),
      `${MESSAGE_MAX_BYTES + 1} bytes, at most ${MESSAGE_MAX_BYTES} are read`,
    ],
    [
      'every fault, each with its place',
      () => decodeRequest(request.replace('"attempt":', '"attempt":-').replace('"uid":"', '"uid":"/')),
      /^data\..*; data\./,
    ],
    ['the whole, when that is at fault', () => decodeRequest('7'), /^[^:;]*$/],
    [
      'its type, cut to what is worth repeating',
      () => decodeRequest(request.replace(/"type":"[^"]*"/, `"type":"${'t'.repeat(200)}"`)),
      't'.repeat(128),
    ],
    [
      'that it is nested too deeply',
      () =>
        decodeRequest(request.replace('"options":{', `"options":{"deep":${'['.repeat(30_000)}${']'.repeat(30_000)}`)),
      'nested too deeply',
    ],
    [
      'the place of an outcome',
      () => decodeResult(result.replace('"outcome":"pending"', '"outcome":"done"')),
      /^data\.result: /,
    ],
  ])('names %s', (_what, decode, says) => {
    expect(decode()).toMatchObject({
      ok: false,
      detail: typeof says === 'string' ? says : expect.stringMatching(says),
    });
  });

  it('is below the root, where one is told', () => {
    const wrong = z.object({ a: z.array(z.number()) }).safeParse({ a: [1, 'x'] });
    expect(wrong.success ? [] : complaints(wrong.error, 'allow')).toEqual([
      expect.stringMatching(/^allow\.a\.1: Invalid/),
    ]);
    expect(wrong.success ? [] : complaints(wrong.error)).toEqual([expect.stringMatching(/^a\.1: Invalid/)]);
  });

  it('is nothing when something else went wrong than the message: that is thrown', () => {
    const broken = z.unknown().check(
      z.refine(() => {
        throw new TypeError('reading a property of nothing');
      }),
    );
    expect(() => decodeEvent('{}', 'type', broken)).toThrow('reading a property of nothing');
  });
});

it('goes on with a trace: the same trace and flags, a span of its own for each piece of work', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const first = continueTrace(`00-${trace}-00f067aa0ba902b7-01`, 'run 1');
  expect(first).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  expect(continueTrace(`00-${trace}-00f067aa0ba902b7-01`, 'run 1')).toBe(first);
  expect(continueTrace(`00-${trace}-00f067aa0ba902b7-01`, 'run 2')).not.toBe(first);
});
