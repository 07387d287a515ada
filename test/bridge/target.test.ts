/*
 * From expressions to a target: what can be acted on,
 * and what holds the object instead.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import {
  decodeRequest,
  encodeRequest,
  MESSAGE_MAX_BYTES,
  makeRequest,
  TAG_VALUE_MAX,
  TARGET_LIST_MAX,
  TARGET_VALUE_MAX_BYTES,
  targetDigestOf,
  targetSchema,
  utf8Bytes,
} from '../../bridge/contract.ts';
import { OPTIONS_MAX_BYTES, TAGS_MAX } from '../../bridge/rule-schema.ts';
import { canTravel, evaluateTarget, TARGET_MAX_BYTES } from '../../bridge/target.ts';
import { expressions } from '../support/expressions.ts';
import { plainInput } from '../support/golden.ts';
import { holds } from '../support/property.ts';

/** The target of an object that has one value, under `value`. */
function targetOf(value: unknown) {
  return evaluateTarget(expressions({ value: 'object.value' }), prepare({ metadata: {}, value }));
}

const bucket = prepare({
  metadata: { name: 'logs', namespace: 'team-a', uid: 'u-1' },
  spec: { region: 'eu-central-1', replicas: 3, ids: ['i-1', 'i-2'], versioned: true },
  status: { bucketName: 'team-a-logs' },
});

describe('target', () => {
  it('holds the values of all expressions, with the digest that requests carry', () => {
    const target = {
      bucket: 'team-a-logs',
      region: 'eu-central-1',
      replicas: 3,
      ids: ['i-1', 'i-2'],
      versioned: true,
      account: '111122223333',
    };
    const texts = {
      bucket: 'object.status.bucketName',
      region: 'object.spec.region',
      replicas: 'object.spec.replicas',
      ids: 'object.spec.ids',
      versioned: 'object.spec.versioned',
      account: "'111122223333'",
    };
    expect(evaluateTarget(expressions(texts), bucket)).toEqual({
      kind: 'found',
      target,
      digest: targetDigestOf(target),
    });
  });

  it('is missing when a key is, and says which', () => {
    expect(evaluateTarget(expressions({ region: 'object.spec.region', bucket: 'object.status.arn' }), bucket)).toEqual({
      kind: 'missing',
      key: 'bucket',
      detail: 'No such key: arn (in object.status.arn)',
    });
  });

  it('is invalid rather than missing when both apply, whatever the order, so that Release cannot follow (P1)', () => {
    const invalid = { kind: 'invalid', key: 'b' };
    expect(evaluateTarget(expressions({ a: 'object.nothing', b: 'object.spec' }), bucket)).toMatchObject(invalid);
    expect(evaluateTarget(expressions({ b: 'object.spec', a: 'object.nothing' }), bucket)).toMatchObject(invalid);
  });

  it.each([
    ['an empty string (C12)', '', 'empty'],
    ['an empty string in a list (C12)', ['a', ''], 'item 1: an empty string'],
    ['a value over 1 KiB', 'x'.repeat(1025), '1025 bytes'],
    ['a value over 1 KiB in UTF-8 only', 'ü'.repeat(513), '1026 bytes'],
    ['a value over 1 KiB in a list', ['x'.repeat(1025)], 'item 0'],
    ['too long a list', Array.from({ length: 101 }, () => 'x'), 'a list of 101'],
    ['half a surrogate pair', '\ud83d', 'queue'],
    ['a character that SQS refuses', 'a\uffff', 'queue'],
    ['null', null, 'null'],
    ['a fraction', 1.5, 'double'],
    ['a map', { a: 1 }, 'neither'],
    ['a list of numbers', [1], 'something else'],
  ])('with %s is invalid', (_what, value, why) => {
    expect(targetOf(value)).toEqual({ kind: 'invalid', key: 'value', detail: expect.stringContaining(why) });
  });

  it.each([
    ['1 KiB exactly', 'x'.repeat(TARGET_VALUE_MAX_BYTES)],
    ['an empty list', []],
    ['the longest list', Array.from({ length: TARGET_LIST_MAX }, (_, index) => `i-${index}`)],
    ['zero', 0],
    ['false', false],
    ['text of any script', 'bücher-日本-🪣'],
  ])('may be %s', (_what, value) => {
    expect(targetOf(value)).toEqual({ kind: 'found', target: { value }, digest: targetDigestOf({ value }) });
  });

  it('larger than a message may carry is refused for that object, naming the largest value (Q6)', () => {
    const list = Array.from({ length: 30 }, () => 'x'.repeat(1000));
    const outcome = evaluateTarget(expressions({ a: 'object.a', b: 'object.b' }), prepare({ a: 'small', b: list }));
    expect(outcome).toMatchObject({
      kind: 'invalid',
      key: 'b',
      detail: expect.stringContaining(`${TARGET_MAX_BYTES}`),
    });
  });

  it('of exactly what a message may carry is found, and of one byte more names the largest value, wherever it stands (Q6)', () => {
    const filled = (bytes: number) => {
      const full = Array.from({ length: 24 }, () => 'x'.repeat(1000));
      const taken = utf8Bytes(JSON.stringify({ a: 'small', b: [...full, ''], c: 'y' }));
      return prepare({ a: 'small', b: [...full, 'x'.repeat(bytes - taken)], c: 'y' });
    };
    const of = (bytes: number, names: Readonly<Record<string, string>>) =>
      evaluateTarget(expressions(names), filled(bytes));
    const names = { a: 'object.a', b: 'object.b', c: 'object.c' };
    const last = { a: 'object.a', c: 'object.c', b: 'object.b' };
    expect(of(TARGET_MAX_BYTES, names)).toMatchObject({ kind: 'found' });
    expect(of(TARGET_MAX_BYTES + 1, names)).toMatchObject({ kind: 'invalid', key: 'b' });
    expect(of(TARGET_MAX_BYTES + 1, last)).toMatchObject({ kind: 'invalid', key: 'b' });
  });

  it('that was found always fits the contract, whatever the object holds', () => {
    const of = expressions({ a: 'object.a', b: 'object.b.c' });
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 1000, maxLength: 1100, size: 'max' }));
    const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.array(text, { maxLength: 120 }), fc.jsonValue());
    const seen = new Set<string>();
    holds(
      fc.property(value, fc.oneof(fc.record({ c: value }), fc.jsonValue()), (a, b) => {
        const outcome = evaluateTarget(of, prepare({ a, b }));
        seen.add(outcome.kind);
        if (outcome.kind === 'found') {
          expect(targetSchema.safeParse(outcome.target)).toEqual({ success: true, data: outcome.target });
          expect(outcome).toEqual({
            kind: 'found',
            // Through JSON, to which a negative zero is zero.
            target: JSON.parse(JSON.stringify({ a, b: Object(b).c })),
            digest: targetDigestOf(outcome.target),
          });
        } else {
          expect(['a', 'b']).toContain(outcome.key);
        }
      }),
      { numRuns: 500 },
    );
    expect([...seen].sort()).toEqual(['found', 'invalid', 'missing']);
  });
});

