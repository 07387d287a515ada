/*
 * The known-bad edits fit the product as it is: whoever changes a text that one of them quotes learns it here, in seconds, and not
 * from the long tests that load every one of them (mutants.slow.test.ts, fleet.slow.test.ts).
 */
import { describe, expect, it } from 'vitest';
import { edit } from './mutant.ts';
import { fleetMutations } from './mutations-fleet.ts';
import { knownBad } from './scenarios.ts';

describe('the known-bad edits of the product', () => {
  it.each([...knownBad, ...fleetMutations])('$file: one $what', async (mutation) => {
    const changed = await edit(mutation);
    expect(changed.size).toBeGreaterThan(0);
  });

  it('are refused where the text that they quote does not stand there, or stands there twice', async () => {
    const of = (from: string) => edit({ what: 'does nothing', file: 'bridge/decide.ts', from, to: '' });
    await expect(of('no such text')).rejects.toThrow('stands there 0 times');
    await expect(of('return ')).rejects.toThrow(/stands there \d\d+ times/);
  });
});
