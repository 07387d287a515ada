/*
 * What the API server fails at while the namespaces that are served change: where entries may be is not forgotten by it (P5, P9),
 * and one namespace that cannot be counted stops no other (P10). The rest of leaving is in leaving-namespaces.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { ApiError } from '../../bridge/ports.ts';
import type { Served } from '../../bridge/served.ts';
import { BUCKETS, ENTRY } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

const ONE: Served = { namespaces: ['team-a'], leaving: [] };

describe('a bridge that serves the whole cluster after some namespaces, and then those again', () => {
  it.each([
    [
      'the kind could not be asked about',
      ({ kinds }: RuleScene) => void kinds.fails.set(kindKey(BUCKETS), new ApiError('asking', 503)),
    ],
    [
      'the status could not be written at the end',
      ({ cluster }: RuleScene) => {
        cluster.before = ({ operations = [] }) => {
          const text = JSON.stringify(operations);
          if (text.includes('"/status"') && !text.includes('"namespaces"')) throw new ApiError('writing', 500);
        };
      },
    ],
  ])('knows that entries may be anywhere, also when %s meanwhile', async (_, spoil) => {
    const before = await RuleScene.start({ served: ONE, prepare: (begun) => begun.makeNamespaces('team-a') });
    await before.apply();
    await before.stop();
    const whole = await RuleScene.start({ world: before, prepare: spoil });
    await whole.clock.advance(30_000);
    await whole.create('maps', { namespace: 'team-b' });
    expect(whole.finalizers('maps')).toEqual([ENTRY]);
    await whole.stop();
    whole.kinds.fails.clear();
    whole.cluster.before = () => {};
    const scene = await RuleScene.start({ world: whole, served: ONE });
    await scene.clock.advance(20_000);
    expect(scene.said('Watching')).toBe('False NamespacesLeft');
    await scene.deleteRule();
    await scene.clock.advance(300_000);
    expect(scene.said('WithdrawalBlocked')).toBe('True NamespacesLeft');
  });
});

describe('namespaces that are being left and cannot be counted', () => {
  it('stop the rule in no other, however many there are (P10), and are said not to be counted (P7)', async () => {
    const leaving = Array.from({ length: 12 }, (_, index) => `left-${index}`);
    const namespaces = ['team-a', ...leaving];
    const before = await RuleScene.start({
      served: { namespaces, leaving: [] },
      prepare: (begun) => begun.makeNamespaces(...namespaces),
    });
    await before.apply();
    await before.create('logs');
    await before.stop();
    before.cluster.before = ({ verb }) => {
      if (verb === 'list') throw new ApiError('converting buckets', 500);
    };
    const scene = await RuleScene.start({ world: before, served: { namespaces: ['team-a'], leaving } });
    await scene.clock.advance(20_000);
    await scene.delete('logs');
    await scene.clock.advance(1_000);
    expect(scene.requested).toEqual(['logs']);
    expect(scene.condition('Watching')?.message).toContain('leaving left-0 (not counted), left-1 (not counted)');
    expect(scene.status().namespaces).toHaveLength(13);
  });
});
