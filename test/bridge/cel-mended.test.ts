/*
 * Where the engine's own CEL differs from the API server's, and the bridge's does not: conversions, operators, keys,
 * presence. The values are the API server's, as test/e2e/cel-corpus.test.ts finds them too.
 */
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { compile } from '../../bridge/cel.ts';
import { expression } from '../support/expressions.ts';

const object = prepare({
  metadata: { name: 'logs' },
  spec: {
    ...{ list: ['a', 'b', 'a'], numbers: [1, 2], deep: [['a'], { k: ['b'] }], map: { x: '1' }, keyed: { '1': 'one' } },
    ...{ text: 'abc', size: 1, ratio: 0.000001, nothing: null, odd: { constructor: 'x' } },
  },
});
const evaluate = (text: string) => expression(text).evaluate(object);

describe('conversions', () => {
  it.each([
    ['string(1.5)', '1.5'],
    ['string(100000.0)', '100000'],
    ['string(1000000.0)', '1e+06'],
    ['string(123456789.123)', '1.23456789123e+08'],
    ['string(0.0001)', '0.0001'],
    ['string(object.spec.ratio)', '1e-06'],
    ['string(1e20)', '1e+20'],
    ['string(-0.0)', '-0'],
    ['string(0.0)', '0'],
    ['string(1.0 / 0.0)', '+Inf'],
    ['string(-1.0 / 0.0)', '-Inf'],
    ['string(0.0 / 0.0)', 'NaN'],
    ['string(-7)', '-7'],
    ['string(true)', 'true'],
    ["double('Infinity') > 1.0 && double('-inf') < 0.0 && double('nan') != double('nan')", true],
    ["double('.5') == 0.5 && double('1.') == 1.0 && double('+1e3') == 1000.0", true],
    ["bool('T') && bool('1') && !bool('F') && !bool('0')", true],
    ["double(3) == 3.0 && double(1.5) == 1.5 && int(3) == 3 && bool(true) && string('a') == 'a'", true],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each([...["double('')", "double('0b1')", "double('0x10')", "double('1e400')", "double(' 1')", "double('1_0')"]])(
    '%s is no number',
    (text) => {
      expect(evaluate(`${text} > 0.0`)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('decimal') });
    },
  );

  it.each(['yes', '', 'tRUE', 'T '])('bool("%s") is neither', (text) => {
    expect(evaluate(`bool('${text}')`)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('bool()') });
  });
});

describe('times', () => {
  const earlier = (time: string) => evaluate(`timestamp('${time}') < timestamp('2027-01-01T00:00:00Z')`);

  it.each([
    '2026-03-01T08:00:00Z',
    '2026-03-01T08:00:00.5Z',
    '2026-03-01T08:00:00.123000Z',
    '2027-01-01T01:59:59+02:00',
    '2026-12-31T22:59:59-01:00',
    '2024-02-29T23:59:59Z',
    '2000-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
  ])('%s is one, and earlier than 2027', (time) => {
    expect(earlier(time)).toEqual({ kind: 'value', value: true });
  });

  it.each([
    ...['2026-03-01', '2026-03-01 08:00:00Z', '2026-03-01T08:00:00', '2026-03-01t08:00:00Z', '2026-03-01T08:00:00z'],
    ...['2023-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-13-01T00:00:00Z'],
    ...['2026-00-01T00:00:00Z', '2026-03-00T00:00:00Z', '2026-03-01T24:00:00Z', '2026-03-01T08:60:00Z'],
    ...['2026-03-01T08:00:60Z', '2026-03-01T08:00:00+0200', '2026-03-01T08:00:00+02:60', '2026-03-01T08:00:00+24:00'],
    ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '10000-01-01T00:00:00Z', 'yesterday', ''],
  ])('"%s" is none', (time) => {
    expect(earlier(time)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('timestamp()') });
  });

  it('that would have to be cut are refused, never compared wrongly', () => {
    expect(earlier('2026-03-01T08:00:00.1234Z')).toMatchObject({
      kind: 'invalid',
      detail: expect.stringContaining('more precise than milliseconds'),
    });
  });

  it.each([
    ["timestamp('2026-03-01T08:00:00-07:30') == timestamp('2026-03-01T15:30:00Z')", true],
    ["timestamp(1772377200) == timestamp('2026-03-01T15:00:00Z')", true],
    ["timestamp(timestamp('2026-03-01T15:00:00Z')) == timestamp('2026-03-01T15:00:00.000Z')", true],
    ["timestamp('2026-03-01T08:00:00Z') - timestamp('2026-03-01T07:00:00Z') > timestamp(0) - timestamp(3600)", true],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it('cannot be calculated with', () => {
    const sum = 'timestamp(0) + (timestamp(1) - timestamp(0)) > timestamp(0)';
    expect(evaluate(sum)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('durations') });
    expect(evaluate('timestamp(253402300800) > timestamp(0)')).toMatchObject({ kind: 'invalid' });
  });
});

