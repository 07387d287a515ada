/*
 * Two bridges that both believe to lead and judge one rule differently, as when only one of them was told of its handler: each
 * sees what the other writes, and neither may answer it at once.
 */
import { expect, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BUCKETS, HANDLER, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const MINUTE = 60_000;
/** Two that contend write a label and a status each in that time, each of them twice for a conflict; an endless fight ends here. */
const WRITES_MAX = 8 * ((3 * MINUTE) / STATUS_EVERY_MS);

const labelOf = (scene: RuleScene) => scene.rule()?.metadata.labels?.[INJECTS_LABEL];

/** A rule with its label, and how many writes there were since. */
async function labelled() {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.labelled();
  const before = scene.cluster.count('patch');
  return { scene, writes: () => scene.cluster.count('patch') - before };
}

it('two that both lead and judge a rule differently write its label now and then, not without end (P8)', async () => {
  const { scene, writes } = await labelled();
  const seen = new Set<string | undefined>();
  scene.cluster.before = ({ verb }) => {
    seen.add(labelOf(scene));
    if (verb === 'patch' && writes() > WRITES_MAX) throw new Error('writing a rule: there is no end to it');
  };
  const other = await RuleScene.start({ world: scene, prepare: ({ handlers }) => void handlers.delete(HANDLER) });
  await scene.clock.advance(3 * MINUTE);
  expect(writes()).toBeLessThan(WRITES_MAX);
  expect(seen).toEqual(new Set([undefined, injectsLabel(BUCKETS)]));

  await other.stop();
  await scene.clock.advance(2 * STATUS_EVERY_MS);
  expect([labelOf(scene), scene.said('Accepted')]).toEqual([injectsLabel(BUCKETS), 'True Accepted']);
  await scene.stop();
});

it('a label that somebody takes off is put on again at once, and the next time a little later', async () => {
  const { scene } = await labelled();
  const takeOff = async () => {
    scene.cluster.change(
      RULE,
      ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels: {} } }),
      TEARDOWN_RULES,
    );
    await scene.clock.advance(1_000);
  };
  await takeOff();
  expect(labelOf(scene)).toBe(injectsLabel(BUCKETS));
  await takeOff();
  expect(labelOf(scene)).toBeUndefined();
  expect(scene.said('FinalizerAtAdmission')).toBe('False NotLabelled');
  await scene.clock.advance(STATUS_EVERY_MS);
  expect(labelOf(scene)).toBe(injectsLabel(BUCKETS));
  await scene.stop();
});
