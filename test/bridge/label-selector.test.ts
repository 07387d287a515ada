/*
 * Label selectors mean what they mean to Kubernetes,
 * and are refused where Kubernetes would refuse them.
 */
import { describe, expect, it } from 'vitest';
import { isQualifiedName, type Labels, labelSelector, selectorPredicate } from '../../bridge/label-selector.ts';

function selects(selector: unknown, labels: Labels): boolean {
  return selectorPredicate(labelSelector.parse(selector))(labels);
}

const requirement = (operator: string, values?: readonly string[]) => ({
  matchExpressions: [{ key: 'tier', operator, ...(values && { values }) }],
});

describe('a selector', () => {
  it.each([
    ['nothing', {}, true, true, true],
    ['equality', { matchLabels: { tier: 'prod' } }, true, false, false],
    ['In', requirement('In', ['prod', 'stage']), true, false, false],
    ['NotIn', requirement('NotIn', ['prod']), false, true, true],
    ['Exists', requirement('Exists'), true, true, false],
    ['DoesNotExist', requirement('DoesNotExist'), false, false, true],
  ])('by %s asks for the label as Kubernetes does', (_what, selector, whenProd, whenTest, whenAbsent) => {
    expect(selects(selector, { tier: 'prod', other: 'x' })).toBe(whenProd);
    expect(selects(selector, { tier: 'test' })).toBe(whenTest);
    expect(selects(selector, {})).toBe(whenAbsent);
  });

  it('needs all of its requirements', () => {
    const selector = { matchLabels: { a: '1', b: '2' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] };
    expect(selects(selector, { a: '1', b: '2', c: '' })).toBe(true);
    expect(selects(selector, { a: '1', b: '2' })).toBe(false);
    expect(selects(selector, { a: '1', c: '' })).toBe(false);
  });

  it('tells a label without a value from one that is not there', () => {
    for (const selector of [{ matchLabels: { tier: '' } }, requirement('In', [''])]) {
      expect(selects(selector, { tier: '' })).toBe(true);
      expect(selects(selector, { tier: 'prod' })).toBe(false);
      expect(selects(selector, {})).toBe(false);
    }
  });

  it('takes no inherited property for a label', () => {
    const selector = { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] };
    expect(selects(selector, {})).toBe(false);
    expect(selects(selector, { constructor: 'x' })).toBe(true);
  });

  it.each([
    { matchlabels: {} },
    { matchLabels: { 'a b': 'c' } },
    { matchLabels: { a: 'c d' } },
    { matchLabels: { a: 1 } },
    { matchLabels: { a: 'x'.repeat(64) } },
    requirement('in', ['a']),
    requirement('In'),
    requirement('In', []),
    requirement('NotIn', []),
    requirement('Exists', ['a']),
    requirement('DoesNotExist', ['a']),
  ])('written as %j is refused', (selector) => {
    expect(labelSelector.safeParse(selector).success).toBe(false);
  });
});

describe('qualified names', () => {
  it.each(['a', 'A_b.c-1', 'example.com/a', `${'a'.repeat(63)}`, `${'d.'.repeat(126)}e/x`])('include %s', (name) => {
    expect(isQualifiedName(name)).toBe(true);
  });

  it.each(['', '/', 'a/', '/a', 'a/b/c', 'Example.com/a', '-a', 'a-', 'a b', 'a'.repeat(64), `${'d'.repeat(254)}/x`])(
    'do not include "%s"',
    (name) => {
      expect(isQualifiedName(name)).toBe(false);
    },
  );
});
