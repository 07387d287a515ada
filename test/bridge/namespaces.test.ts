/*
 * Rules that select by namespace: labels that change, also while the bridge is down, namespaces that are not
 * known yet, cluster-scoped kinds, Namespaces themselves. The real bridge and keeper over fakes.
 */
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import { NAMESPACES, Namespaces } from '../../bridge/namespaces.ts';
import { ApiError } from '../../bridge/ports.ts';
import { ruleFromObject } from '../../bridge/rules.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { BUCKETS, ENTRY, keptLog, RULE } from '../support/bridge-builders.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { ruleObject } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const PROD = { matchLabels: { tier: 'prod' } };
const inProd = (more: object = {}, kind = BUCKETS) => ({ match: { ...kind, namespaceSelector: PROD, ...more } });

function namespace({ cluster }: Pick<RuleScene, 'cluster'>, name: string, tier: string): void {
  if (cluster.peek(name, NAMESPACES) === undefined) {
    cluster.create({ name, kind: NAMESPACES, namespace: undefined, labels: { tier } });
  } else {
    cluster.change(
      name,
      ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, labels: { tier } } }),
      NAMESPACES,
    );
  }
}

/** A rule for buckets in namespaces of production, two namespaces, and a bucket in each. */
async function scene(changes: object = {}): Promise<RuleScene> {
  const begun = await RuleScene.start();
  namespace(begun, 'team-a', 'prod');
  namespace(begun, 'team-b', 'test');
  await begun.apply({ ...inProd(), ...changes });
  await begun.create('a');
  await begun.create('b', { namespace: 'team-b' });
  return begun;
}

describe('a rule with a namespaceSelector', () => {
  it('claims where the namespace has the labels, and nowhere else', async () => {
    const begun = await scene();
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    expect(begun.finalizers('b')).toEqual([]);
  });

  it('demands its labelSelector as well', async () => {
    const begun = await scene(inProd({ labelSelector: { matchLabels: { app: 'logs' } } }));
    await begun.create('c', { labels: { app: 'logs' } });
    await begun.create('d', { labels: { app: 'logs' }, namespace: 'team-b' });
    expect(['a', 'b', 'c', 'd'].map((name) => begun.finalizers(name))).toEqual([[], [], [ENTRY], []]);
  });

  it('claims what is there when the labels of its namespace come to match, and keeps it when they no longer do', async () => {
    const begun = await scene();
    namespace(begun, 'team-b', 'prod');
    await settled();
    expect(begun.finalizers('b')).toEqual([ENTRY]);
    namespace(begun, 'team-a', 'test');
    await settled();
    expect(begun.finalizers('a')).toEqual([ENTRY]);
    await begun.delete('a');
    expect(begun.requested).toEqual(['a']);
  });

  it('lets go what its namespace no longer selects, where the rule says so', async () => {
    const begun = await scene({ unmatched: 'Release' });
    namespace(begun, 'team-a', 'test');
    await settled();
    expect(begun.finalizers('a')).toEqual([]);
    expect(begun.finalizers('b')).toEqual([]);
  });

  it('sees labels that changed while the bridge was down', async () => {
    const first = await scene({ unmatched: 'Release' });
    await first.stop();
    namespace(first, 'team-a', 'test');
    namespace(first, 'team-b', 'prod');
    const second = await RuleScene.start({ world: first });
    await second.clock.advance(2_000);
    expect(second.finalizers('a')).toEqual([]);
    expect(second.finalizers('b')).toEqual([ENTRY]);
  });

  it('does nothing where the namespace is not known: neither claims, nor lets go', async () => {
    const begun = await scene({ unmatched: 'Release' });
    await begun.create('c', { namespace: 'unseen' });
    await begun.create('d', { namespace: 'unseen', finalizers: [ENTRY] });
    expect(begun.finalizers('c')).toEqual([]);
    expect(begun.finalizers('d')).toEqual([ENTRY]);
    namespace(begun, 'unseen', 'prod');
    await settled();
    expect(begun.finalizers('c')).toEqual([ENTRY]);
    expect(begun.finalizers('d')).toEqual([ENTRY]);
  });

  it('does nothing, and is not ready, until the namespaces could be listed', async () => {
    let isUp = false;
    const first = await scene({ unmatched: 'Release' });
    await first.stop();
    const second = await RuleScene.start({
      world: first,
      prepare: ({ cluster }) => {
        cluster.before = ({ verb, name }) => {
          if (verb === 'watch' && name === 'namespaces' && !isUp) throw new ApiError('watching', 503);
        };
      },
    });
    namespace(second, 'team-b', 'prod');
    await second.clock.advance(120_000);
    expect(second.bridge.isReady()).toBe(false);
    expect(second.finalizers('a')).toEqual([ENTRY]);
    expect(second.finalizers('b')).toEqual([]);
    isUp = true;
    await second.clock.advance(31_000);
    expect(second.bridge.isReady()).toBe(true);
    expect(second.finalizers('b')).toEqual([ENTRY]);
  });

  it('is not ready while the namespaces are not being watched, and is when they are again (K10)', async () => {
    const begun = await scene();
    expect(begun.bridge.isReady()).toBe(true);
    begun.cluster.before = ({ verb, name }) => {
      if (verb === 'watch' && name === 'namespaces') throw new ApiError('watching', 503);
    };
    begun.cluster.endWatches();
    await begun.clock.advance(5_000);
    expect(begun.bridge.isReady()).toBe(false);
    begun.cluster.before = () => {};
    await begun.clock.advance(31_000);
    expect(begun.bridge.isReady()).toBe(true);
  });

  it('selects cluster-scoped objects whatever it says of namespaces', async () => {
    const begun = await RuleScene.start();
    await begun.apply(inProd({}, VOLUMES));
    await begun.create('disk', { kind: VOLUMES, namespace: undefined });
    expect(begun.finalizers('disk', VOLUMES)).toEqual([ENTRY]);
  });

  it('selects Namespaces by their own labels', async () => {
    const begun = await RuleScene.start();
    await begun.apply({ ...inProd({}, NAMESPACES), unmatched: 'Release' });
    namespace(begun, 'team-a', 'prod');
    namespace(begun, 'team-b', 'test');
    await settled();
    expect(begun.finalizers('team-a', NAMESPACES)).toEqual([ENTRY]);
    expect(begun.finalizers('team-b', NAMESPACES)).toEqual([]);
    namespace(begun, 'team-a', 'test');
    namespace(begun, 'team-b', 'prod');
    await settled();
    expect(begun.finalizers('team-a', NAMESPACES)).toEqual([]);
    expect(begun.finalizers('team-b', NAMESPACES)).toEqual([ENTRY]);
  });

  it('takes down what is deleting, wherever it is: then only the entry counts (K28)', async () => {
    const begun = await scene();
    await begun.create('c', { namespace: 'unseen', finalizers: [ENTRY] });
    await begun.delete('c');
    expect(begun.requested).toEqual(['c']);
  });
});

