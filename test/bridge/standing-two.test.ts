/*
 * Two bridges that both believe to lead, and know of different answers: neither writes its record over the other's every
 * minute for as long as that lasts. Through the whole bridge over fakes; the other bridge is an annotation that changes.
 */
import { describe, expect, it } from 'vitest';
import { recordKey } from '../../bridge/record.ts';
import { RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

const MINUTE = 60_000;
const OTHERS = 'said by another bridge';

function writeOver(scene: Scene, said: object = { message: OTHERS }): void {
  const record = scene.record();
  scene.cluster.change('logs', (object) => {
    const annotations = { ...object.metadata.annotations, [recordKey(RULE)]: JSON.stringify({ ...record, ...said }) };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });
}

/** Forty minutes of two bridges that write over each other; the last word is ours. */
async function contended(): Promise<Scene> {
  const scene = await Scene.start();
  await scene.deleted();
  await scene.clock.advance(31_000);
  for (let minute = 0; minute < 40 || scene.record()?.message === OTHERS; minute += 1) {
    if (minute < 40 && scene.record()?.message !== OTHERS) writeOver(scene);
    await scene.clock.advance(MINUTE);
  }
  return scene;
}

describe('a record that another bridge writes over', () => {
  it('V3 is written more and more seldom, and is ours again once the other is silent', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.clock.advance(31_000);
    let written = scene.cluster.count('patch');
    for (let minute = 0; minute < 60; minute += 1) {
      if (scene.record()?.message !== OTHERS) writeOver(scene);
      await scene.clock.advance(MINUTE);
    }
    written = scene.cluster.count('patch') - written;
    expect(written).toBeGreaterThan(1);
    expect(written).toBeLessThan(8);
    await scene.clock.advance(20 * MINUTE);
    expect(scene.record()?.message).not.toBe(OTHERS);
  });

  it('is let stand where it says the same since an earlier time (P8)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.clock.advance(31_000);
    const earlier = new Date(Date.parse(scene.record()?.since ?? '') - 5_000).toISOString();
    writeOver(scene, { since: earlier });
    const before = scene.cluster.count('patch');
    await scene.clock.advance(10 * MINUTE);
    expect([scene.record()?.since, scene.cluster.count('patch') - before]).toEqual([earlier, 0]);
  });

  it('is written more and more seldom also in the minute after a word of a person (P8)', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    await scene.clock.advance(100_000);
    scene.cluster.change('logs', (object) => {
      const word = { [`approve.finalizer-bridge.dev/${RULE}`]: object.metadata.uid };
      return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...word } } };
    });
    await scene.clock.advance(3_000);
    const before = scene.cluster.count('patch');
    for (let second = 0; second < 57; second += 1) {
      if (scene.record()?.message !== OTHERS) writeOver(scene);
      await scene.clock.advance(1_000);
    }
    // After 2, 4, 8 and 16 s, and hardly once more; every 2 s they were 28.
    expect(scene.cluster.count('patch') - before).toBeLessThanOrEqual(6);
    expect(scene.cluster.count('patch') - before).toBeGreaterThan(1);
  });

  it('tells a new reason within its minute all the same (P7)', async () => {
    const scene = await contended();
    expect(scene.record()?.reason).toBe('Requested');
    scene.cluster.change('logs', (object) => ({ ...object, spec: {} }));
    await scene.clock.advance(MINUTE);
    expect(scene.record()?.reason).toBe('TargetMissing');
  });

  it('tells how it goes on every minute again, once it was let stand until the next one (P7)', async () => {
    const scene = await contended();
    const told = async (message: string) => {
      await scene.answer({ outcome: 'pending', reason: 'Emptying', message });
      await scene.clock.advance(MINUTE);
      return scene.record()?.message;
    };
    await told('90 left');
    await scene.clock.advance(16 * MINUTE);
    for (const left of ['80 left', '70 left', '60 left']) expect(await told(left)).toContain(left);
  });
});
