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
/** A server that is starved of CPU cuts watches, and lists what is gone already: that is looked at once more. */
const GETS_MAX = 1.6;
const PATCHES_MAX = 1.05;
const CALLS_MAX = 1;
const GROWTH_MAX = 1.6;
/** What a busy machine brings about once it does not each time; what the bridge does, it does in every round. */
const ROUNDS = 3;
const rounds: { readonly saturated: Figures; readonly drain: Figures }[] = [];

beforeAll(async () => {
  const options = { ...readOptions(['--quick', '--scenes', 'saturated,drain']), deletions: DELETIONS };
  const [candidate] = options.candidates;
  if (candidate === undefined) throw new Error('measuring what a deletion costs: there is no bridge');
  await onStage(
    () => undefined,
    async (stage) => {
      const objects = objectsOf(stage.kube);
      try {
        while (rounds.length === 0 || (rounds.length < ROUNDS && !isWithin())) {
          const setting = { stage, objects, options, name: `costs-${rounds.length}` };
          const { saturated = {}, drain = {} } = await scenesOf(setting, candidate);
          rounds.push({ saturated, drain });
        }
      } finally {
        await objects.close();
      }
    },
  );
}, 600_000);

/** The least that any round took. */
const least = (of: (round: (typeof rounds)[number]) => number | undefined) =>
  Math.min(...rounds.map((round) => of(round) ?? Number.NaN));
const gets = () => least(({ saturated }) => saturated.gets);
const patches = () => least(({ saturated }) => saturated.patches);
const calls = (scene: 'saturated' | 'drain') => least((round) => round[scene].bridgeQueueCalls);
const growth = () => least(({ saturated: { startMb = 0, peakMb = 0 } }) => peakMb / startMb);
const isWithin = () =>
  gets() < GETS_MAX &&
  patches() < PATCHES_MAX &&
  Math.max(calls('saturated'), calls('drain')) < CALLS_MAX &&
  growth() < GROWTH_MAX;

it('costs one GET and one PATCH a deletion in a burst (P8)', () => {
  expect(gets()).toBeGreaterThanOrEqual(1);
  expect(gets()).toBeLessThan(GETS_MAX);
  expect(patches()).toBeGreaterThanOrEqual(1);
  expect(patches()).toBeLessThan(PATCHES_MAX);
});

it('sends, receives and deletes in batches: one by one it would be three calls a deletion (P8)', () => {
  for (const scene of ['saturated', 'drain'] as const) {
    expect(calls(scene)).toBeGreaterThanOrEqual(0.3);
    expect(calls(scene)).toBeLessThan(CALLS_MAX);
  }
});

it('leaves no garbage lying about: memory stays below 1.6 times that of the start (P8)', () => {
  for (const { saturated } of rounds) expect(saturated.startMb).toBeGreaterThan(50);
  expect(least(({ saturated }) => saturated.startMb)).toBeLessThan(150);
  expect(growth(), JSON.stringify(rounds.map(({ saturated }) => saturated))).toBeLessThan(GROWTH_MAX);
});
