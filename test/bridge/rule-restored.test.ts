/*
 * A cluster that was restored from a backup under a running bridge: a rule has the same uid and, edited again, a generation that
 * the bridge has seen with another spec. What is in force has to be what the rule says now.
 */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

it('puts the spec in force that the rule has now, also under a generation that it has seen with another (P2)', async () => {
  const scene = await RuleScene.start();
  await scene.apply();
  expect(scene.book.named(RULE)).toMatchObject({ generation: 1, paused: false });
  const restored = (object: KubeObject) => ({
    ...{ ...object, spec: ruleSpec({ paused: true }) },
    metadata: { ...object.metadata, generation: 1 },
  });
  // The fake counts an edit of the spec as one: its number is put back by a second write.
  for (const _ of [1, 2]) scene.cluster.change(RULE, restored, TEARDOWN_RULES);
  await scene.clock.advance(60_000);
  expect(scene.rule()?.metadata).toMatchObject({ generation: 1 });
  expect(scene.book.named(RULE)).toMatchObject({ generation: 1, paused: true });
});
