/*
 * A drain looks through every kind, since rules may be gone and their entries anywhere (K26, K33), and says what it cannot
 * look at. Over a tiny API server and virtual time.
 */
import { describe, expect, it } from 'vitest';
import { RuleDrain } from '../../../bridge/cli/drain/rule-drain.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { SETTLE_MS } from '../../../bridge/settling.ts';
import { BUCKETS, ENTRY, RULE } from '../../support/bridge-builders.ts';
import { DrainScene } from '../../support/drain-scene.ts';
import { CONFIG_MAPS, VOLUMES } from '../../support/fake-kinds.ts';

const SOON = 10_000;
const CLEAN = { left: [], unseen: [] };

const scene = () => DrainScene.withRule();

describe('draining entries without a rule (K33)', () => {
  it('takes them off live objects of every kind, however many, and never looks at kinds that no rule may hold', async () => {
    const begun = new DrainScene();
    for (let index = 0; index < 1_100; index += 1) {
      begun.object(`o-${index}`, {
        kind: VOLUMES,
        finalizers: index % 100 === 0 ? ['finalizer-bridge.dev/old', 'a/b'] : [],
      });
    }
    begun.object('map', { kind: CONFIG_MAPS, finalizers: ['finalizer-bridge.dev/older'] });
    const running = begun.start();
    await begun.clock.advance(1_000);
    expect(begun.finalizers('o-1000', VOLUMES)).toEqual(['a/b']);
    expect(running.end).toBeUndefined();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('map', CONFIG_MAPS)).toEqual([]);
    expect(begun.cluster.calls.filter(({ name }) => name === 'secrets')).toEqual([]);
  });

  it('does so also when the rule kind itself is gone (CRD first)', async () => {
    const begun = new DrainScene();
    begun.cluster.refused.set('finalizer-bridge.dev/teardownrules', 404);
    begun.kinds.served.delete('finalizer-bridge.dev/v1alpha1/teardownrules');
    begun.object('a');
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS + SOON);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('a')).toEqual([]);
  });

  it('takes in more carriers than a call can have arguments', async () => {
    const begun = new DrainScene();
    begun.object('a');
    const meta = begun.cluster.peek('a')?.metadata;
    if (meta === undefined) throw new Error('there is no object');
    const draining = new RuleDrain({ world: begun.world, name: RULE, release: 'none', say: () => {} });
    draining.saw(new Array(500_000).fill({ kind: BUCKETS, meta }));
    const discovery = await begun.world.discover();
    await draining.step({ rule: undefined, bridge: { state: 'gone', lastAlive: undefined }, discovery });
    expect(begun.finalizers('a')).toEqual([]);
  });

  it('stops where somebody puts them on again, and says so', async () => {
    const begun = new DrainScene();
    begun.object('a');
    let isBusy = false;
    const putOn = () => {
      if (begun.finalizers('a')?.length === 0 && !isBusy) {
        isBusy = true;
        begun.cluster.change('a', ({ metadata, ...rest }) => ({
          ...rest,
          metadata: { ...metadata, finalizers: [ENTRY] },
        }));
        isBusy = false;
      }
      begun.clock.after(500, putOn);
    };
    putOn();
    const running = begun.start();
    await begun.clock.advance(SETTLE_MS);
    expect(running.end?.left).toMatchObject([{ rule: RULE, step: { by: [{ reason: 'PutBack' }] } }]);
  });
});

