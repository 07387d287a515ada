/*
 * The command line of the simulation: which worlds, and in how many threads. Read by simulate.ts; docs/simulation.md says the
 * same for people.
 */
import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run simulate -- [options]
  --seed N         seed of the first world (1); the next worlds take the following seeds
  --deletions N    objects that are to be deleted (10000); worlds of up to 4,000 objects are run until so many were
  --workers N      threads, each of which runs one world at a time (one for each core)
  --world          without a value: one world only, of the seed of --seed and the number of objects of --deletions, which
                   has to be told
  --shrink N       how long each failing world is made small, in seconds (60); 0 for not at all
  --json           one line of JSON instead of text`;

const DELETIONS = '10000';

/** What to simulate, and how it is told. */
export interface SimulationOptions {
  readonly seed: number;
  readonly deletions: number;
  readonly workers: number;
  readonly json: boolean;
  readonly world: boolean;
  /** How long a failing world is made small, in seconds. */
  readonly shrinkSeconds: number;
}

/**
 * `cores` is the number of threads where none is told.
 * @throws TypeError, RangeError for what is no option
 */
export function readOptions(args: readonly string[], cores: number): SimulationOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      deletions: { type: 'string' },
      workers: { type: 'string', default: String(cores) },
      json: { type: 'boolean', default: false },
      world: { type: 'boolean', default: false },
      shrink: { type: 'string', default: '60' },
    },
  });
  const { json, world } = values;
  if (world && values.deletions === undefined)
    throw new RangeError('reading --world: how many objects the world has is told by --deletions');
  values.deletions ??= DELETIONS;
  const [seed, deletions, workers] = [numberOf('seed'), numberOf('deletions'), numberOf('workers')];
  return { seed, deletions, workers, json, world, shrinkSeconds: numberOf('shrink', 0) };

  function numberOf(name: 'seed' | 'deletions' | 'workers' | 'shrink', least = 1): number {
    const value = Number(values[name]);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new RangeError(`reading --${name}: ${values[name]} is no whole number from ${least}`);
  }
}
