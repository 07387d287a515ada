/*
 * The traps of the protocol as scenarios against the real bridge and the real dispatch: each must come to its end with
 * every promise kept. What a mutant does in them is in mutants.slow.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { fieldCases } from './cases.ts';
import { leadingTraps } from './traps-leading.ts';
import { messageTraps } from './traps-messages.ts';
import { overtakingTraps } from './traps-overtaking.ts';
import { targetTraps } from './traps-targets.ts';
import { watchingTraps } from './traps-watching.ts';

describe('the traps of the protocol', () => {
  it.each([...overtakingTraps, ...targetTraps, ...watchingTraps, ...leadingTraps, ...messageTraps, ...fieldCases])(
    '$id: $title',
    async ({ run }) => {
      expect((await run()).join('\n\n')).toBe('');
    },
  );
});
