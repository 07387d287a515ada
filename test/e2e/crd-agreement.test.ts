/*
 * The bridge's schema of rules and the API server's definition agree: what one takes the other takes, with the same
 * defaults, and what one refuses the other refuses. Where only one of them can tell, that is said case by case.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { teardownRuleSpec } from '../../bridge/rule-schema.ts';
import { sharedKube } from '../support/e2e.ts';
import { rulesOf } from '../support/rule-api.ts';
import {
  defaultedSpec,
  leastSpec,
  onlyTheBridgeRefuses,
  onlyTheServerRefuses,
  rightRules,
  type Spec,
  wrongRules,
} from '../support/rule-corpus.ts';
import { mutatedSpec, withoutNulls } from '../support/rule-mutations.ts';

const kube = sharedKube();
const rules = rulesOf(kube);

beforeAll(() => rules.apply());
afterAll(() => kube.close());

/** The shortest rule with a change, as JSON carries it. */
const changed = (change: Spec): Spec => JSON.parse(JSON.stringify({ ...leastSpec, ...change }));

/** What the bridge makes of a spec, expressions as their texts; or what it objects to. */
function bridgeSays(spec: unknown): { readonly spec: unknown } | { readonly faults: string } {
  const parsed = teardownRuleSpec.safeParse(spec);
  if (!parsed.success) return { faults: parsed.error.issues.map(({ message }) => message).join('; ') };
  return { spec: JSON.parse(JSON.stringify(parsed.data)) };
}

describe('rules that are right', () => {
  it.each(rightRules)(
    '%s: taken by both, and meaning the same to the bridge before and after',
    async (_what, change) => {
      const answer = await rules.tryCreate(changed(change));
      expect(answer).toMatchObject({ accepted: true });
      const before = bridgeSays(changed(change));
      expect(before).toHaveProperty('spec');
      expect(answer.accepted && bridgeSays(answer.rule.spec)).toEqual(before);
    },
  );

  it('have the defaults of the bridge written into them', async () => {
    expect(await rules.tryCreate(leastSpec)).toMatchObject({ accepted: true, rule: { spec: defaultedSpec } });
    expect(bridgeSays(leastSpec)).toEqual(bridgeSays(defaultedSpec));
  });
});

describe('rules that are wrong', () => {
  it.each(wrongRules)('%s: refused by both', async (_what, change, says) => {
    expect(await rules.tryCreate(changed(change))).toEqual({
      accepted: false,
      message: expect.stringContaining(says),
    });
    expect(bridgeSays(changed(change))).toEqual({ faults: expect.stringMatching(/./) });
  });
});

describe('where one alone can tell', () => {
  it.each(onlyTheBridgeRefuses)('%s: taken by the API server, refused by the bridge', async (_what, change, says) => {
    expect(await rules.tryCreate(changed(change))).toMatchObject({ accepted: true });
    expect(bridgeSays(changed(change))).toEqual({ faults: expect.stringContaining(says) });
  });

  it.each(onlyTheServerRefuses)('%s: refused by the API server', async (_what, change, says) => {
    expect(await rules.tryCreate(changed(change))).toEqual({
      accepted: false,
      message: expect.stringContaining(says),
    });
    expect(bridgeSays(changed(change))).toHaveProperty('spec');
  });
});

it('any rule, spoilt anywhere or not, is taken or refused by both alike', async () => {
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(mutatedSpec, async (spec) => {
      const answer = await rules.tryCreate(spec);
      const said = bridgeSays(withoutNulls(JSON.parse(JSON.stringify(spec))));
      expect(answer.accepted, JSON.stringify({ answer, said })).toBe('spec' in said);
      if (answer.accepted) expect(bridgeSays(answer.rule.spec)).toEqual(said);
      seen[answer.accepted ? 'taken' : 'refused'] += 1;
    }),
    { numRuns: 500 },
  );
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
});
