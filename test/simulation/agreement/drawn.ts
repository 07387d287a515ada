/*
 * How many scripts are drawn, and from which seed, as docs/simulation.md has people ask for them. Read by the end-to-end tests that
 * hold a model against a server. No I/O here.
 */

/** What is asked for. */
export interface Drawn {
  readonly runs: number;
  readonly seed: number;
}

/** @throws RangeError for what is no number: of NaN runs none would be made, and the test would pass */
export function drawnFrom(env: Readonly<Record<string, string | undefined>>): Drawn {
  return {
    runs: wholeFrom('AGREEMENT_RUNS', env.AGREEMENT_RUNS ?? '40', 1),
    seed: wholeFrom('AGREEMENT_SEED', env.AGREEMENT_SEED ?? '20260301', 0),
  };
}

function wholeFrom(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`reading ${name}: ${JSON.stringify(text)} is no whole number from ${least}`);
}
