/*
 * How often the record is written where a person has spoken: a word stands on the object for good, and two bridges that both
 * believe to lead must not overwrite each other's records for as long as it does. Through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

const pendingAt = (progress: string): Outcome => ({ outcome: 'pending', reason: 'InProgress', progress });

describe('the record of an object with a word', () => {
  it('is written sooner for a minute after a word, and at most once a minute after that', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.cluster.change('logs', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { [`approve.finalizer-bridge.dev/${RULE}`]: object.metadata.uid },
      },
    }));
    await scene.clock.advance(100_000);
    const before = scene.cluster.count('patch');
    for (let second = 0; second < 300; second += 5) {
      await scene.answer(pendingAt(`${second} of 5000`));
      await scene.clock.advance(5_000);
    }
    expect(scene.cluster.count('patch') - before).toBeLessThanOrEqual(6);
    expect(scene.cluster.count('patch') - before).toBeGreaterThan(3);
  });
});