describe('the namespaces', () => {
  it('are watched only while a rule needs them', async () => {
    const begun = await RuleScene.start();
    const watched = () =>
      begun.cluster.calls.filter(({ verb, name }) => verb === 'watch' && name === 'namespaces').length;
    await begun.apply({});
    expect(watched()).toBe(0);
    await begun.apply(inProd());
    expect(watched()).toBe(1);
    await begun.apply(inProd({}, VOLUMES), 'second');
    expect(watched()).toBe(1);
    await begun.apply({});
    begun.forceDelete('second');
    await settled();
    const before = begun.cluster.calls.length;
    namespace(begun, 'team-a', 'prod');
    await settled();
    expect(begun.cluster.calls.slice(before)).toEqual([]);
    await begun.apply(inProd());
    expect(watched()).toBe(2);
  });

  it('that come while nothing in them was seen cost no list', async () => {
    const begun = await scene();
    const before = begun.cluster.count('watch');
    for (let index = 0; index < 20; index += 1) namespace(begun, `ci-${index}`, 'test');
    await settled();
    await begun.create('c', { namespace: 'ci-7' });
    expect(begun.cluster.count('watch')).toBe(before);
    expect(begun.book.named(RULE)).toBeDefined();
  });

  it('tell once of what a list has shown, and forget what it has not', async () => {
    const clock = new ManualClock();
    const cluster = new FakeCluster(() => clock.now());
    const parsed = ruleFromObject(ruleObject(inProd()));
    if (!parsed.ok) throw new Error('parsing the rule');
    const { rule } = parsed;
    let told = 0;
    const metrics = createMetrics();
    const namespaces = new Namespaces(
      { cluster, clock, random: () => 0.5, metrics, log: keptLog().log, served: EVERYWHERE },
      () => {
        told += 1;
      },
    );
    const matched = (name: string) => namespaces.isMatched(rule, { namespace: name });
    expect(namespaces.isReady).toBe(true);
    expect(matched('team-a')).toBeUndefined();
    for (const name of ['team-a', 'team-b']) namespace({ cluster }, name, 'prod');
    namespaces.need(true);
    expect(namespaces.isReady).toBe(false);
    await settled();
    expect([namespaces.isReady, told, matched('team-a'), matched('team-b')]).toEqual([true, 1, true, true]);
    cluster.endWatches(new ApiError('watching', 410));
    cluster.delete('team-b', {}, NAMESPACES);
    namespace({ cluster }, 'team-a', 'test');
    await clock.advance(1_000);
    expect([told, matched('team-a'), matched('team-b')]).toEqual([2, false, undefined]);
    cluster.delete('team-a', {}, NAMESPACES);
    await settled();
    expect(matched('team-a')).toBeUndefined();
    await namespaces.stop();
    expect(clock.due).toEqual([]);
  });
});
