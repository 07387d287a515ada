/*
 * The command line of the soak: for how long the system is beaten, by which seed, how hard. Read by run.ts; what it means
 * is in chaos.ts and world.ts.
 */
import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run soak -- [options]
  --minutes N    how long things are broken (10); then everything must settle, which takes up to a quarter of an hour
  --seed N       of what is broken and made, and when (drawn, and told)
  --rate N       objects made a second (2)
  --json         one JSON document on standard output instead of lines`;

/** How hard, and how long. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Objects a second. */
  readonly rate: number;
  readonly json: boolean;
}

/**
 * `drawn` is the seed where none is told.
 * @throws TypeError, RangeError for what is no option
 */
export function readOptions(args: readonly string[], drawn: number): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(drawn) },
      rate: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: positive('minutes', values.minutes),
    seed: positive('seed', values.seed),
    rate: positive('rate', values.rate),
    json: values.json,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`reading --${name}: ${text} is no number above 0`);
  return value;
}
