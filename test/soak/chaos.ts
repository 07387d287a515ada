/*
 * What is done to the system, by a seed: one misfortune after the other, with pauses between them. Each says what it does;
 * run.ts counts them. Processes come again by themselves (kept.ts).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../simulation/clock.ts';
import type { Fault } from '../support/fault-script.ts';
import { RULES, type Stage } from './stage.ts';

/** What a proxy in front of the API server does to one call in ten while there is a storm. */
const WEATHER: readonly Fault[] = [
  { kind: 'answer', status: 500 },
  { kind: 'answer', status: 503, retryAfter: 1 },
  { kind: 'answer', status: 429, retryAfter: 1 },
  { kind: 'answer', status: 504 },
  { kind: 'refuse' },
  { kind: 'lose' },
  { kind: 'late', ms: 400 },
  { kind: 'truncate' },
  { kind: 'cut', afterLines: 2 },
  { kind: 'stall', afterLines: 3 },
  { kind: 'error', code: 410 },
  { kind: 'garble', afterLines: 1 },
];

/** A misfortune; `weight` says how often it comes compared with the others. */
interface Misfortune {
  readonly name: string;
  readonly weight: number;
  readonly happen: (stage: Stage, random: () => number) => Promise<void>;
}

const one = <T>(list: readonly T[], random: () => number): readonly T[] => {
  const at = Math.floor(random() * list.length);
  return list.slice(at, at + 1);
};

function killAll(processes: readonly { kill(): void }[]): void {
  for (const process of processes) process.kill();
}

const MISFORTUNES: readonly Misfortune[] = [
  {
    ...{ name: 'a bridge is killed', weight: 4 },
    happen: async ({ bridges }, random) => killAll(one(bridges, random)),
  },
  {
    ...{ name: 'both bridges are killed', weight: 1 },
    happen: async ({ bridges }) => killAll(bridges),
  },
  {
    ...{ name: 'a bridge is frozen', weight: 3 },
    happen: async ({ bridges }, random) => {
      await Promise.all(one(bridges, random).map((bridge) => bridge.freeze(1000 + random() * 20_000)));
    },
  },
  {
    ...{ name: 'the function is killed', weight: 1 },
    happen: async ({ functions }) => killAll(functions),
  },
  {
    ...{ name: 'the function is frozen', weight: 2 },
    happen: async ({ functions }, random) => {
      await Promise.all(functions.map((fn) => fn.freeze(1000 + random() * 10_000)));
    },
  },
  { ...{ name: 'the queues are killed', weight: 2 }, happen: async ({ queues }) => queues.kill() },
  { ...{ name: 'the API server is started again', weight: 1 }, happen: ({ kube }) => kube.restart() },
  {
    ...{ name: 'all connections to the API server end', weight: 2 },
    happen: async ({ proxy }) => proxy.sever(),
  },
  {
    ...{ name: 'a storm in front of the API server', weight: 4 },
    happen: async ({ proxy }, random) => {
      const calm = proxy.storm(1 + Math.floor(random() * 1e9), { share: 0.1, faults: WEATHER });
      await wait(2000 + random() * 15_000);
      calm();
    },
  },
  {
    ...{ name: 'a rule is paused for a while', weight: 1 },
    happen: async ({ editRule }, random) => {
      await editRule(RULES.usual, { paused: true });
      await wait(1000 + random() * 8000);
      await editRule(RULES.usual, { paused: false });
    },
  },
  {
    ...{ name: 'the options of a rule are edited', weight: 1 },
    happen: async ({ editRule }, random) => await editRule(RULES.usual, { options: { denyWrites: random() < 0.5 } }),
  },
];

/** The one at that place, when all lie side by side, each as long as its weight. */
function drawn(place: number): Misfortune {
  let end = 0;
  for (const misfortune of MISFORTUNES) {
    end += misfortune.weight;
    if (place < end) return misfortune;
  }
  throw new RangeError(`drawing a misfortune: ${place} is past the last one`);
}

/** One misfortune after the other until the signal; resolves with how often each came, when the last one is over. */
export async function rage(stage: Stage, seed: number, signal: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const random = seededRandom(seed);
  const total = MISFORTUNES.reduce((sum, { weight }) => sum + weight, 0);
  const happened: Record<string, number> = {};
  while (!signal.aborted) {
    const misfortune = drawn(random() * total);
    await misfortune.happen(stage, random);
    happened[misfortune.name] = (happened[misfortune.name] ?? 0) + 1;
    await wait(500 + random() * 6000, undefined, { signal }).catch(() => undefined);
  }
  return happened;
}
