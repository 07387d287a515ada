/*
 * Sweeps: the same scenario again and again, each time with a fault at another port call. Called by the tests.
 * A first run without faults says how many calls there are; a run with one fault says how many there are to put a second
 * one at. What breaks a promise is described so that it can be replayed.
 */
import type { Fault, Kind } from './process.ts';
import type { World } from './world.ts';

/** Runs the scenario under faults. */
export type Scenario = (faults: readonly Fault[]) => Promise<World>;

/** What a sweep found. `broken` is one replayable description per broken run. */
export interface Swept {
  readonly runs: number;
  readonly broken: readonly string[];
}

/** Crashes on both sides of a call. */
export const CRASHES: readonly Kind[] = [
  { kind: 'crash', side: 'before' },
  { kind: 'crash', side: 'after' },
];

/** All that can happen at a call. */
export const ALL_KINDS: readonly Kind[] = [
  ...CRASHES,
  { kind: 'crash', side: 'late' },
  { kind: 'crash-others', side: 'before' },
  { kind: 'crash-others', side: 'after' },
  { kind: 'error', side: 'before' },
  { kind: 'error', side: 'after' },
  { kind: 'error', side: 'late' },
  { kind: 'stall', side: 'before' },
  { kind: 'stall', side: 'after' },
];

const BROKEN_MAX = 5;

/** One fault of each kind at every call. */
export async function sweepSingles(scenario: Scenario, kinds: readonly Kind[], from = 0): Promise<Swept> {
  return await sweep(scenario, kinds, { depth: 1, from });
}

/** Every ordered pair: a fault at every call, then a second one at every later call of that run. */
export async function sweepPairs(scenario: Scenario, kinds: readonly Kind[], from = 0): Promise<Swept> {
  return await sweep(scenario, kinds, { depth: 2, from });
}

async function sweep(
  scenario: Scenario,
  kinds: readonly Kind[],
  { depth, from }: { readonly depth: number; readonly from: number },
): Promise<Swept> {
  const broken: string[] = [];
  let runs = 0;
  const explore = async (faults: readonly Fault[], first: number): Promise<void> => {
    const world = await scenario(faults);
    runs += 1;
    if (world.promises.broken.length > 0) broken.push(world.report());
    if (faults.length === depth) return;
    for (let call = first; call < world.calls.length; call += 1) {
      for (const kind of kinds) {
        if (broken.length >= BROKEN_MAX) return;
        await explore([...faults, { call, ...kind }], call + 1);
      }
    }
  };
  await explore([], from);
  return { runs, broken };
}
