/*
 * Rules that select by namespace under a bridge that may not list or watch namespaces: each says so itself, and recovers by
 * itself. The real bridge and keeper over fakes; what such rules select is in namespaces.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import { RECHECK_MS, REJUDGE_MS } from '../../bridge/rule-enforcing.ts';
import { BUCKETS, counts, ENTRY, RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const SELECTING = { match: { ...BUCKETS, namespaceSelector: { matchLabels: { tier: 'prod' } } } };

function forbid({ kinds, cluster }: RuleScene, verbs: readonly string[] = ['list', 'watch']): void {
  kinds.lacks.set(kindKey(NAMESPACES), verbs);
  cluster.refused.set('/namespaces', 403);
}

function allow({ kinds, cluster }: RuleScene): void {
  kinds.lacks.clear();
  cluster.refused.clear();
}

/** A bucket in a namespace that the rule selects, under a bridge that cannot know it. */
async function forbidden(): Promise<RuleScene> {
  const scene = await RuleScene.start({ prepare: forbid });
  scene.cluster.create({ name: 'team-a', kind: NAMESPACES, namespace: undefined, labels: { tier: 'prod' } });
  await scene.apply(SELECTING);
  await scene.create('logs');
  return scene;
}

async function watching({ metrics }: RuleScene): Promise<number | undefined> {
  return (await counts(metrics.watching))['/namespaces'];
}

describe('a rule with a namespaceSelector, where namespaces may not be watched,', () => {
  it('is not permitted, names the verbs, and says that it does not watch (P7)', async () => {
    const scene = await forbidden();
    expect(scene.finalizers('logs')).toEqual([]);
    expect([scene.said('Accepted'), scene.said('Permitted')]).toEqual(['True Accepted', 'False MissingVerbs']);
    expect(scene.condition('Permitted')?.message).toBe('may not list, watch namespaces');
    expect(scene.condition('Ready')).toMatchObject({ status: 'False', message: 'may not list, watch namespaces' });
    expect(scene.condition('Watching')?.message).toBe('the kind, or the labels of namespaces, are not being watched');
    expect(await watching(scene)).toBe(0);
  });

  it('names what it may not do to its kind as well', async () => {
    const scene = await RuleScene.start({ prepare: (begun) => forbid(begun, ['watch']) });
    scene.kinds.lacks.set(kindKey(BUCKETS), ['list', 'patch']);
    await scene.apply(SELECTING);
    expect(scene.condition('Permitted')?.message).toBe(
      'may not list, patch buckets.storage.example.com; watch namespaces',
    );
  });

  it('keeps the bridge from no roll-out (P10)', async () => {
    const scene = await forbidden();
    expect(scene.bridge.whyNotReady()).toEqual([]);
  });

  it('recovers by itself when the right is given, and claims what is there', async () => {
    const scene = await forbidden();
    allow(scene);
    await scene.clock.advance(REJUDGE_MS + 31_000);
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['True Permitted', 'True Ready']);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect([await watching(scene), scene.bridge.whyNotReady()]).toEqual([1, []]);
  });

  it('says within minutes that the right was taken', async () => {
    const scene = await RuleScene.start();
    await scene.apply(SELECTING);
    expect(scene.said('Ready')).toBe('True Ready');
    forbid(scene);
    await scene.clock.advance(RECHECK_MS + 2_000);
    expect(scene.said('Ready')).toBe('False MissingVerbs');
  });

  it('says nothing of it without that selector: then namespaces are nothing to the bridge', async () => {
    const scene = await forbidden();
    await scene.apply({});
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['True Permitted', 'True Ready']);
    expect(scene.finalizers('logs')).toEqual([ENTRY]);
    expect(await watching(scene)).toBeUndefined();
  });
});

describe('a permitted rule with a namespaceSelector', () => {
  it('is not ready while namespaces cannot be watched for another reason', async () => {
    const scene = await RuleScene.start({ prepare: ({ cluster }) => void cluster.refused.set('/namespaces', 403) });
    await scene.apply(SELECTING);
    expect([scene.said('Permitted'), scene.said('Ready')]).toEqual(['True Permitted', 'False NotWatching']);
    expect(scene.bridge.whyNotReady()).toEqual(['the labels of namespaces are not known yet']);
  });
});

describe('a kind that nobody needs any more', () => {
  it('is not shown as one that the bridge is blind to: nobody shall be woken for it', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    const key = `${BUCKETS.group}/${BUCKETS.resource}`;
    expect(await counts(scene.metrics.watching)).toMatchObject({ [key]: 1 });
    scene.forceDelete(RULE);
    await scene.clock.advance(2_000);
    expect(await counts(scene.metrics.watching)).not.toHaveProperty([key]);
  });
});
