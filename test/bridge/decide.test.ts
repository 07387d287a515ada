/*
 * The decision table of docs/promises.md, exhaustively: every combination of the axes in support/decision-axes.ts is decided
 * and compared with the table in support/decision-table.ts, which knows the names of the values and nothing of the code.
 */
import { describe, expect, it } from 'vitest';
import { decide } from '../../bridge/decide.ts';
import { AXES, type Case, canBe, NOW, observationOf } from '../support/decision-axes.ts';
import { said, TABLE } from '../support/decision-table.ts';

/** Every combination, the last axis turning fastest. */
function* everyCase(): Generator<Case> {
  for (const live of AXES.live)
    for (const policy of AXES.policy)
      for (const release of AXES.release)
        for (const gone of AXES.gone)
          for (const goneOther of AXES.goneOther)
            for (const history of AXES.history)
              for (const runs of AXES.runs)
                for (const notYet of AXES.notYet)
                  for (const retry of AXES.retry)
                    for (const sending of AXES.sending)
                      yield { live, policy, release, gone, goneOther, history, runs, notYet, retry, sending };
}

describe('the decision table', () => {
  // A million of them take seconds, and more where the machine has other work.
  it('decides every combination as the first row that applies, and uses every row', { timeout: 480_000 }, () => {
    const differing = new Map<string, string>();
    const used = new Map(TABLE.map(({ row }) => [row, 0]));
    let decided = 0;
    for (const of of everyCase()) {
      if (!canBe(of)) continue;
      decided += 1;
      const row = TABLE.find(({ when }) => when(of));
      if (row === undefined) throw new Error('the table has an end');
      used.set(row.row, (used.get(row.row) ?? 0) + 1);
      const expected = row.so(of);
      const actual = said(decide(observationOf(of), NOW));
      if (actual !== expected) differing.set(`row ${row.row}: ${expected}, decided: ${actual}`, JSON.stringify(of));
    }
    expect([...differing]).toEqual([]);
    expect([...used].filter(([, times]) => times === 0)).toEqual([]);
    expect(decided).toBeGreaterThan(1_000_000);
  });
});
