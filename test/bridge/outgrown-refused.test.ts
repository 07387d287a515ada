/*
 * The rights from before that an installation outgrows, under a rule that is refused: what is wrong with it is found before it is
 * asked for its rights, and what is pending under it needs them all the same (P4). The rest is in outgrown-rights.test.ts.
 */
import { expect, it } from 'vitest';
import { ApiError, type Watched } from '../../bridge/ports.ts';
import { RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';
import { kept, unbindAll, widened } from '../support/widened-rights.ts';

/** What is left of the status of a rule that is not accepted any more. */
const NOT_ACCEPTED = [
  ['whose last accepted generation is in force', (status: object) => status],
  ['of which no generation is known', (status: object) => ({ ...status, lastAccepted: undefined })],
] as const;

/** A generation of the rule that cannot be read, written while no bridge runs. */
function refuse({ cluster }: RuleScene, status: object): void {
  const spec = ruleSpec({ target: { bucket: 'object.(' } });
  cluster.change(RULE, (rule) => ({ ...rule, spec, status }), TEARDOWN_RULES);
}

it.each(NOT_ACCEPTED)(
  'P10 a rule that is not accepted any more, %s, holds none back, and its entries may be anywhere',
  async (_, statusOf) => {
    const before = await widened();
    unbindAll(before);
    refuse(before, statusOf(before.status()));
    const scene = await RuleScene.start({ world: before });
    await scene.clock.advance(120_000);
    expect(scene.said('Ready')).toMatch(/^False /);
    expect([kept(scene), scene.status().namespaces]).toEqual([['gone', 'gone'], undefined]);
  },
);

it.each(NOT_ACCEPTED)(
  'P4 one that lacks rights in the whole cluster keeps them, %s: what is wrong with it is found before it is asked for its rights',
  async (_, statusOf) => {
    const before = await widened();
    unbindAll(before);
    refuse(before, statusOf(before.status()));
    let answer: 'lacks' | 'fails' | 'has' = 'lacks';
    before.kinds.lacking = async (_watched: Watched, verbs: readonly string[]) => {
      if (answer === 'fails') throw new ApiError('asking', 503);
      return answer === 'lacks' ? verbs : [];
    };
    const scene = await RuleScene.start({ world: before });
    for (const each of ['lacks', 'fails'] as const) {
      answer = each;
      await scene.clock.advance(120_000);
      expect(kept(scene)).toEqual([[RIGHTS_FINALIZER], [RIGHTS_FINALIZER]]);
      expect(scene.said('Accepted')).toBe('False Invalid');
      expect(scene.condition('Permitted')?.message).toBe(
        'not asked before it is accepted; the rights in namespace team-a, team-b are kept from before until the bridge has them in the whole cluster',
      );
    }
    answer = 'has';
    await scene.clock.advance(60_000);
    expect([kept(scene), scene.status().namespaces]).toEqual([['gone', 'gone'], undefined]);
    expect(scene.condition('Permitted')?.message).toBe('not asked before it is accepted');
  },
);

it('P4 the same of one that is being withdrawn', async () => {
  const before = await widened();
  unbindAll(before);
  refuse(before, before.status());
  await before.delete('logs');
  await before.deleteRule();
  before.kinds.lacking = async (_watched: Watched, verbs: readonly string[]) => verbs;
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(120_000);
  expect(kept(scene)).toEqual([[RIGHTS_FINALIZER], [RIGHTS_FINALIZER]]);
  expect(scene.condition('Permitted')?.message).toContain(
    'the rights in namespace team-a, team-b are kept from before',
  );
});
