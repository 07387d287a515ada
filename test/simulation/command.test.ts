/*
 * The command line of the simulation, and what it tells at its end: also where it was interrupted, and where nothing had ended.
 * Each row of that is explained in docs/simulation.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/tracked-files.ts';
import type { WorldReport } from './fleet/batch.ts';
import { DOINGS, HAPPENINGS, MODE_HAPPENINGS, SERVED_HAPPENINGS, VERSION_HAPPENING } from './fleet/plan.ts';
import { readOptions } from './options.ts';
import { jsonOf, type Summed, tableOf } from './summary.ts';
import { WATCH_FAULTS } from './watch-faults.ts';

describe('the options of the simulation', () => {
  it('are those of ten thousand deletions from the first seed on, in a thread for each core, unless told', () => {
    expect(readOptions([], 3)).toEqual({
      ...{ seed: 1, deletions: 10_000, workers: 3, json: false, world: false, shrinkSeconds: 60 },
    });
    const told = ['--seed', '7', '--deletions', '30', '--workers', '1', '--world', '--shrink', '0', '--json'];
    expect(readOptions(told, 3)).toEqual({
      ...{ seed: 7, deletions: 30, workers: 1, json: true, world: true, shrinkSeconds: 0 },
    });
  });

  it.each([
    [['--world'], /how many objects the world has is told by --deletions/],
    [['--world', '--seed', '242'], /how many objects the world has is told by --deletions/],
    [['--world', '--deletions', '0'], /reading --deletions: 0 is no whole number from 1/],
    [['--seed', 'x'], /reading --seed: x is no whole number from 1/],
    [['--shrink', '-1'], /./],
    [['--worlds'], /Unknown option/],
  ])('are refused where they do not say what to run: %j', (args, why) => {
    expect(() => readOptions(args, 1)).toThrow(why);
  });
});

describe('the end of a simulation', () => {
  const world = (seed: number, more: Partial<WorldReport> = {}): WorldReport => ({
    ...{ seed, deletions: 40, deleted: 39, hash: `h${seed}`, virtualMs: 86_400_000, steps: 1_000, broken: [] },
    ...{ faults: { 'queue lost': 2, 'call mute after': 1 }, ...more },
  });
  const whole: Summed = {
    ...{ seed: 1, reports: [world(1), world(2, { broken: ['P1: it leaked'] })], isInterrupted: false },
    ...{ seconds: 3.4, cpuSeconds: 7.8 },
  };
  const figures = (table: string) => Object.fromEntries(table.split('\n').map((line) => line.trim().split(/ {2,}/)));

  it('tells the sums over all worlds, and faults by kind', () => {
    expect(figures(tableOf(whole))).toMatchObject({
      ...{ seed: '1', worlds: '2', deletions: '78', failing: '1', seconds: '3', cpuSeconds: '8' },
      ...{
        cpuSecondsPerThousand: '100',
        virtualDays: '2',
        steps: '2000',
        hash: expect.stringMatching(/^[0-9a-f]{8}$/),
      },
      ...{ 'queue lost': '4', 'call mute after': '2' },
    });
    expect(JSON.parse(jsonOf(whole))).toMatchObject({
      ...{ worlds: 2, deletions: 78, failing: 1, faults: { 'queue lost': 4 } },
      broken: [{ seed: 2, broken: ['P1: it leaked'] }],
    });
    expect(jsonOf(whole)).not.toContain('interrupted');
  });

  it('has a hash that is the same for the same worlds in the same order', () => {
    const hash = (reports: readonly WorldReport[]) => figures(tableOf({ ...whole, reports })).hash;
    expect(hash([world(1), world(2)])).toBe(hash([world(1), world(2)]));
    expect(hash([world(2), world(1)])).not.toBe(hash([world(1), world(2)]));
  });

  it('tells the same of what had ended where it was interrupted, and no hash', () => {
    const interrupted = { ...whole, isInterrupted: true };
    expect(figures(tableOf(interrupted))).toMatchObject({ worlds: '2', deletions: '78', 'queue lost': '4' });
    expect(figures(tableOf(interrupted))).not.toHaveProperty('hash');
    expect(tableOf(interrupted)).toMatch(/\ninterrupted: this is of the worlds that had ended\n$/);
    expect(JSON.parse(jsonOf(interrupted))).toMatchObject({ interrupted: true, deletions: 78 });
  });

  it('has no price of a deletion where none was done', () => {
    const table = tableOf({ ...whole, reports: [], isInterrupted: true });
    expect(figures(table)).toMatchObject({ worlds: '0', deletions: '0' });
    expect(table).not.toMatch(/NaN|Infinity|cpuSecondsPerThousand/);
  });

  it('has each of its rows explained on the page', () => {
    const [, section = ''] = readFileSync(join(root, 'docs/simulation.md'), 'utf8').split(
      '### The rows of the table\n',
    );
    const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
    // `act compact`, `muteApi`: what a word stands before counts for those after it.
    const rows = cells.flatMap((cell) => {
      const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const [group] = first.split(' ');
      return [first, ...others.map((name) => (name.includes(' ') || !first.includes(' ') ? name : `${group} ${name}`))];
    });
    const acts = [...HAPPENINGS, ...SERVED_HAPPENINGS, ...MODE_HAPPENINGS, VERSION_HAPPENING];
    const counted = [
      ...[...DOINGS.map((name) => `person ${name}`), ...acts.map((name) => `act ${name}`)],
      ...WATCH_FAULTS.map((name) => `watch ${name}`),
      ...['queue copy', 'queue lost', 'queue refused', 'P1 beyond sight', 'call crash', 'call error', 'call stall'],
      ...Object.keys(figures(tableOf(whole))).filter((name) => !(name in (whole.reports[0]?.faults ?? {}))),
    ];
    expect(counted.filter((name) => name !== '' && name !== 'seed' && !rows.includes(name))).toEqual([]);
  });
});
