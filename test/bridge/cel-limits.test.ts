/*
 * What is refused when a rule is read, what an expression reads of the object,
 * and the budget that every evaluation has.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUDGET } from '../../bridge/cel/meter.ts';
import { prepare } from '../../bridge/cel/object.ts';
import { compile, EXPRESSION_MAX } from '../../bridge/cel.ts';
import { busyMs } from '../support/busy.ts';
import { expression } from '../support/expressions.ts';
import { holds } from '../support/property.ts';

describe('compiling', () => {
  it.each([
    ['', 'empty'],
    [' \n', 'empty'],
    ['object.', 'it ends where a name is expected, at character 8 of: object.'],
    ['object..a', '"." where a name is expected, at character 8 of: object..a'],
    ['(object.a', 'it ends where ")" is expected, at character 10 of: (object.a'],
    ["['a'", 'it ends where "]" is expected, at character 5 of'],
    ["object.a ? 'b'", 'it ends where ":" is expected, at character 15 of'],
    ['object.spec.name +', 'no CEL expression: it ends where more is expected, at character 19 of: object.spec.name +'],
    ['object.spec.region region', '"region" is not expected, at character 20 of: object.spec.region region'],
    ['object.a = 1', '"=" is not expected, at character 10 of'],
    ['object.a\n  && )', '")" is not expected, at character 15 of: object.a   && )'],
    ["'💥' + 💥", '"💥" is not expected, at character 7 of'],
    ["'abc", "unterminated string, at character 1 of: 'abc"],
    ['if (object.a)', '"if" is a reserved word, at character 1 of'],
    [
      `'${'x'.repeat(150)}' ) '${'y'.repeat(150)}'`,
      `")" is not expected, at character 154 of: …${'x'.repeat(58)}' ) '${'y'.repeat(17)}…`,
    ],
    ['self.spec.name', 'Unknown variable: self'],
    ['request.user', 'Unknown variable: request'],
    ['cel', 'can be used'],
    ["'a' + 1", 'no such overload'],
    ['1.5', 'type double'],
    ['{"a": 1}', 'type map'],
    ['null', 'type null'],
    ['[1, 2]', 'type list<int>'],
    ['object.spec[?"a"]', 'type optional'],
    ['timestamp("2027-01-01T00:00:00Z")', 'can be used'],
    ['b"a"', 'bytes cannot be used'],
    ['1u == 1u', 'unsigned ints cannot be used'],
    ['9223372036854775808', 'too large for an int'],
    ['-9223372036854775809', 'too large for an int'],
    ['{"constructor": "x"}["constructor"]', 'a map cannot have the key constructor'],
    ['{"a": "x", "a": "y"}["a"]', 'a map must not have a key twice'],
    ['{object.spec.a: "x"}["a"]', 'the keys of a map must be texts in quotes'],
    ['{1: "x"}[1]', 'the keys of a map must be texts in quotes'],
    ['["a", 1].size()', 'must have the same type'],
    ['[object.spec.a, "x"]', 'must have the same type'],
    ['duration("1h") > duration("1m")', 'no such function: duration()'],
    ['has(object)', 'has() is asked of a field'],
    ['has(object.?spec.a)', 'has() of something that is no map: optional'],
    ['has("a".b)', 'has() of something that is no map: primitive'],
    ['object', 'type map'],
    ['object.a.json()', 'no such function: json()'],
    ['cel.bind(x, object.a, x)', 'no such function: bind()'],
    ['now()', 'no such function: now()'],
    ["object.a.strict_matches('x')", 'no such function: strict_matches()'],
    ["'a'.matches(1)", 'no matching overload for'],
    ['object.items.map(object, object.metadata.uid)', 'must not be called object'],
    ['"a" ? "b" : "c"', 'bool'],
  ])('refuses %j: %s', (text, why) => {
    expect(compile(text)).toMatchObject({ ok: false, message: expect.stringContaining(why) });
  });

  it('never shows the names that calls are redirected to', () => {
    expect(JSON.stringify(compile("'a'.matches(1)"))).not.toContain('strict');
    expect(JSON.stringify(expression('object.a.matches("x")').evaluate(prepare({ a: 1 })))).not.toContain('strict');
  });

  it('bounds length, depth and size', () => {
    expect(compile(`'${'x'.repeat(EXPRESSION_MAX)}'`)).toMatchObject({ ok: false });
    expect(compile(`${'('.repeat(200)}1${')'.repeat(200)}`)).toMatchObject({ ok: false });
    expect(compile(`[${"'a',".repeat(500)}'a']`)).toMatchObject({ ok: false });
    expect(compile(Array.from({ length: 900 }, () => '1').join('+'))).toMatchObject({ ok: false });
  });

  it.each([
    ["'a'", 'string'],
    ['true', 'bool'],
    ['1', 'int'],
    ["['a']", 'list'],
    ['object.spec.a', 'dyn'],
    ['object.spec.names.map(n, n)', 'list'],
    ['string(object.spec.a)', 'string'],
  ])('knows that %s is of type %s', (text, type) => {
    expect(expression(text).type).toBe(type);
  });

  it('never throws, whatever the text', () => {
    const token = fc.constantFrom(
      ...'object . metadata uid [ ] ( ) ? : + - ! && || == "a" 1 2.5 map has x , in'.split(' '),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(token).map((tokens) => tokens.join('')),
    );
    const any = prepare({ metadata: { uid: 'u' } });
    holds(
      fc.property(text, (source) => {
        const compilation = compile(source);
        const said = compilation.ok ? compilation.expression.evaluate(any).kind : compilation.message;
        expect(said).toEqual(expect.any(String));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what an expression reads', () => {
  it.each([
    ['object.metadata.uid', ['object.metadata.uid']],
    ["object['metadata']['uid']", ['object.metadata.uid']],
    ['object.?metadata.?uid.orValue("x")', ['object.metadata.uid']],
    ['string(object.metadata.uid)', ['object.metadata.uid']],
    [
      "'x-' + object.metadata.namespace + '/' + object.metadata.name",
      ['object.metadata.name', 'object.metadata.namespace'],
    ],
    ['object.spec.items.map(i, i.id + object.metadata.uid)', ['object.metadata.uid', 'object.spec.items']],
    ['[object.metadata.uid].map(x, x)', ['object.metadata.uid']],
    ['has(object.metadata.uid) ? "a" : "b"', []],
    ['object.spec.metadata.uid', ['object.spec.metadata.uid']],
    ['object.metadata[object.spec.which]', ['object.metadata', 'object.spec.which']],
    ['object.metadata.uid.length', ['object.metadata.uid.length']],
    ["'object.metadata.uid'", []],
    ['["uid"].map(metadata, metadata)', []],
  ])('%s reads %j', (text, reads) => {
    expect(expression(text).reads).toEqual(reads);
  });

  it.each([
    ["'a' + 'b'", true],
    ['["a"].map(x, x)', true],
    ['object.a', false],
    ['has(object.a)', false],
  ])('%s depends on nothing: %s', (text, constant) => {
    expect(expression(text).constant).toBe(constant);
  });
});

describe('the budget of an evaluation (P10)', () => {
  const list = Array.from({ length: 20_000 }, (_, index) => index);
  const large = prepare({
    l: list,
    names: list.map(String),
    s: 'x'.repeat(1_000_000),
    m: Object.fromEntries(list.entries()),
  });

  it.each([
    'object.l.all(a, object.l.all(b, object.l.all(c, a + b + c >= 0)))',
    'object.l.exists(a, object.l.exists(b, a + b < 0)) || true',
    'object.l.all(a, object.l.all(b, b < 0) || true)',
    'object.l.all(x, x in object.l)',
    'object.l.all(x, object.l == object.l)',
    'object.m.all(k, object.m == object.m)',
    '(object.l + object.l + object.l).map(x, object.l + object.l).size()',
    'object.l.map(a, object.l.map(b, object.l.map(c, c))).size()',
    'object.names.map(n, object.s + n).join("").size()',
    'object.names.all(n, object.s.contains(object.s + "y") || true)',
    'object.names.all(n, object.s.replace("x", "yy") != "")',
    'object.names.all(n, object.s.split("").size() > 0)',
    'object.names.exists(n, object.s.matches("(x+x+)+y"))',
    'object.names.all(n, object.s.indexOf("xxxxxxxxy") < 0)',
    'object.names.all(n, object.s < object.s || true)',
    'object.l.exists_one(a, object.l.exists_one(b, a == b))',
    'object.l.filter(a, object.l.filter(b, a == b).size() == 1).size()',
  ])('ends %s, and says so', (text) => {
    const compiled = expression(text);
    const began = busyMs();
    expect(compiled.evaluate(large)).toEqual({ kind: 'invalid', detail: 'the evaluation took too many steps' });
    expect(busyMs() - began).toBeLessThan(1000);
  });

  it('is whole again for the next evaluation', () => {
    const compiled = expression('object.l.all(a, object.l.all(b, a + b >= 0))');
    expect(compiled.evaluate(large)).toMatchObject({ kind: 'invalid' });
    expect(compiled.evaluate(prepare({ l: [1, 2, 3] }))).toEqual({ kind: 'value', value: true });
  });

  it('leaves room for everything reasonable', () => {
    const spec = { items: Array.from({ length: 1000 }, (_, index) => ({ id: `i-${index}`, tags: ['a', 'b', 'c'] })) };
    const text = 'object.spec.items.filter(i, i.tags.exists(t, t == "c") && i.id.matches("^i-[0-9]+$")).map(i, i.id)';
    expect(expression(text).evaluate(prepare({ spec }))).toEqual({
      kind: 'value',
      value: spec.items.map(({ id }) => id),
    });
    expect(BUDGET).toBe(200_000);
  });
});

describe('preparing an object', () => {
  it('leaves the original as it was, and shares what need not change', () => {
    const original = { metadata: { name: 'x' }, spec: { n: 1, list: ['a', 'b'], deep: { list: [1, 'a'] } } };
    const before = structuredClone(original);
    const { variables } = prepare(original);
    expect(original).toEqual(before);
    expect(variables.object).toMatchObject({ spec: { n: 1n, deep: { list: [1n, 'a'] } } });
    expect(Reflect.get(Object(Reflect.get(Object(variables.object), 'spec')), 'list')).toBe(original.spec.list);
  });

  it('survives keys that JavaScript treats specially', () => {
    const odd = JSON.parse(
      '{"metadata":{"annotations":{"constructor":"c","__proto__":"p","toString":"t"}},"spec":{"__proto__":{"n":1},"hasOwnProperty":2}}',
    );
    const over = prepare(odd);
    for (const [text, value] of [
      ["object.metadata.annotations['constructor']", 'c'],
      ["object.metadata.annotations['__proto__']", 'p'],
      ["object.metadata.annotations['toString']", 't'],
      ["object.spec['__proto__'].n + 1", 2],
      ["object.spec['hasOwnProperty']", 2],
      ["'valueOf' in object.spec", false],
    ] as const) {
      expect(expression(text).evaluate(over)).toEqual({ kind: 'value', value });
    }
    expect(expression("object.spec['valueOf']").evaluate(over)).toMatchObject({ kind: 'missing' });
    expect(Object.prototype).not.toHaveProperty('n');
  });

  it('keeps every JSON value comparable with itself', () => {
    const same = expression('object.a == object.b');
    holds(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).match(/e\+|\d{16}/));
        const outcome = same.evaluate(prepare({ a: value, b: structuredClone(value) }));
        expect(outcome).toEqual({ kind: 'value', value: true });
      }),
    );
  });
});
