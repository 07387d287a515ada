/*
 * An answer that is acknowledged is not heard again, and who read it may die the moment after: what it was about is written down
 * before. Through the whole bridge over fakes.
 */
import { describe, expect, it } from 'vitest';
import { Scene } from '../support/bridge-scene.ts';

const DELETING = { outcome: 'pending', reason: 'Deleting', message: 'it is still there' } as const;

describe('an answer that ends nothing', () => {
  it('V10 is acknowledged when the object names what it was about, however young the deletion is', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    expect(scene.record()).toBeUndefined();
    expect(await scene.answer(DELETING)).toBe(true);
    const { targetDigest } = scene.request.data;
    expect(scene.record()?.targets).toMatchObject([{ target: targetDigest, requested: true }]);
  });

  it('P8 costs one record: those that follow within its minute cost none', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.answer(DELETING);
    const before = scene.cluster.count('patch');
    for (const left of ['9 left', '8 left', '7 left']) await scene.answer({ ...DELETING, message: left });
    expect(scene.cluster.count('patch') - before).toBe(0);
  });
});
