/*
 * A cluster that was restored from a backup under a running bridge: a rule has the same uid and, edited again, a generation that
 * the bridge has seen with another spec. What is in force has to be what the rule says now.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { ruleSpec } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

/** The rule is paused now, under the generation that it had. */
function restore(scene: RuleScene): void {
  scene.cluster.restore(TEARDOWN_RULES, { ...ruleOf(scene), spec: ruleSpec({ paused: true }) });
}

function ruleOf(scene: RuleScene): KubeObject {
  const rule = scene.rule();
  if (rule === undefined) throw new Error('reading the rule: it is gone');
  return rule;
}

describe('a rule with another spec under a generation that was seen', () => {
  it('is in force at once as it is now (P2)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    expect(scene.book.named(RULE)).toMatchObject({ generation: 1, paused: false });
    restore(scene);
    await scene.clock.advance(1_000);
    expect(scene.book.named(RULE)).toMatchObject({ generation: 1, paused: true });
  });

  it('is withdrawn as it is now (P2)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.create('logs');
    await scene.deleteRule();
    await scene.clock.advance(1_000);
    expect(scene.book.named(RULE)).toMatchObject({ isWithdrawn: true, paused: false });
    restore(scene);
    await scene.clock.advance(1_000);
    expect(scene.book.named(RULE)).toMatchObject({ isWithdrawn: true, paused: true });
  });

  it('is put in force once, however often it is looked at', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    let changes = 0;
    scene.book.onChange(() => {
      changes += 1;
    });
    await scene.clock.advance(30 * 60_000);
    expect(changes).toBe(0);
    await scene.create('logs');
    await scene.deleteRule();
    await scene.clock.advance(50_000);
    expect(changes).toBeLessThanOrEqual(2);
  });
});
