/*
 * How often a rule is read for one look at its status: with the keeper over fakes. What a status says is in
 * rule-status.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../bridge/ports.ts';
import { STATUS_EVERY_MS } from '../../bridge/rule-status.ts';
import { statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { RULE } from '../support/bridge-builders.ts';
import { RuleScene } from '../support/rule-scene.ts';

describe('a rule', () => {
  it('is read once for one look, whether that has something new to say or not, and for no write of its counts (P8)', async () => {
    const scene = await RuleScene.start();
    await scene.apply();
    await scene.clock.advance(60_000);
    const { cluster, clock } = scene;
    const callsOfOneLook = async (change: (object: KubeObject) => KubeObject) => {
      const before = cluster.calls.length;
      cluster.change(RULE, change, TEARDOWN_RULES);
      await clock.advance(0);
      return cluster.calls.slice(before).map(({ verb }) => verb);
    };
    const touch = ({ metadata, ...rest }: KubeObject) => ({
      ...rest,
      metadata: { ...metadata, annotations: { touched: '' } },
    });
    expect(await callsOfOneLook(touch)).toEqual(['get']);
    const blank = (object: KubeObject) => ({ ...object, status: { ...statusOf(object), pending: 7 } });
    expect(await callsOfOneLook(blank)).toEqual(['get', 'patch']);
    expect(scene.status()).toMatchObject({ pending: 0 });
  });

  it('is not read while nothing that its status says of its deletions moves (P7, P8)', async () => {
    const scene = await RuleScene.start();
    await scene.apply({ paused: true });
    await scene.create('a');
    await scene.delete('a');
    await scene.labelled();
    expect(scene.status()).toMatchObject({ pending: 1, held: 0 });
    const reads = () => scene.cluster.calls.filter(({ verb, name }) => verb === 'get' && name === RULE).length;
    const before = reads();
    await scene.clock.advance(4 * 60_000);
    expect(reads() - before).toBeLessThan(3);
    await scene.create('b');
    await scene.delete('b');
    await scene.clock.advance(STATUS_EVERY_MS);
    expect(scene.status()).toMatchObject({ pending: 2, held: 0 });
  });
});
