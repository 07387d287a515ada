/*
 * An installation that served two namespaces, and whose chart has given the rights in the whole cluster since: the bindings from
 * before, and what became of them. Used by the tests of rights that are outgrown.
 */
import { RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import type { Served } from '../../bridge/served.ts';
import { bindRights, boundIn, unbind } from './bound-rights.ts';
import { RULE } from './bridge-builders.ts';
import { RuleScene } from './rule-scene.ts';

export const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
export const BOTH = ['team-a', 'team-b'] as const;

/** A bridge that served both, and rules with an object in each; then the chart has given the rights in the whole cluster, and no bridge runs. */
export async function widened(...others: readonly string[]): Promise<RuleScene> {
  let widen = () => {};
  const scene = await RuleScene.start({
    served: TWO,
    prepare: (begun) => {
      widen = bindRights(begun, ...BOTH);
    },
  });
  for (const rule of [RULE, ...others]) await scene.apply({}, rule);
  await scene.create('logs', { namespace: 'team-a' });
  await scene.create('maps', { namespace: 'team-b' });
  if (JSON.stringify(kept(scene)) !== JSON.stringify([[RIGHTS_FINALIZER], [RIGHTS_FINALIZER]]))
    throw new Error(`keeping the rights: ${JSON.stringify(kept(scene))}`);
  await scene.stop();
  widen();
  return scene;
}

/** Helm deletes what the values name no more; the bridge of before is gone. */
export function unbindAll(scene: RuleScene): void {
  for (const namespace of BOTH) unbind(scene, namespace);
}

/** The finalizers of both bindings. */
export const kept = (scene: RuleScene) =>
  BOTH.map((namespace) => {
    const binding = boundIn(scene, namespace);
    return binding === undefined ? 'gone' : (binding.metadata.finalizers ?? []);
  });
