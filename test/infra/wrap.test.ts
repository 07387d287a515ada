/*
 * Prose of generated pages: it is wrapped at the width of all docs, without changing what Markdown makes of it and what its
 * words are.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bullets, wrapped } from '../../infra/wrap.ts';
import { holds } from '../support/property.ts';

const long = 'word '.repeat(60).trim();
const longest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('a paragraph', () => {
  it('is in lines of at most 125 characters, of which none could take a word more', () => {
    const lines = wrapped(long).split('\n');
    expect(longest(wrapped(long))).toBe(124);
    expect(lines.slice(0, -1).every((line) => line.length === 124)).toBe(true);
    expect(lines.join(' ')).toBe(long);
  });

  it('that is short stays as it is', () => {
    expect(wrapped('A short one.')).toBe('A short one.');
  });

  it('has its inline code on one line', () => {
    const code = '(`kubectl get teardownrules`),';
    expect(wrapped(`${'x'.repeat(110)} ${code} and more`)).toBe(`${'x'.repeat(110)}\n${code} and more`);
  });

  it.each(['-', '+', '*', '>', '##', '1.', '2)'])(
    'has no line that begins with %s, which would mean something',
    (marker) => {
      expect(wrapped(`${'x'.repeat(124)} ${marker} y`)).toBe(`${'x'.repeat(124)} ${marker}\ny`);
    },
  );

  it('has the same words in the same order, whatever they are', () => {
    const words = fc.array(fc.stringMatching(/^[a-z`.,+#-]{1,20}$/), { minLength: 1, maxLength: 60 });
    holds(
      fc.property(words, (some) => {
        expect(wrapped(some.join(' ')).split(/\s+/)).toEqual(some);
      }),
    );
  });
});

it('items of a list go on under their text', () => {
  const lines = bullets([long, 'b']).split('\n');
  expect(lines.map((line) => line.slice(0, 2))).toEqual(['- ', '  ', '  ', '- ']);
  expect(longest(lines.join('\n'))).toBeLessThanOrEqual(125);
});
