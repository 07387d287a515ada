/*
 * An installation that served some namespaces and serves the whole cluster now: Helm has deleted the bindings that are kept there,
 * and the bridge gives them up, since it needs none of them (P9); what keeps it from that is said (P7), and the way back is open.
 * The real bridge and keeper over fakes; the same on a real API server in e2e/chart-widened.test.ts.
 */
import { expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError, type Watched } from '../../bridge/ports.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../bridge/rights-binding.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { boundIn, endNamespace } from '../support/bound-rights.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { FakeKinds, VOLUMES } from '../support/fake-kinds.ts';
import { RuleScene } from '../support/rule-scene.ts';
import { BOTH, kept, TWO, unbindAll, widened } from '../support/widened-rights.ts';

/** Takes rights on bindings away, by verb; what it returns gives them again. */
function deny({ cluster }: RuleScene, ...verbs: readonly string[]): () => void {
  const { before } = cluster;
  cluster.before = (call) => {
    before(call);
    if (call.kind?.resource === RIGHTS_BINDING.resource && verbs.includes(call.verb))
      throw new ApiError(`${call.verb} ${call.name}`, 403);
  };
  return () => {
    cluster.before = before;
  };
}

const asksForBindings = ({ cluster }: RuleScene) =>
  cluster.calls.filter(({ name }) => name === RIGHTS_BINDING.name).length;

it('P9 the bindings that Helm has deleted are given up within a minute, and what is pending there goes on', async () => {
  const before = await widened('younger');
  unbindAll(before);
  const scene = await RuleScene.start({ world: before });
  await scene.delete('maps');
  await scene.clock.advance(60_000);
  expect(kept(scene)).toEqual(['gone', 'gone']);
  for (const rule of [RULE, 'younger']) {
    expect([scene.status(rule).namespaces, scene.said('Ready', rule)]).toEqual([undefined, 'True Ready']);
  }
  expect(await scene.answer('maps')).toBe(true);
  const asked = asksForBindings(scene);
  await scene.clock.advance(600_000);
  expect(asksForBindings(scene)).toBe(asked);
});

it('one that is not deleted yet is let alone but for the finalizer, so that it goes when Helm deletes it', async () => {
  const before = await widened();
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(60_000);
  expect([kept(scene), scene.status().namespaces]).toEqual([[[], []], undefined]);
  unbindAll(scene);
  expect(kept(scene)).toEqual(['gone', 'gone']);
});

