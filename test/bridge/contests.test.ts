/*
 * Entries and finalizers that somebody takes off, or puts on, as often as the bridge does the opposite: mended at once the first time (K27), and
 * not without end (P8). Through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { NAMESPACES } from '../../bridge/namespaces.ts';
import type { KubeObject, PatchOperation } from '../../bridge/ports.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { BUCKETS, ENTRY, RULE } from '../support/bridge-builders.ts';
import { FakeKinds } from '../support/fake-kinds.ts';
import { RuleScene } from '../support/rule-scene.ts';

const MINUTE = 60_000;
/** Where no contest is braked, there is no end to it: the fakes take no time. */
const NO_END = 500;

/** Counts the writes of an object, and ends what has no end. */
function writesOf(scene: RuleScene, object: string, onWrite = (_: readonly PatchOperation[]) => {}) {
  const count = { writes: 0 };
  scene.cluster.before = ({ verb, name, operations = [] }) => {
    if (verb !== 'patch' || name !== object) return;
    count.writes += 1;
    if (count.writes > NO_END) throw new Error(`writing ${object}: there is no end to it`);
    onWrite(operations);
  };
  return count;
}

function strip(scene: RuleScene): void {
  scene.cluster.change('maps', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } }));
}

describe('an entry on a live object', () => {
  it('that a controller takes off whenever it sees it is put back at once, and then ever less often (K27, P8)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    const count = writesOf(scene, 'maps', () => setImmediate(() => strip(scene)));
    await scene.create('maps');
    await scene.clock.advance(500);
    expect(count.writes).toBe(2);
    for (let minute = 0; minute < 30; minute += 1) await scene.clock.advance(MINUTE);
    expect(count.writes).toBeGreaterThan(25);
    expect(count.writes).toBeLessThan(45);
    scene.cluster.before = () => {};
    await scene.clock.advance(MINUTE);
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    await scene.stop();
  });

  it('of a namespace that one of two leaders serves and the other leaves goes to and fro, but not without end', async () => {
    const served: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
    const one = await RuleScene.start({
      served,
      prepare: ({ cluster }) => {
        for (const name of ['team-a', 'team-b']) cluster.create({ name, kind: NAMESPACES, namespace: undefined });
      },
    });
    await one.apply();
    await one.create('maps', { namespace: 'team-b' });
    const count = writesOf(one, 'maps');
    const two = await RuleScene.start({ world: one, served: { namespaces: ['team-a'], leaving: ['team-b'] } });
    await one.clock.advance(10 * MINUTE);
    expect(count.writes).toBeGreaterThan(10);
    expect(count.writes).toBeLessThan(60);
    await one.stop();
    await two.clock.advance(2 * MINUTE);
    expect(two.finalizers('maps')).toEqual([]);
    await two.stop();
  });

  it('that its own labels take off and put on is no contest', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ unmatched: 'Release', match: { ...BUCKETS, labelSelector: { matchLabels: { held: 'yes' } } } });
    await scene.create('maps');
    for (const held of ['yes', 'no', 'yes', 'no', 'yes']) {
      scene.cluster.change('maps', ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, labels: { held } },
      }));
      await scene.clock.advance(100);
      expect(scene.finalizers('maps') ?? []).toEqual(held === 'yes' ? [ENTRY] : []);
    }
    await scene.stop();
  });
});

describe('the finalizer with which a rule holds itself', () => {
  it('is put back at once when somebody takes it off, and then ever less often, and stops nothing (P8, P10)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    expect(scene.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
    const bare = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { ...metadata, finalizers: [] } });
    const stripRule = () => scene.cluster.change(RULE, bare, TEARDOWN_RULES);
    const count = writesOf(scene, RULE, (operations) => {
      if (JSON.stringify(operations).includes(WITHDRAWAL_FINALIZER)) setImmediate(stripRule);
    });
    stripRule();
    await scene.clock.advance(500);
    expect(count.writes).toBeLessThan(4);
    await scene.create('maps');
    expect(scene.finalizers('maps')).toEqual([ENTRY]);
    for (let minute = 0; minute < 30; minute += 1) await scene.clock.advance(MINUTE);
    // Every five seconds: without it a rule that is deleted would go without being withdrawn (P9).
    expect(count.writes).toBeGreaterThan(300);
    expect(count.writes).toBeLessThan(400);
    scene.cluster.before = () => {};
    await scene.clock.advance(MINUTE);
    expect(scene.rule()?.metadata.finalizers).toEqual([WITHDRAWAL_FINALIZER]);
    await scene.stop();
  });
});

describe('the namespaces that the status of a rule names', () => {
  const some: Served = { namespaces: ['team-a'], leaving: [] };
  const kindsWhere = (namespaced: boolean) => {
    const kinds = new FakeKinds();
    kinds.served.set(kindKey(BUCKETS), { kind: 'Bucket', namespaced });
    return kinds;
  };

  it.each([
    ['serve the whole cluster and some namespaces', { served: EVERYWHERE, namespaced: true }],
    ['take the kind for one in namespaces and for one in none', { served: some, namespaced: false }],
  ])(
    'go to and fro between two leaders that %s, but not without end (P5, P8)',
    async (_what, { served, namespaced }) => {
      const one = await RuleScene.start({ served: some, prepare: (begun) => begun.makeNamespaces('team-a') });
      await one.apply();
      const named: string[] = [];
      one.cluster.before = ({ verb, name, operations = [] }) => {
        const written = operations.find(({ path }) => verb === 'patch' && name === RULE && path === '/status');
        if (written?.op !== 'add') return;
        const namespaces = JSON.stringify(Reflect.get(Object(written.value), 'namespaces'));
        if (namespaces !== named.at(-1)) named.push(namespaces);
        if (named.length > NO_END) throw new Error('naming namespaces: there is no end to it');
      };
      const { clock, cluster, queue } = one;
      const two = await RuleScene.start({ world: { clock, cluster, queue, kinds: kindsWhere(namespaced) }, served });
      for (let minute = 0; minute < 10; minute += 1) await clock.advance(MINUTE);
      // As often as the rest of a status.
      expect(named.length).toBeGreaterThan(20);
      expect(named.length).toBeLessThan(250);
      await two.stop();
      await clock.advance(MINUTE);
      expect(one.status().namespaces).toContain('team-a');
      await one.create('maps');
      expect(one.finalizers('maps')).toEqual([ENTRY]);
      await one.stop();
    },
  );
});
