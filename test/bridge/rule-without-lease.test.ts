/*
 * A rule that is looked at while the lease is not held, as after a leap of the wall clock until the lease is renewed: nothing can
 * be written on it, and nothing gets its entry before it says all that it has to (P5, P9). The real bridge and keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { ApiError } from '../../bridge/ports.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { RuleScene, type RuleSceneOptions } from '../support/rule-scene.ts';

const TWO: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
const ONE: Served = { namespaces: ['team-a'], leaving: [] };

/** Starts a bridge that does not hold the lease, and notes what the rule says at each PATCH of an object. */
async function leapt(options: RuleSceneOptions = {}) {
  const said = new Set<string>();
  const scene = await RuleScene.start({
    ...options,
    prepare: (begun) => {
      begun.holdsLease = false;
      options.prepare?.(begun);
      const { before } = begun.cluster;
      begun.cluster.before = (call) => {
        before(call);
        if (call.verb !== 'patch' || call.kind?.resource !== BUCKETS.resource) return;
        const holdsItself = begun.rule()?.metadata.finalizers?.includes(WITHDRAWAL_FINALIZER) === true;
        said.add(`${holdsItself ? 'holds itself' : 'goes when deleted'}, in ${begun.status().namespaces ?? 'all'}`);
      };
    },
  });
  return { scene, said };
}

describe('a rule that is first seen while the lease is not held', () => {
  it.each([
    ['the whole cluster is', EVERYWHERE, 'holds itself, in all'],
    ['two namespaces are', TWO, 'holds itself, in team-a,team-b'],
  ])('puts its entry on nothing before it says where, when %s served', async (_, served, words) => {
    const { scene, said } = await leapt({
      served,
      prepare: ({ cluster }) => {
        for (const name of ['team-a', 'team-b']) cluster.create({ name, kind: NAMESPACES, namespace: undefined });
      },
    });
    await scene.apply();
    await scene.create('logs', { namespace: 'team-a' });
    await scene.clock.advance(1_500);
    scene.holdsLease = true;
    await scene.clock.advance(30_000);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect([...said]).toEqual([words]);
  });

  it('is not one that nobody has written: what is pending under it is not held for that', async () => {
    const { scene } = await leapt();
    scene.cluster.create({ name: 'logs', finalizers: [ENTRY], spec: { bucket: 'logs' } });
    await scene.apply();
    await scene.delete('logs');
    await scene.clock.advance(10_000);
    expect(scene.standing('logs')).not.toBe('Held NoRule');
    scene.holdsLease = true;
    await scene.clock.advance(60_000);
    expect(scene.requested).toEqual(['logs']);
  });
});

describe('a rule that says all that it has to', () => {
  it('is in force at once', async () => {
    const first = await RuleScene.start();
    await first.apply();
    await first.stop();
    const { scene } = await leapt({ world: first });
    await scene.clock.advance(1_000);
    expect(scene.book.named(RULE)).toBeDefined();
  });

  it('is in force nowhere else, where more is served than its status names (P5)', async () => {
    const first = await RuleScene.start({
      served: ONE,
      prepare: ({ cluster }) => {
        for (const name of ['team-a', 'team-b']) cluster.create({ name, kind: NAMESPACES, namespace: undefined });
      },
    });
    await first.apply();
    await first.stop();
    const { scene, said } = await leapt({
      ...{ world: first, served: TWO },
      prepare: ({ kinds }) => kinds.fails.set(kindKey(BUCKETS), new ApiError('asking', 503)),
    });
    await scene.create('maps', { namespace: 'team-b' });
    await scene.clock.advance(30_000);
    expect(scene.finalizers('maps')).toEqual([]);
    scene.holdsLease = true;
    await scene.clock.advance(60_000);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    expect([...said]).toEqual(['holds itself, in team-a,team-b']);
  });
});
