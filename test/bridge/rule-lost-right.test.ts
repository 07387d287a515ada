/*
 * A right that a rule had and that was taken away: an idle rule says so within five minutes, as each question costs calls whatever
 * happens (P8); but what keeps an object from finishing is readable within a minute (P7). The real bridge and keeper over fakes.
 */
import { expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import { RECHECK_MS } from '../../bridge/rule-enforcing.ts';
import { BUCKETS, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

/** A rule that was idle for minutes, with a live object, when a right on its kind is taken away. */
async function lost(verb: 'get' | 'patch'): Promise<RuleScene> {
  const scene = await RuleScene.start();
  await scene.apply();
  await scene.create('logs');
  await scene.clock.advance(RECHECK_MS + 30_000);
  scene.kinds.lacks.set(kindKey(BUCKETS), [verb]);
  const { before } = scene.cluster;
  scene.cluster.before = (call) => {
    before(call);
    if (call.verb === verb && call.kind?.resource === BUCKETS.resource) throw new ApiError(`${verb} logs`, 403);
  };
  return scene;
}

it.each(['get', 'patch'] as const)('P7 without %s a rule says so within a minute of a deletion', async (verb) => {
  const scene = await lost(verb);
  await scene.clock.advance(60_000);
  expect(scene.said('Permitted')).toBe('True Permitted');
  await scene.delete('logs');
  if (verb === 'patch') await scene.answer('logs');
  await scene.clock.advance(60_000);
  expect(scene.said('Permitted')).toBe('False MissingVerbs');
  expect(scene.condition('Permitted')?.message).toBe(`may not ${verb} buckets.storage.example.com`);
  expect(scene.status()).toMatchObject({ pending: 1, held: 1, heldObjects: [{ name: 'logs', reason: 'Failing' }] });
  expect(scene.standing('logs', RULE)).toBe('Held Failing');
});

it.each(['get', 'patch'] as const)('without %s an idle rule says so within five minutes', async (verb) => {
  const scene = await lost(verb);
  await scene.clock.advance(RECHECK_MS);
  expect(scene.said('Ready')).toBe('False MissingVerbs');
});
