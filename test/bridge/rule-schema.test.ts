/*
 * Rules as the API gives them: what they can have beyond rules of a file, and what comes out of the schema.
 * What both can have is tested through files (rules.test.ts, rules-faults.test.ts).
 */
import { describe, expect, it } from 'vitest';
import { ruleDocument, teardownRuleSpec } from '../../bridge/rule-schema.ts';
import { fullestSpec, leastSpec, rightRules, wrongRules } from '../support/rule-corpus.ts';
import { ruleNameSamples } from '../support/rule-names.ts';

const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x']));

describe('the spec of a TeardownRule', () => {
  it('has durations in ms, selectors whole, and expressions ready for use', () => {
    const spec = teardownRuleSpec.parse(fullestSpec);
    expect(spec).toMatchObject({
      budget: { limit: 50, window: 3_600_000 },
      deadline: 129_600_000,
      term: 9_000_000,
      waitFor: { atMost: 90_000 },
      match: { namespaceSelector: { matchLabels: { team: 'a' }, matchExpressions: [] } },
    });
    expect(spec.target.bucket?.reads).toEqual(['object.status.bucketName']);
  });

  it('may be without a budget and without selectors', () => {
    const spec = teardownRuleSpec.parse(leastSpec);
    expect(spec.budget).toBeUndefined();
    expect(spec.match).toEqual(leastSpec.match);
  });

  it.each(rightRules)('may be %s', (_what, change) => {
    expect(teardownRuleSpec.safeParse({ ...leastSpec, ...change }).error).toBeUndefined();
  });

  it.each(wrongRules)('is refused with %s', (_what, change) => {
    expect(teardownRuleSpec.safeParse({ ...leastSpec, ...change }).success).toBe(false);
  });

  it.each([
    [{ target: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'object.a'])) }, 'at most 32 keys'],
    [{ match: { ...leastSpec.match, labelSelector: { matchLabels: labels(33) } } }, 'at most 32 labels'],
    [{ budget: { limit: 1, window: '8d' } }, 'not a duration'],
    [{ budget: { limit: 1, window: '200h' } }, 'must be from 1m to 168h'],
    [{ term: '10m' }, 'must be from 30m to 6h'],
  ])('says of %j: %s', (change, says) => {
    const { error } = teardownRuleSpec.safeParse({ ...leastSpec, ...change });
    expect(error?.issues.map(({ message }) => message).join()).toContain(says);
  });
});

describe('a rule of a file', () => {
  it('takes the same spec, but for what needs the API', () => {
    const { budget: _budget, match, ...rest } = fullestSpec;
    const { namespaceSelector: _selector, ...kind } = match;
    const metadata = { name: 'team-buckets' };
    expect(ruleDocument.safeParse({ metadata, spec: { ...rest, match: kind } }).success).toBe(true);
    expect(ruleDocument.safeParse({ metadata, spec: fullestSpec }).error?.issues).toMatchObject([
      { path: ['spec', 'match', 'namespaceSelector'], message: 'not supported for rules from a file' },
      { path: ['spec', 'budget'], message: 'not supported for rules from a file' },
    ]);
  });

  it.each(ruleNameSamples)('may be called "%s": %s (K16, K24)', (name, accepted) => {
    expect(ruleDocument.safeParse({ metadata: { name }, spec: leastSpec }).success).toBe(accepted);
  });
});