it.each([
  ['by the same bridge', false],
  ['by the next one (P5)', true],
])(
  'a binding is named until it is seen without the finalizer, whatever goes wrong meanwhile, and is given up %s',
  async (_, isNext) => {
    const before = await widened();
    unbindAll(before);
    let isBroken = true;
    const { before: call } = before.cluster;
    before.cluster.before = (one) => {
      call(one);
      if (isBroken && one.kind?.resource === RIGHTS_BINDING.resource && one.verb === 'patch')
        throw new ApiError('patch', 500);
    };
    const first = await RuleScene.start({ world: before });
    await first.clock.advance(60_000);
    expect(first.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
    if (isNext) await first.stop();
    isBroken = false;
    const second = isNext ? await RuleScene.start({ world: first }) : first;
    await second.clock.advance(60_000);
    expect([kept(second), second.status().namespaces]).toEqual([['gone', 'gone'], undefined]);
  },
);

it('stay while a rule that names the namespace lacks rights in the whole cluster, which it says, and go when it has them', async () => {
  const before = await widened('younger');
  unbindAll(before);
  const lacking = before.kinds.lacking.bind(before.kinds);
  before.kinds.lacking = async (_watched: Watched, verbs: readonly string[]) => verbs;
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(120_000);
  expect(kept(scene)).toEqual([[RIGHTS_FINALIZER], [RIGHTS_FINALIZER]]);
  expect(scene.said('Permitted')).toBe('False MissingVerbs');
  expect(scene.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
  before.kinds.lacking = lacking;
  await scene.clock.advance(60_000);
  expect(kept(scene)).toEqual(['gone', 'gone']);
});

it.each([{ verbs: ['get', 'patch'] }, { verbs: ['patch'] }])(
  'P7 without the right to $verbs a binding the rule says so, asks seldom, and goes on',
  async ({ verbs }) => {
    const before = await widened();
    unbindAll(before);
    const allow = deny(before, ...verbs);
    const scene = await RuleScene.start({ world: before });
    await scene.clock.advance(60_000);
    expect(scene.said('Ready')).toBe('True Ready');
    expect(scene.condition('Permitted')?.message).toContain(
      'may not get, patch the RoleBinding finalizer-bridge in namespace team-a, team-b',
    );
    expect(scene.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
    const asked = asksForBindings(scene);
    await scene.clock.advance(3_600_000);
    // Every five minutes two calls at most in each namespace.
    expect(asksForBindings(scene) - asked).toBeLessThanOrEqual(12 * 2 * BOTH.length);
    await scene.create('cats', { namespace: 'team-c' });
    expect(scene.finalizers('cats')).toEqual([ENTRY]);
    allow();
    await scene.clock.advance(660_000);
    expect([kept(scene), scene.status().namespaces]).toEqual([['gone', 'gone'], undefined]);
    expect(scene.condition('Permitted')?.message).not.toContain('RoleBinding');
  },
);

it('P7 the same of one that is being withdrawn, as long as it is there', async () => {
  const before = await widened();
  unbindAll(before);
  await before.delete('logs');
  await before.deleteRule();
  deny(before, 'get', 'patch');
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(120_000);
  expect(scene.said('WithdrawalBlocked')).toBe('True PendingObjects');
  expect(scene.condition('Permitted')?.message).toContain(
    'may not get, patch the RoleBinding finalizer-bridge in namespace team-a, team-b',
  );
});

it('who has let a binding go by hand, where the bridge may not, says so in the status of the rule, and no more is said of it', async () => {
  const before = await widened();
  deny(before, 'get', 'patch');
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(60_000);
  expect(scene.condition('Permitted')?.message).toContain('RoleBinding');
  const bare = () => ({ ...scene.status(), namespaces: undefined });
  scene.cluster.change(RULE, (rule) => ({ ...rule, status: bare() }), TEARDOWN_RULES);
  await scene.clock.advance(60_000);
  expect(scene.condition('Permitted')?.message).toBe('may get, list, watch, patch');
  expect(scene.status().namespaces).toBeUndefined();
});

it('P9 a rule that is withdrawn first takes them along, whatever it waits for, and so does the last of several', async () => {
  const before = await widened('younger');
  unbindAll(before);
  await before.delete('logs');
  for (const rule of [RULE, 'younger']) await before.deleteRule(rule);
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(30_000);
  expect(scene.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
  await scene.clock.advance(90_000);
  expect(kept(scene)).toEqual(['gone', 'gone']);
  for (const rule of [RULE, 'younger']) expect(scene.said('WithdrawalBlocked', rule)).toBe('True PendingObjects');
  expect(await scene.answer('logs')).toBe(true);
  await scene.clock.advance(300_000);
  expect(scene.rule('younger')).toBeUndefined();
});

it('P9 a namespace that is being deleted since before ends: its binding is given up, and objects there are taken down', async () => {
  const before = await widened();
  await endNamespace(before, 'team-b', ['maps']);
  const scene = await RuleScene.start({ world: before });
  await scene.clock.advance(60_000);
  expect(boundIn(scene, 'team-b')).toBeUndefined();
  expect(await scene.answer('maps')).toBe(true);
  expect(scene.cluster.peek('maps')).toBeUndefined();
});

it('P9 where two bridges lead at once, a binding that is kept is always one that a rule names, and is given up', async () => {
  const before = await widened();
  const some = await RuleScene.start({ world: before, served: TWO });
  await some.apply({ match: VOLUMES }, 'younger');
  await some.stop();
  unbindAll(before);
  const seen = new Set<string>();
  const { before: call } = before.cluster;
  before.cluster.before = (one) => {
    call(one);
    const isNamed = [RULE, 'younger'].some((rule) => before.status(rule).namespaces?.includes('team-b'));
    seen.add(`${boundIn(before, 'team-b') === undefined ? 'gone' : 'kept'}, ${isNamed ? 'named' : 'not named'}`);
  };
  // Each is told of the rights for another rule first.
  const knows = [BUCKETS, VOLUMES].map((kind) => {
    const kinds = new FakeKinds();
    kinds.lacks.set(kindKey(kind), ['patch']);
    return kinds;
  });
  const { clock, cluster, queue } = before;
  const both = await Promise.all(knows.map((kinds) => RuleScene.start({ world: { clock, cluster, queue, kinds } })));
  await clock.advance(60_000);
  for (const { lacks } of knows) lacks.clear();
  await clock.advance(60_000);
  expect([kept(before), before.status().namespaces, before.status('younger').namespaces]).toEqual([
    ...[['gone', 'gone'], undefined, undefined],
  ]);
  expect(seen).toEqual(new Set(['kept, named', 'gone, named', 'gone, not named']));
  for (const scene of both) await scene.stop();
});

it('on the way back bindings that are made again are kept again, and the rule says that it may have entries elsewhere', async () => {
  const before = await widened();
  unbindAll(before);
  const wide = await RuleScene.start({ world: before });
  await wide.clock.advance(60_000);
  await wide.stop();
  for (const namespace of BOTH) {
    wide.cluster.create({ name: RIGHTS_BINDING.name, namespace, uid: `anew-${namespace}`, kind: RIGHTS_BINDING });
  }
  const back = await RuleScene.start({ world: wide, served: TWO });
  await back.clock.advance(90_000);
  expect(kept(back)).toEqual([[RIGHTS_FINALIZER], [RIGHTS_FINALIZER]]);
  expect(back.status().namespaces).toEqual(['*', 'team-a', 'team-b']);
  expect(back.said('Ready')).toBe('False NamespacesLeft');
});

it('nothing is asked for where the whole cluster was served ever since, nor for a kind in no namespace', async () => {
  const scene = await RuleScene.start({});
  await scene.apply();
  await scene.apply({ match: VOLUMES }, 'volumes');
  await scene.clock.advance(600_000);
  expect(asksForBindings(scene)).toBe(0);
  expect(scene.status().namespaces).toBeUndefined();
});