describe('texts and lists', () => {
  it.each([
    ["'\\u0085\\u00a0\\u3000 a\\t\\u2028'.trim()", 'a'],
    ["'\\ufeffa\\u200b'.trim()", '\ufeffa\u200b'],
    ["'a  b'.trim()", 'a  b'],
    ["'abcabc'.indexOf('b', 7)", -1],
    ["'abcabc'.indexOf('', 7)", 7],
    ["'abcabc'.indexOf('', -1)", -1],
    ["'abcabc'.lastIndexOf('c', 5)", 5],
    ["'abcabc'.lastIndexOf('c', 6)", -1],
    ["'abcabc'.lastIndexOf('', 7)", 7],
    ["''.lastIndexOf('a')", -1],
    ["'hello hello'.replace('he', 'we', 1)", 'wello hello'],
    ["'hello'.replace('', '_', 2)", '_h_ello'],
    ["'hello'.replace('l', 'L', 0)", 'hello'],
    ["'hello'.replace('l', 'L', 9)", 'heLLo'],
    ["'😀a'.replace('', '-')", '-😀-a-'],
    ["object.spec.list.indexOf('a')", 0],
    ["object.spec.list.lastIndexOf('a')", 2],
    ["object.spec.list.indexOf('z')", -1],
    ['object.spec.numbers.indexOf(2)', 1],
    ["[['a'], ['b']].indexOf(['b'])", 1],
    ["[{'k': 'a'}, {'k': 'b'}].indexOf({'k': 'b'})", 1],
    ["[{'k': 'a'}].indexOf({'k': 'a', 'l': 'a'})", -1],
    ["'😀' < '\\uffee'", false],
    ["'\\ud7ff' < '\\ue000' && '\\ue000' < '😀' && '😀' > '\\uffff'", true],
    ["'a' < 'ab' && 'a' <= 'a' && 'b' >= 'a' && !('b' < 'ab')", true],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each(["'abc'.indexOf('a', -1)", "'abc'.lastIndexOf('a', -1)"])('%s is out of range', (text) => {
    expect(evaluate(text)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('out of range: -1') });
  });
});

describe('operators', () => {
  it.each(['-(-9223372036854775808) > 0', '-9223372036854775808 / -1 > 0'])('%s leaves the range of ints', (text) => {
    expect(evaluate(text)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('out of range') });
  });

  it('reach the smallest int', () => {
    expect(evaluate('-9223372036854775808 < -9223372036854775807')).toEqual({ kind: 'value', value: true });
  });

  it('compare no optional values', () => {
    const compared = 'dyn(object.spec.?text) == dyn(optional.of("abc"))';
    expect(evaluate(compared)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('optional') });
    expect(evaluate('dyn(object.spec.?text) in ["abc"]')).toMatchObject({ kind: 'invalid' });
  });
});

describe('keys and presence', () => {
  it.each([
    ["object.spec.keyed['1']", 'one'],
    ['1 in object.spec.keyed', false],
    ["'1' in object.spec.keyed", true],
    ["object.spec.keyed[?1].orValue('none')", 'none'],
    ["object.spec.list[?7].orValue('none')", 'none'],
    ["object.spec.nothing[?'a'].orValue('none')", 'none'],
    ['has(object.spec.list[0]) ? "a" : "b"', undefined],
    ["has(object.spec['map'].x)", true],
    ['has(object.spec.deep[1].k) && !has(object.spec.deep[1].l)', true],
    ['has(object.spec.odd.constructor) && !has(object.spec.odd.toString)', true],
    ['has(object.spec.text.length)', false],
    ["has({'a': 1}.a)", true],
  ])('%s is %j', (text, value) => {
    if (value === undefined) expect(compile(text)).toMatchObject({ ok: false });
    else expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each(['object.spec.keyed[1]', 'object.spec.keyed[true]', 'has(object.spec.missing.x)'])(
    '%s is missing',
    (text) => {
      expect(evaluate(text)).toMatchObject({ kind: 'missing' });
    },
  );

  it.each([
    ['has(object.spec.list.x)', 'selecting from a list'],
    ['object.spec.?list.?x.hasValue()', 'selecting from a list'],
    ["object.spec.list[?1.5].orValue('none')", 'selecting from a list'],
    ['object.spec.map[object.spec.list]', 'a key cannot be a list'],
    ['object.spec.map[object.spec.map]', 'a key cannot be a map'],
    ["object.spec.map[?object.spec.nothing].orValue('none')", 'a key cannot be null'],
  ])('%s is invalid: %s', (text, why) => {
    expect(evaluate(text)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining(why) });
  });
});
