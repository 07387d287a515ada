/*
 * The traps of the protocol as scenarios against the real bridge and the real dispatch: each must come to its end with
 * every promise kept. What a mutant does in them is in mutants.slow.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { scenarios } from './scenarios.ts';

describe('the traps of the protocol', () => {
  it.each(scenarios)('$id: $title', async ({ run }) => {
    expect((await run()).join('\n\n')).toBe('');
  });
});
