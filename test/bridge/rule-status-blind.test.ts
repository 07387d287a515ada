/*
 * What the status of a rule counts while nobody looks at its kind, as after it was taken off the chart's `kinds`: that nothing is
 * seen is not that nothing is there. The real bridge and keeper over fakes.
 */
import { expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import type { KubeObject } from '../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING } from '../../bridge/rights-binding.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { bindRights, endNamespace, finishNamespace } from '../support/bound-rights.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

/** A bridge that may not watch the kind, after one under which a deletion was held. */
async function left(): Promise<RuleScene> {
  const first = await RuleScene.start();
  await first.apply();
  await first.create('logs');
  await first.delete('logs');
  await first.answer('logs', { outcome: 'refused', reason: 'ObjectLock', message: 'locked' });
  await first.clock.advance(2 * STATUS_EVERY_MS);
  await first.stop();
  first.cluster.refused.set(`${BUCKETS.group}/${BUCKETS.resource}`, 403);
  const scene = await RuleScene.start({ world: first });
  await scene.clock.advance(60_000);
  return scene;
}

it('what is pending stays told while a bridge may not watch the kind, and until it is seen to be over (P7)', async () => {
  const scene = await left();
  expect(scene.said('Watching')).toBe('False NotWatching');
  expect(scene.status()).toMatchObject({ pending: 1, held: 1, heldObjects: [{ name: 'logs' }] });
  scene.cluster.refused.clear();
  await scene.clock.advance(120_000);
  expect(scene.said('Watching')).toBe('True Watching');
  await scene.answer('logs');
  await scene.clock.advance(2 * STATUS_EVERY_MS);
  expect(scene.status()).toMatchObject({ pending: 0, held: 0, heldObjects: [] });
});

it('nothing is pending of a kind that is not served any more', async () => {
  const scene = await left();
  scene.kinds.served.delete(kindKey(BUCKETS));
  await scene.clock.advance(60_000);
  expect(scene.said('Accepted')).toBe('False UnknownResource');
  expect(scene.status()).toMatchObject({ pending: 0, held: 0, heldObjects: [] });
});

it('nothing is pending in a served namespace that is not there any more, whatever was counted there last (P7)', async () => {
  const served = { namespaces: ['team-a', 'team-b'], leaving: [] };
  const first = await RuleScene.start({ served, prepare: (begun) => bindRights(begun, 'team-a', 'team-b') });
  await first.apply();
  await first.create('maps', { namespace: 'team-b' });
  await first.delete('maps');
  await first.answer('maps', { outcome: 'refused', reason: 'ObjectLock', message: 'locked' });
  await first.clock.advance(2 * STATUS_EVERY_MS);
  await first.stop();
  expect(first.status()).toMatchObject({ pending: 1 });
  // While no bridge runs a person lets all of it go.
  await endNamespace(first, 'team-b', []);
  const bare = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, finalizers: [] } });
  first.cluster.change('maps', bare);
  first.cluster.change(RIGHTS_BINDING.name, bare, bindingIn('team-b'));
  finishNamespace(first, 'team-b');
  const scene = await RuleScene.start({ world: first, served });
  await scene.clock.advance(60_000);
  expect(scene.said('Ready')).toBe('False NamespaceMissing');
  expect(scene.status()).toMatchObject({ pending: 0, held: 0, heldObjects: [] });
});
