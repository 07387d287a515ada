/*
 * Canonical JSON against an independent implementation of RFC 8785,
 * and the digests and sizes built on it.
 */
import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { canonicalJson, sha256Hex, utf8Bytes } from '../../bridge/contract.ts';
import { holds } from '../support/property.ts';

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 333333333.3333333),
);
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(text, tie('value'), { maxKeys: 6 }),
  ),
})).value;

describe('canonical JSON', () => {
  it('agrees with another implementation on any JSON value', () => {
    holds(
      fc.property(json, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 2000 },
    );
  });

  it('reads back as the same value, in which a negative zero is zero', () => {
    holds(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('does not depend on the order in which keys were set', () => {
    holds(
      fc.property(fc.dictionary(text, fc.integer()), (record) => {
        expect(canonicalJson(Object.fromEntries(Object.entries(record).reverse()))).toBe(canonicalJson(record));
      }),
    );
  });

  it('gives the example of RFC 8785, section 3.2.3', () => {
    const example = { '\u20ac': 'Euro', '\r': 'CR', '\ufb33': 'Dagesh', '1': 'One', '\ud83d\ude00': 'Smiley' };
    expect(canonicalJson(example)).toBe(
      '{"\\r":"CR","1":"One","\u20ac":"Euro","\ud83d\ude00":"Smiley","\ufb33":"Dagesh"}',
    );
    expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    );
  });

  it.each([
    ['NaN', Number.NaN, 'NaN'],
    ['an infinity', { deep: [Number.NEGATIVE_INFINITY] }, '-Infinity'],
    ['undefined in a list', [undefined], 'undefined'],
    ['undefined', undefined, 'undefined'],
    ['a function', { call: () => 1 }, 'function'],
    ['a symbol', Symbol('x'), 'symbol'],
    ['a BigInt', 1n, 'bigint'],
    ['a function that says how it is written', { toJSON: () => 1 }, 'function'],
  ])('refuses %s, and names it', (_what, value, name) => {
    const fault = new TypeError(`serialising canonical JSON: ${name} is not a JSON value`);
    expect(() => canonicalJson(value)).toThrow(fault);
  });

  it('leaves out members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  it('takes what writes itself otherwise for its members, in order or not', () => {
    const when = Object.assign(new Date(0), { zone: 'UTC' });
    expect([canonicalJson(when), canonicalJson({ a: 1, b: [when] }), canonicalJson({ b: when, a: 1 })]).toEqual([
      '{"zone":"UTC"}',
      '{"a":1,"b":[{"zone":"UTC"}]}',
      '{"a":1,"b":{"zone":"UTC"}}',
    ]);
  });
});

describe('what has its keys in order', () => {
  const bare = Object.assign(Object.create(null), { Z: [1.5, 'a', false, null, { a: [] }], a: {} });
  const parts = [null, true, 'text', 2.5, [[], [null, 1]], {}, { '': 1, A: 2, a: 3, b: { c: [bare] } }];

  it.each(parts)('is written at one go, which costs a fraction of putting it together: %j', (value) => {
    const stringify = vi.spyOn(JSON, 'stringify');
    const text = canonicalJson(value);
    expect(stringify).toHaveBeenCalledTimes(1);
    stringify.mockRestore();
    expect(text).toBe(canonicalize(value));
  });
});

describe('digests and sizes', () => {
  it('are taken over UTF-8', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('ü')).toBe('607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f');
    expect(utf8Bytes('aü€😀')).toBe(1 + 2 + 3 + 4);
  });
});
