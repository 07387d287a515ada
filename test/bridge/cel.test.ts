/*
 * Expressions over an object: what they mean and what they may result in.
 * A missing key is told apart from every other fault.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { type CelOutcome, compile } from '../../bridge/cel.ts';
import { expression } from '../support/expressions.ts';
import { holds } from '../support/property.ts';

const bucket = {
  apiVersion: 'storage.example.com/v1',
  kind: 'Bucket',
  metadata: {
    name: 'logs',
    namespace: 'team-a',
    uid: '5f0c8c2e',
    creationTimestamp: '2026-03-01T08:00:00Z',
    annotations: { 'team.example.com/on-delete': 'Retain' },
  },
  spec: {
    region: 'eu-central-1',
    size: 1,
    ratio: 1.5,
    huge: 2 ** 53,
    vast: 1e21,
    enabled: true,
    nothing: null,
    empty: '',
    umlaut: 'Äpfel😀x',
    names: ['a', 'b'],
    mixed: ['a', 1],
    numbers: [1, 2, 3],
    items: [
      { id: 'i-1', n: 1 },
      { id: 'i-2', n: 2 },
    ],
    odd: { constructor: 'x', n: 2 },
  },
};
const object = prepare(bucket);

const evaluate = (text: string, over = object): CelOutcome => expression(text).evaluate(over);

describe('values', () => {
  it.each([
    ['object.spec.region', 'eu-central-1'],
    ["object.metadata.namespace + '-' + object.metadata.name", 'team-a-logs'],
    ["'111122223333'", '111122223333'],
    ['object.spec.enabled', true],
    ['object.spec.names', ['a', 'b']],
    ['object.spec.names.map(n, n + "-x")', ['a-x', 'b-x']],
    ['object.spec.items.filter(i, i.n > 1).map(i, i.id)', ['i-2']],
    ['[object.spec.region, dyn("x")]', ['eu-central-1', 'x']],
    ['[string(object.spec.region), "x"]', ['eu-central-1', 'x']],
    ['object.spec.names + ["c"]', ['a', 'b', 'c']],
    ['[]', []],
    ['object.spec.names[1]', 'b'],
    ['object["spec"]["region"]', 'eu-central-1'],
    ["object.spec.names.join('/')", 'a/b'],
    ["object.spec.region.split('-')", ['eu', 'central', '1']],
    ["object.spec.region.split('-', 2)", ['eu', 'central-1']],
    ["object.spec.region.replace('-', '$&')", 'eu$&central$&1'],
    ["object.spec.region.startsWith('eu-') ? 'here' : 'there'", 'here'],
    ["object.spec.region.contains('central') && !object.spec.region.endsWith('x')", true],
    ['object.spec.names.exists(n, n == "b")', true],
    ['object.spec.names.all(n, n == "b")', false],
    ['object.spec.names.exists_one(n, n == "b")', true],
    ['has(object.status)', false],
    ['has(object.spec.region)', true],
    ["timestamp(object.metadata.creationTimestamp) < timestamp('2027-01-01T00:00:00Z')", true],
    ['object.spec.odd.constructor + string(object.spec.odd.n)', 'x2'],
    ['"constructor" in object.spec.odd && size(object.spec.odd) == 2', true],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });
});

describe('numbers', () => {
  it.each([
    ['object.spec.size + 1', 2],
    ['object.spec.size == 1', true],
    ['object.spec.size == 1.0', true],
    ['object.spec.size == "1"', false],
    ['"1" == object.spec.size', false],
    ['object.spec.numbers[2] * 2', 6],
    ['object.spec.numbers.map(n, string(n + 1))', ['2', '3', '4']],
    ['object.spec.items[1].n - 1', 1],
    ['2 in object.spec.numbers', true],
    ['string(object.spec.ratio)', '1.5'],
    ['object.spec.ratio > 1.0', true],
    ['int(object.spec.ratio)', 1],
    ["int('42') / 5", 8],
    ["int('-7') % 5", -2],
    ['size(object.spec.names)', 2],
    ['type(object.spec.size) == int', true],
    ['9007199254740991', 9_007_199_254_740_991],
    ['-object.spec.size', -1],
  ])('%s is %j: whole numbers are ints', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each([
    ['object.spec.ratio', '1.5 is a double'],
    ['9007199254740992', 'not a safe integer'],
    ['9223372036854775807 + 1', 'overflow'],
    ['1 / (object.spec.size - 1)', 'division by zero'],
    ['object.spec.size + 1.5 > 0.0', 'no such overload'],
    ["int('')", 'not a decimal number'],
    ["int('0x10')", 'not a decimal number'],
    ["int('1.5')", 'not a decimal number'],
    ["int('9223372036854775808')", 'out of range'],
    ['int(1e300)', 'out of range'],
    ['uint(1)', 'no such function'],
    ['object.spec.huge', 'NumberBeyondExactRange'],
    ['string(object.spec.huge)', 'NumberBeyondExactRange'],
    ['string(object.spec.vast)', 'NumberBeyondExactRange'],
  ])('%s is not usable: %s', (text, why) => {
    const compilation = compile(text);
    const said = compilation.ok ? compilation.expression.evaluate(object) : compilation;
    expect(said).not.toMatchObject({ kind: 'value' });
    expect(JSON.stringify(said)).toContain(why);
  });

  it('of any safe size come through exactly', () => {
    const plusOne = expression('object.n + 1');
    holds(
      fc.property(
        fc.maxSafeInteger().filter((n) => Number.isSafeInteger(n + 1)),
        (n) => {
          expect(plusOne.evaluate(prepare({ n }))).toEqual({ kind: 'value', value: n + 1 });
        },
      ),
    );
  });
});

describe('absent things', () => {
  it.each([
    ["object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')", 'Retain'],
    ["object.metadata.annotations[?'other'].orValue('Delete')", 'Delete'],
    ["object.metadata.labels[?'other'].orValue('Delete')", 'Delete'],
    ["'k' in object.metadata.labels", false],
    ['size(object.metadata.labels)', 0],
    ["object.?status.?bucketName.orValue('none')", 'none'],
    ["object.?spec.?region.orValue('none')", 'eu-central-1'],
    ["object.spec[?'region'].or(optional.of('x')).value()", 'eu-central-1'],
    ['object.?status.?bucketName.hasValue()', false],
    ["has(object.status) ? object.status.bucketName : 'none'", 'none'],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each([undefined, null, {}])('labels and annotations that are %j are empty maps', (absent) => {
    const bare = prepare({ metadata: { name: 'x', labels: absent, annotations: absent } });
    expect(evaluate("object.metadata.labels[?'a'].orValue('b')", bare)).toEqual({ kind: 'value', value: 'b' });
    expect(evaluate('size(object.metadata.annotations)', bare)).toEqual({ kind: 'value', value: 0 });
    expect(evaluate("object.metadata.annotations['a']", bare)).toMatchObject({ kind: 'missing' });
  });

  it.each([
    'object.status.bucketName',
    'object.status',
    'object.spec.bucketName',
    "object.metadata.labels['team']",
    'object.spec.nothing.deeper',
    'object.spec.items[0].arn',
    'object.spec.items.map(i, i.arn)',
    "'x-' + object.status.bucketName",
    "object.spec.region == 'eu-central-1' && object.status.ready",
    'has(object.status.bucketName)',
    "object.spec.odd['b']",
  ])('%s is missing', (text) => {
    expect(evaluate(text)).toMatchObject({ kind: 'missing', detail: expect.stringContaining('No such key') });
  });

  it('says which key is missing, and where in the expression', () => {
    expect(evaluate('object.status.bucketName')).toEqual({
      kind: 'missing',
      detail: 'No such key: status (in object.status)',
    });
  });
});

describe('faults that are no missing key', () => {
  it.each([
    ['object.spec.region.name', 'selecting from a string'],
    ['object.spec.region.a.b', 'selecting from a string'],
    ['object.spec.size.a', 'selecting from an int'],
    ['object.spec.enabled.a', 'selecting from a boolean'],
    ["object.spec.names['a']", 'selecting from a list'],
    ['object.spec.names[5]', 'out of bounds'],
    ['object.spec.names[-1]', 'out of bounds'],
    ['object.spec.nothing', 'null'],
    ['object.spec', 'neither a string'],
    ['object.spec.mixed', 'something else than strings'],
    ['object.spec.numbers', 'something else than strings'],
    ['object.?status.?bucketName.value()', 'not present'],
    ['object.spec.size + "a"', 'no such overload'],
    ['object.spec.region.substring(0, 99)', 'out of range'],
    ["object.spec.region.matches(object.spec.names[0] + '(')", 'error parsing regexp'],
    ['object.spec.region && true', 'bool'],
    ["timestamp('yesterday') < timestamp('2027-01-01T00:00:00Z')", 'timestamp'],
  ])('%s is invalid: %s', (text, why) => {
    expect(evaluate(text)).toMatchObject({ kind: 'invalid', detail: expect.stringContaining(why) });
  });

  it('follow the language where a logical operator does not need the faulty side', () => {
    expect(evaluate('object.status.ready || true')).toEqual({ kind: 'value', value: true });
    expect(evaluate('false && object.status.ready')).toEqual({ kind: 'value', value: false });
    expect(evaluate('object.status.ready || false')).toMatchObject({ kind: 'missing' });
  });
});
