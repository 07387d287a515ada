/*
 * One in a hundred combinations of the decision table, spread over all of it: quick enough for the mutation tester to ask for each
 * edit of decide.ts. All of them are in decide.test.ts.
 */
import { expect, it } from 'vitest';
import { decide } from '../../bridge/decide.ts';
import { AXES, type Case, canBe, NOW, observationOf } from '../support/decision-axes.ts';
import { said, TABLE } from '../support/decision-table.ts';

/** A prime that divides the size of no axis, so that every pair of values is met. */
const STEP = 101;

const COMBINATIONS = Object.values(AXES).reduce((product, values) => product * values.length, 1);

/** The combination of that number, the last axis turning fastest. */
function caseAt(number: number): Case {
  let left = number;
  const chosen = <T>(values: readonly T[]): T => {
    const value = values[left % values.length];
    if (value === undefined) throw new Error('an axis has no values');
    left = Math.floor(left / values.length);
    return value;
  };
  return {
    ...{ sending: chosen(AXES.sending), retry: chosen(AXES.retry), notYet: chosen(AXES.notYet) },
    ...{ runs: chosen(AXES.runs), history: chosen(AXES.history), goneOther: chosen(AXES.goneOther) },
    ...{ gone: chosen(AXES.gone), release: chosen(AXES.release), policy: chosen(AXES.policy), live: chosen(AXES.live) },
  };
}

it('the decision table is kept in one of a hundred of its combinations, which use every row', () => {
  const differing = new Map<string, string>();
  const used = new Set<string>();
  for (let number = 0; number < COMBINATIONS; number += STEP) {
    const of = caseAt(number);
    if (!canBe(of)) continue;
    const row = TABLE.find(({ when }) => when(of));
    if (row === undefined) throw new Error('the table has an end');
    used.add(row.row);
    const [expected, actual] = [row.so(of), said(decide(observationOf(of), NOW))];
    if (actual !== expected) differing.set(`row ${row.row}: ${expected}, decided: ${actual}`, JSON.stringify(of));
  }
  expect([...differing]).toEqual([]);
  expect(TABLE.map(({ row }) => row).filter((row) => !used.has(row))).toEqual([]);
});