describe('the largest of everything', () => {
  it('still makes a request that can be read (Q6)', () => {
    const filler = (bytes: number) => 'x'.repeat(bytes);
    const target: Record<string, string> = {};
    for (let key = 0; utf8Bytes(JSON.stringify(target)) < TARGET_MAX_BYTES - 1100; key += 1)
      target[`k${key}`] = filler(1024);
    const tags = Object.fromEntries(
      Array.from({ length: TAGS_MAX }, (_, index) => [
        `${index}${'\u0001'.repeat(127)}`,
        '\u0001'.repeat(TAG_VALUE_MAX),
      ]),
    );
    const object = {
      ...plainInput.object,
      name: filler(253),
      namespace: filler(63),
      kind: filler(63),
      resource: filler(63),
    };
    const path = `/apis/${filler(253)}/v1/namespaces/${filler(63)}/${filler(63)}/${filler(253)}`;
    const options = { o: filler(OPTIONS_MAX_BYTES - 8) };
    const body = encodeRequest(makeRequest({ ...plainInput, path, object, target, options, ownership: { tags } }));
    expect(utf8Bytes(body)).toBeLessThan(MESSAGE_MAX_BYTES);
    expect(decodeRequest(body)).toMatchObject({ ok: true });
  });
});

describe('text that can travel', () => {
  it('is all that is well formed, but for two characters', () => {
    for (const text of ['', 'a', '\n\u0000', 'ü€😀', '\ufffd']) expect(canTravel(text)).toBe(true);
    for (const text of ['\ufffe', 'a\uffff', '\ud800', '\udc00x']) expect(canTravel(text)).toBe(false);
  });
});
