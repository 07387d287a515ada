/*
 * The rights in a namespace under a rule that was being withdrawn already when some namespaces came to be served only: its entries
 * are there, so they are kept, whatever deletes the namespace first (P4, P9). The rest is in kept-rights.test.ts.
 */
import { expect, it } from 'vitest';
import { RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { watchedKey } from '../../bridge/served.ts';
import { bindRights, boundIn, endNamespace } from '../support/bound-rights.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';
import { TWO } from '../support/widened-rights.ts';

it('are kept, named and given up when what is held there has come to its end', async () => {
  let widen = () => {};
  const before = await RuleScene.start({
    prepare: (begun) => {
      widen = bindRights(begun, 'team-a', 'team-b');
    },
  });
  await before.apply();
  await before.create('logs', { namespace: 'team-a' });
  await before.delete('logs');
  await before.deleteRule();
  await before.stop();
  const scene = await RuleScene.start({ world: before, served: TWO });
  await scene.clock.advance(120_000);
  expect(scene.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
  expect(boundIn(scene, 'team-a')?.metadata.finalizers).toEqual([RIGHTS_FINALIZER]);
  await endNamespace(scene, 'team-a', []);
  expect(await scene.answer('logs')).toBe(true);
  await scene.clock.advance(300_000);
  expect(boundIn(scene, 'team-a')).toBeUndefined();
  widen();
});

it('P7 a rule says while it is withdrawn in which namespaces its rights are gone', async () => {
  const scene = await RuleScene.start({ served: TWO, prepare: (begun) => bindRights(begun, 'team-a', 'team-b') });
  await scene.apply();
  await scene.create('logs', { namespace: 'team-a' });
  await scene.delete('logs');
  await scene.deleteRule();
  await scene.clock.advance(90_000);
  expect(scene.said('Permitted')).toBe('True Permitted');
  scene.kinds.lacks.set(watchedKey({ ...BUCKETS, namespace: 'team-a' }), ['patch']);
  await scene.clock.advance(30_000);
  expect(scene.said('Permitted')).toBe('False MissingVerbs');
  expect(scene.condition('Permitted')?.message).toBe('may not patch buckets.storage.example.com in namespace team-a');
  expect(scene.said('WithdrawalBlocked')).toBe('True PendingObjects');
});
