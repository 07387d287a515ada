/*
 * A drain that may not list kinds as a whole, as the one that the chart runs where the bridge serves some namespaces only: it
 * looks into the namespaces that the rules' statuses name, and takes a rule away only when these are all there are (P9).
 */
import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { DrainScene } from '../../support/drain-scene.ts';
import { RuleScene } from '../../support/rule-scene.ts';

/** A rule whose entries may be in these namespaces, as its status says, and what may be listed only there. */
function scene(namespaces: readonly string[] | undefined): DrainScene {
  const begun = new DrainScene();
  begun.rule();
  const status = namespaces === undefined ? { observedGeneration: 1 } : { observedGeneration: 1, namespaces };
  begun.cluster.change(RULE, (object) => ({ ...object, status }), TEARDOWN_RULES);
  for (const name of ['team-a', 'team-b']) begun.cluster.create({ name, kind: NAMESPACES, namespace: undefined });
  begun.object('logs', { namespace: 'team-a' });
  begun.object('maps', { namespace: 'team-b' });
  for (const kind of begun.served) {
    if (kind.resource !== TEARDOWN_RULES.resource) begun.cluster.refused.set(`${kind.group}/${kind.resource}@*`, 403);
  }
  return begun;
}

describe('a drain that may list some namespaces only', () => {
  it('frees what is there, and is clean when the rule says that its entries are nowhere else', async () => {
    const begun = scene(['team-a', 'team-b']);
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end?.left).toEqual([]);
    expect([begun.finalizers('logs'), begun.finalizers('maps')]).toEqual([[], []]);
    expect(begun.hasRule()).toBe(false);
  });

  it('says at the end what it did not look at', async () => {
    const begun = scene(['team-a', 'team-b']);
    begun.rule('another');
    const running = begun.start({ names: [RULE] });
    await begun.clock.advance(3 * SETTLE_MS);
    const of = running.end?.unseen.find(({ what }) => what === 'buckets.storage.example.com');
    expect(of?.why).toBe('may not be listed');
  });

  it.each([
    ['a namespace of it may not be listed', ['team-a', 'team-b', 'team-c'], 'team-c'],
    ['its entries may be anywhere', ['*', 'team-a'], undefined],
    ['a bridge served the whole cluster', undefined, undefined],
  ])('does not take a rule away where %s', async (_, namespaces, refused) => {
    const begun = scene(namespaces);
    if (refused !== undefined) {
      begun.cluster.create({ name: refused, kind: NAMESPACES, namespace: undefined });
      begun.cluster.refused.set(`${BUCKETS.group}/${BUCKETS.resource}@${refused}`, 403);
    }
    const running = begun.start();
    await begun.clock.advance(20 * 60_000);
    expect(running.end?.left.map(({ step }) => step.why)).toEqual([
      expect.stringContaining(`nobody can tell who carries the entry: buckets.storage.example.com`),
    ]);
    expect(begun.hasRule()).toBe(true);
  });

  it('is held up by no namespace that is gone, whose rights went with it', async () => {
    const begun = scene(['team-a', 'team-b', 'team-c']);
    begun.cluster.refused.set(`${BUCKETS.group}/${BUCKETS.resource}@team-c`, 403);
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end?.left).toEqual([]);
  });
});

it('a drain with rights on all finishes a rule that the bridge cannot, for a namespace that was left (P9, K33)', async () => {
  const namespaces = ['team-a', 'team-b'];
  const before = await RuleScene.start({
    served: { namespaces, leaving: [] },
    prepare: (begun) => begun.makeNamespaces(...namespaces),
  });
  await before.apply();
  await before.create('maps', { namespace: 'team-b' });
  await before.stop();
  const bridge = await RuleScene.start({ world: before, served: { namespaces: ['team-a'], leaving: [] } });
  const begun = new DrainScene(bridge);
  begun.leading();
  expect(begun.finalizers('maps')).toEqual([ENTRY]);
  const running = begun.start();
  await begun.clock.advance(5 * SETTLE_MS);
  expect(running.lines.join('\n')).toContain('NamespacesLeft');
  expect(running.end?.left).toEqual([]);
  expect(begun.finalizers('maps')).toEqual([]);
});
