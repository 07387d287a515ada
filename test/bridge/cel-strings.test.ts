/*
 * The string functions of expressions, counted in code points,
 * and regular expressions, which take linear time.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { type CelOutcome, compile } from '../../bridge/cel.ts';
import { busyMs } from '../support/busy.ts';
import { expression } from '../support/expressions.ts';
import { holds } from '../support/property.ts';

const object = prepare({ spec: { region: 'eu-central-1', umlaut: 'Äpfel😀x' } });
const evaluate = (text: string, over = object): CelOutcome => expression(text).evaluate(over);

describe('strings', () => {
  it.each([
    ['object.spec.umlaut.lowerAscii()', 'Äpfel😀x'],
    ['object.spec.umlaut.upperAscii()', 'ÄPFEL😀X'],
    ['size(object.spec.umlaut)', 7],
    ['object.spec.umlaut.substring(5, 6)', '😀'],
    ['object.spec.umlaut.substring(6)', 'x'],
    ["object.spec.umlaut.indexOf('x')", 6],
    ["object.spec.umlaut.indexOf('x', 6)", 6],
    ["object.spec.umlaut.lastIndexOf('x')", 6],
    ["object.spec.umlaut.lastIndexOf('Ä', 6)", 0],
    ["object.spec.umlaut.indexOf('z')", -1],
    ['object.spec.umlaut.charAt(5)', '😀'],
    ["object.spec.umlaut.split('')[5]", '😀'],
    ["' a '.trim()", 'a'],
  ])('%s is %j: counted in code points, case is ASCII only', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it('substrings agree with code points for any text', () => {
    const middle = expression('object.s.substring(object.from, object.to)');
    holds(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(20), fc.nat(20), (s, a, b) => {
        const points = [...s];
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const outcome = middle.evaluate(prepare({ s, from, to }));
        if (to > points.length) expect(outcome).toMatchObject({ kind: 'invalid' });
        else expect(outcome).toEqual({ kind: 'value', value: points.slice(from, to).join('') });
      }),
    );
  });
});

describe('regular expressions', () => {
  it.each([
    ["object.spec.region.matches('^[a-z]{2}-[a-z]+-[0-9]$')", true],
    ["object.spec.region.matches('central')", true],
    ["object.spec.region.matches('^central')", false],
    ["matches(object.spec.region, 'eu')", true],
    ["object.spec.umlaut.matches('^.pfel.x$')", true],
    ["'a\\nb'.matches('a.b')", false],
    ["'ABC'.matches('(?i)^abc$')", true],
  ])('%s is %j', (text, value) => {
    expect(evaluate(text)).toEqual({ kind: 'value', value });
  });

  it.each(["'x'.matches('(')", "'x'.matches('(?=x)')", "'x'.matches('(x)\\\\1')", "matches('x', '[')"])(
    '%s is refused when the rule is read',
    (text) => {
      expect(compile(text)).toMatchObject({ ok: false, message: expect.stringContaining('regexp') });
    },
  );

  it.each(['^(a+)+$', '(a|aa)+$', '(a*)*b', '^(.*a){12}$'])('%s takes no more than linear time', (pattern) => {
    const text = expression(`object.s.matches('${pattern}')`);
    const began = busyMs();
    for (const length of [100, 1000, 3000]) text.evaluate(prepare({ s: `${'a'.repeat(length)}!` }));
    expect(busyMs() - began).toBeLessThan(1000);
  });

  it('longer than 1,024 characters is invalid', () => {
    expect(evaluate('object.a.matches(object.p)', prepare({ a: 'a', p: 'a'.repeat(1025) }))).toMatchObject({
      kind: 'invalid',
    });
  });
});
