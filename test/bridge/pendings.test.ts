/*
 * What is pending under each rule: a rule's status counts them (P7), so none may be missed or told twice, whatever was put in,
 * put in again or taken out before.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pending } from '../../bridge/pending.ts';
import { Pendings } from '../../bridge/pendings.ts';
import { pendingOf } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';

const RULES = ['buckets', 'disks', 'volumes'] as const;
const step = fc.record({
  does: fc.constantFrom('set', 'set', 'delete'),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  rule: fc.constantFrom(...RULES),
});

describe('what is pending', () => {
  it('P7 is told for each rule as for all of them, in the same order, whatever came and went', () => {
    holds(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const pendings = new Pendings();
        const model = new Map<string, Pending>();
        for (const { does, key, rule } of steps) {
          model.delete(key);
          if (does === 'delete') pendings.delete(key);
          else {
            const pending = pendingOf({ rule });
            model.set(key, pending);
            pendings.set(key, pending);
          }
        }
        expect([...pendings]).toEqual([...model]);
        for (const name of RULES) {
          expect([...pendings.under(name)]).toEqual([...model.values()].filter(({ rule }) => rule === name));
        }
      }),
    );
  });

  it('is nothing under any rule once it is cleared, or under a rule that nobody named', () => {
    const pendings = new Pendings().set('a', pendingOf({ rule: 'buckets' }));
    expect([pendings.under('buckets').size, pendings.under('disks').size]).toEqual([1, 0]);
    pendings.clear();
    expect([pendings.size, pendings.under('buckets').size]).toEqual([0, 0]);
    expect(pendings.delete('a')).toBe(false);
  });
});