describe('what cannot be looked at', () => {
  it('blocks the rule it belongs to, and no other (P10)', async () => {
    const begun = scene();
    begun.rule('other', { match: { ...VOLUMES } });
    begun.cluster.refused.set('storage.example.com/volumes', 403);
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.hasRule()).toBe(false);
    expect(begun.hasRule('other')).toBe(true);
    expect(running.end?.left).toMatchObject([
      { rule: 'other', step: { why: expect.stringContaining('volumes.storage.example.com may not be listed') } },
    ]);
    expect(running.end?.unseen).toEqual([{ what: 'volumes.storage.example.com', why: 'may not be listed' }]);
  });

  it('is said where it belongs to no rule', async () => {
    const begun = scene();
    begun.cluster.refused.set('/configmaps', 403);
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end).toEqual({ left: [], unseen: [{ what: 'configmaps', why: 'may not be listed' }] });
  });

  it('is looked at again where a list fails, as one that expires between its pages: what it would have shown is freed (K12)', async () => {
    const begun = new DrainScene();
    begun.object('map', { kind: CONFIG_MAPS, finalizers: ['finalizer-bridge.dev/old'] });
    let failures = 0;
    begun.cluster.before = ({ verb, name }) => {
      if (verb !== 'list' || name !== 'configmaps' || failures === 2) return;
      failures += 1;
      throw new ApiError('listing configmaps: HTTP 410', 410, { body: '' });
    };
    const running = begun.start();
    await begun.clock.advance(2 * SETTLE_MS);
    expect([failures, running.end]).toEqual([2, CLEAN]);
    expect(begun.finalizers('map', CONFIG_MAPS)).toEqual([]);
  });

  it('is named where its list goes on failing, and keeps nobody from the end', async () => {
    const begun = scene();
    begun.cluster.before = ({ verb, name }) => {
      if (verb === 'list' && name === 'configmaps') throw new ApiError('conversion failed', 500, { body: '' });
    };
    const running = begun.start();
    await begun.clock.advance(4 * SETTLE_MS);
    expect(running.end).toEqual({ left: [], unseen: [{ what: 'configmaps', why: 'conversion failed: HTTP 500' }] });
    expect(begun.hasRule()).toBe(false);
  });

  it('is said shortly, on one line', async () => {
    const begun = scene();
    begun.cluster.before = ({ verb, name }) => {
      if (verb === 'list' && name === 'configmaps')
        throw new Error(`decoding:\n${'[{ "expected": "string" }]\n'.repeat(100)}`);
    };
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    const [unseen] = running.end?.unseen ?? [];
    expect(unseen?.why).toMatch(/^decoding: [^\n]{1,190}…$/);
  });

  it('keeps nobody from freeing what is seen, once somebody let the rule go', async () => {
    const begun = new DrainScene();
    begun.rule();
    begun.object('elsewhere', { kind: VOLUMES });
    begun.cluster.refused.set('storage.example.com/buckets', 403);
    const running = begun.start();
    await begun.clock.advance(1_000);
    begun.bridgeLetsGo();
    const before = begun.cluster.calls.length;
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.finalizers('elsewhere', VOLUMES)).toEqual([]);
    expect(running.end).toEqual({
      left: [],
      unseen: [{ what: 'buckets.storage.example.com', why: 'may not be listed' }],
    });
    expect(begun.cluster.calls.length - before).toBeLessThan(500);
  });

  it('blocks also when the API server of the group is away', async () => {
    const begun = scene();
    begun.served = begun.served.filter(({ group }) => group !== 'storage.example.com');
    begun.unreachable = ['storage.example.com'];
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(begun.hasRule()).toBe(true);
    expect(running.end?.left).toMatchObject([
      { rule: RULE, step: { why: expect.stringContaining('does not answer') } },
    ]);
  });

  it('does not matter for a kind that is not served any more, and lists another version where that is (K8)', async () => {
    const begun = scene();
    begun.rule('gone', { match: { ...VOLUMES, resource: 'tapes' } });
    begun.served = begun.served.map((kind) => (kind.resource === 'buckets' ? { ...kind, version: 'v2' } : kind));
    const running = begun.start();
    await begun.clock.advance(3 * SETTLE_MS);
    expect(running.end).toEqual(CLEAN);
    expect(begun.finalizers('a')).toEqual([]);
    const lists = begun.cluster.calls.filter(({ verb, name }) => verb === 'list' && name === 'buckets');
    expect(new Set(lists.map(({ kind }) => kind?.version))).toEqual(new Set(['v2']));
  });

  it('ends it when rules may not be listed at all', async () => {
    const begun = scene();
    begun.cluster.refused.set('finalizer-bridge.dev/teardownrules', 403);
    const running = begun.start({ timeout: 20_000 });
    await begun.clock.advance(60_000);
    expect(running.end?.left).toMatchObject([{ rule: '(all)', step: { why: expect.stringContaining('403') } }]);
    expect(begun.finalizers('a')).toEqual([ENTRY]);
  });
});
