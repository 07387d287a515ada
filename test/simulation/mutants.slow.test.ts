/*
 * The proof that the simulation bites: every known-bad edit of the product breaks the scenario that is named for it,
 * and the product itself, loaded in the same way, breaks none of them.
 */
import { describe, expect, it } from 'vitest';
import { deleteOne } from './deletion.ts';
import { loadMutant, type Mutation } from './mutant.ts';
import { knownBad, scenarios as named } from './scenarios.ts';
import { sweepSingles } from './sweep.ts';
import type { Trap } from './trap.ts';
import type { Product } from './world-options.ts';

const withProduct = (product: Product | undefined) => (product === undefined ? {} : { product });

const basics: readonly Trap[] = [
  {
    id: 'happy',
    title: 'one deletion without faults',
    async run(product) {
      // Which of two calls arrives first is drawn.
      const worlds = await Promise.all([1, 2, 3, 4].map((seed) => deleteOne({ seed, ...withProduct(product) })));
      return worlds.flatMap(({ promises }) => promises.broken);
    },
  },
  {
    id: 'errors',
    title: 'one deletion with an error at every call',
    async run(product) {
      const kinds = [{ kind: 'error', side: 'before' } as const];
      return (await sweepSingles((faults) => deleteOne({ seed: 1, faults, ...withProduct(product) }), kinds)).broken;
    },
  },
];
const scenarios = [...basics, ...named];

/** What the first trap finds broken in a mutant that finds anything. */
async function breakage(mutation: Omit<Mutation, 'caughtBy'>, traps: readonly Trap[]): Promise<readonly string[]> {
  const mutant = await loadMutant(mutation);
  try {
    for (const { run } of traps) {
      const found = await run(mutant.product);
      if (found.length > 0) return found;
    }
    return [];
  } finally {
    await mutant.dispose();
  }
}

describe('the simulation', () => {
  it.each(knownBad)('catches a product that $what ($caughtBy)', { timeout: 600_000 }, async (mutation) => {
    const meant = scenarios.filter(({ id }) => id === mutation.caughtBy);
    expect(await breakage(mutation, meant)).not.toEqual([]);
  });

  it('finds nothing broken in a faithful copy', { timeout: 600_000 }, async () => {
    const same = 'export function decide(';
    const edit = { what: 'is the same', file: 'bridge/decide.ts', from: same, to: same };
    expect((await breakage(edit, scenarios)).join('\n\n')).toBe('');
  });
});
