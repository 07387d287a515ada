/*
 * What a deletion costs, of what is shipped, as the servers count it: calls to the API server and to the queue, and the
 * bridge's memory. Counts with room for a busy machine; times are the benchmarks' (npm run bench), whose stage this is.
 */
import { beforeAll, expect, it } from 'vitest';
import { objectsOf } from '../bench/objects.ts';
import { readOptions } from '../bench/options.ts';
import { type Figures, scenesOf } from '../bench/scenes.ts';
import { onStage } from '../bench/stage.ts';

const DELETIONS = 1_000;
let saturated: Figures;
let drain: Figures;

beforeAll(async () => {
  const options = { ...readOptions(['--quick', '--scenes', 'saturated,drain']), deletions: DELETIONS };
  const [candidate] = options.candidates;
  if (candidate === undefined) throw new Error('measuring what a deletion costs: there is no bridge');
  const scenes = await onStage(
    () => undefined,
    async (stage) => {
      const objects = objectsOf(stage.kube);
      try {
        return await scenesOf({ stage, objects, options, name: 'costs' }, candidate);
      } finally {
        await objects.close();
      }
    },
  );
  saturated = scenes.saturated ?? {};
  drain = scenes.drain ?? {};
}, 600_000);

it('costs one GET and one PATCH a deletion in a burst (P8)', () => {
  const { gets = 0, patches = 0 } = saturated;
  expect(gets).toBeGreaterThanOrEqual(1);
  // A server that is starved of CPU cuts watches, and lists what is gone already: that is looked at once more.
  expect(gets).toBeLessThan(1.6);
  expect(patches).toBeGreaterThanOrEqual(1);
  expect(patches).toBeLessThan(1.05);
});

it('sends, receives and deletes in batches: one by one it would be three calls a deletion (P8)', () => {
  for (const { bridgeQueueCalls = 0 } of [saturated, drain]) {
    expect(bridgeQueueCalls).toBeGreaterThanOrEqual(0.3);
    expect(bridgeQueueCalls).toBeLessThan(1);
  }
});

it('leaves no garbage lying about: memory stays below 1.6 times that of the start (P8)', () => {
  const { startMb = 0, peakMb = 0 } = saturated;
  expect(startMb).toBeGreaterThan(50);
  expect(startMb).toBeLessThan(150);
  expect(peakMb / startMb).toBeLessThan(1.6);
});
