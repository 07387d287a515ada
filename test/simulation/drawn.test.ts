/*
 * What people ask for of drawn scripts (docs/simulation.md) is done or refused: a run that draws none would compare nothing, and
 * pass.
 */
import { describe, expect, it } from 'vitest';
import { drawnFrom } from './agreement/drawn.ts';

describe('how many scripts are drawn', () => {
  it('is what is asked for, else forty of one seed', () => {
    expect(drawnFrom({ AGREEMENT_RUNS: '1000', AGREEMENT_SEED: '7' })).toEqual({ runs: 1000, seed: 7 });
    expect(drawnFrom({})).toEqual({ runs: 40, seed: 20_260_301 });
  });

  it.each(['many', '', '0', '-1', '1.5'])('is never none since %j was asked for', (runs) => {
    expect(() => drawnFrom({ AGREEMENT_RUNS: runs })).toThrow(`reading AGREEMENT_RUNS: "${runs}" is no whole number`);
  });
});
