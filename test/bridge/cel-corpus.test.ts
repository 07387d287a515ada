/*
 * What the corpus of expressions says without a server: what is refused is refused, what fails fails, and the corpus
 * leaves out no function. That the API server sees it so too is shown by test/e2e/cel-corpus.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { ALLOWED } from '../../bridge/cel/syntax.ts';
import { compile } from '../../bridge/cel.ts';
import { exampleObject, functionFacts } from '../../infra/crd/expressions.ts';
import { sections, subjects } from '../support/cel-corpus.ts';
import { expression } from '../support/expressions.ts';

const agreeing = sections('agree').flatMap(({ expressions }) => expressions);
const of = (title: string) => sections(title).flatMap(({ expressions }) => expressions);

describe('the corpus', () => {
  it('is large, and says nothing twice', () => {
    const all = sections('').flatMap(({ expressions }) => expressions);
    expect(agreeing.length).toBeGreaterThan(500);
    expect(new Set(all).size).toBe(all.length);
  });

  it('gives usable values, missing keys and faults, a good part of each', () => {
    const kinds = agreeing.flatMap((text) =>
      subjects.map((subject) => expression(text).evaluate(prepare(subject)).kind),
    );
    for (const kind of ['value', 'missing', 'invalid']) {
      expect(kinds.filter((one) => one === kind).length).toBeGreaterThan(100);
    }
  });

  it.each([...ALLOWED])('has %s() among what agrees', (name) => {
    expect(agreeing.filter((text) => new RegExp(`\\b${name}\\(`).test(text))).not.toEqual([]);
  });

  it.each([...of('refused by both'), ...of('only the bridge refuses')])('holds %j refused', (text) => {
    expect(compile(text)).toMatchObject({ ok: false, message: expect.stringMatching(/./) });
  });

  it.each(of('an error of its own'))('holds %j an error, whatever the object', (text) => {
    for (const subject of subjects) expect(expression(text).evaluate(prepare(subject)).kind).toBe('invalid');
  });
});

it.each(of('only the API server refuses'))('%s gives no value', (text) => {
  for (const subject of subjects) expect(expression(text).evaluate(prepare(subject)).kind).not.toBe('value');
});

describe('the reference', () => {
  const object = prepare(exampleObject);
  const examples = functionFacts.flatMap(({ names, examples: shown }) => shown.map((one) => ({ names, one })));

  it('has every function that can be called, once, and no other', () => {
    expect(functionFacts.flatMap(({ names }) => names).sort()).toEqual([...ALLOWED].sort());
  });

  it.each(examples.map(({ one }) => one))('says truly that %s gives %j', (text, gives) => {
    expect(expression(text).evaluate(object)).toEqual({ kind: 'value', value: gives });
  });

  it.each(functionFacts.flatMap(({ names, examples: shown }) => names.map((name) => [name, shown] as const)))(
    'shows %s() in use',
    (name, shown) => {
      expect(shown.some(([text]) => text.includes(`${name}(`))).toBe(true);
    },
  );
});
