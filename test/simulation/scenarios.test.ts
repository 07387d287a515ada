/*
 * Every trap of docs/promises.md is walked into by a scenario that has its name, and every one that an edit of the product can
 * reopen has such an edit; the table in docs/simulation.md says which. What catches what is run by mutants.slow.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/tracked-files.ts';
import { knownBad, scenarios } from './scenarios.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** How the table says two things in one cell. */
const AND = '<br>';
const traps = (read('docs/promises.md').match(/(?<=^\| )V\d+(?= \|)/gm) ?? []).map(String);

const titlesOf = (trap: string) => scenarios.filter(({ id }) => id === trap).map(({ title }) => title);
const editsOf = (trap: string) => knownBad.filter(({ caughtBy }) => caughtBy === trap).map(({ what }) => what);

/** The rows of the table, by trap. */
function tabled(): ReadonlyMap<string, readonly [scenarios: string, edits: string]> {
  const rows = read('docs/simulation.md').matchAll(/^\| (V\d+) \| (.*) \| (.*) \|$/gm);
  return new Map([...rows].map(([, trap = '', left = '', right = '']) => [trap, [left, right]]));
}

describe('the traps of docs/promises.md', () => {
  it('are all known', () => {
    expect(traps).toEqual(Array.from({ length: 23 }, (_, index) => `V${index + 1}`));
  });

  it.each(traps)('%s has a scenario of its name, and a known-bad edit that it has to catch', (trap) => {
    expect(titlesOf(trap)).not.toEqual([]);
    expect(editsOf(trap)).not.toEqual([]);
  });

  it.each(traps)('%s stands in the table with its scenarios and its edits', (trap) => {
    expect(tabled().get(trap)).toEqual([titlesOf(trap).join(AND), editsOf(trap).join(AND)]);
  });
});

it('no edit is there twice, and none is without a scenario', () => {
  const edits = knownBad.map(({ file, from, to, caughtBy }) => JSON.stringify([file, from, to, caughtBy]));
  expect(new Set(edits).size).toBe(edits.length);
  const known = new Set(['happy', 'errors', ...scenarios.map(({ id }) => id)]);
  expect(knownBad.filter(({ caughtBy }) => !known.has(caughtBy))).toEqual([]);
  expect(knownBad.length).toBeGreaterThanOrEqual(20);
});
