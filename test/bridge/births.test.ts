/*
 * The last word on entries at birth, rule by rule: what is remembered, and how little is looked at (P8). What one object
 * shows is in at-admission.test.ts.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { Births } from '../../bridge/births.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { BUCKETS, metaOf, RULE, ruleOf } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock, stamp } from '../support/manual-clock.ts';

const rule = ruleOf();
let clock: ManualClock;
let births: Births;
beforeEach(async () => {
  clock = new ManualClock();
  births = new Births(clock);
  births.label(RULE, 'uid-1', BUCKETS);
  await clock.advance(60_000);
});

const newborn = (meta: Partial<ObjectMeta> = {}) =>
  metaOf({ creationTimestamp: stamp(clock.now()), managedFields: [{ manager: 'kubectl' }], ...meta });

describe('what new objects have shown', () => {
  it('is what the newest of them showed; one that shows nothing changes nothing', () => {
    expect(births.sightOf(RULE)).toBeUndefined();
    births.saw(rule, newborn(), false);
    expect(births.sightOf(RULE)).toBe('NotInjected');
    births.saw(rule, newborn({ managedFields: [] }), true);
    expect(births.sightOf(RULE)).toBe('NotInjected');
    births.saw(rule, newborn(), true);
    expect(births.sightOf(RULE)).toBe('Observed');
  });

  it('is looked at no closer than it has to be: one more of the same is not decoded (P8)', () => {
    births.saw(rule, newborn(), true);
    const closed = Object.defineProperty(newborn(), 'managedFields', {
      get: () => {
        throw new Error('reading who wrote what');
      },
    });
    births.saw(rule, closed, true);
    births.saw(ruleOf({}, 'unlabelled'), closed, true);
    expect(births.sightOf(RULE)).toBe('Observed');
    expect(births.sightOf('unlabelled')).toBeUndefined();
  });

  it('stands while the label does, and begins anew with another label or another rule of the same name', () => {
    births.saw(rule, newborn(), true);
    births.label(RULE, 'uid-1', BUCKETS);
    expect(births.sightOf(RULE)).toBe('Observed');
    births.label(RULE, 'uid-2', BUCKETS);
    expect(births.sightOf(RULE)).toBeUndefined();
    births.saw(rule, newborn(), true);
    births.forget(RULE);
    births.label(RULE, 'uid-2', BUCKETS);
    expect(births.sightOf(RULE)).toBeUndefined();
  });

  it('of one rule is told to others, by kind', () => {
    expect(births.neighboursOf(BUCKETS)).toBe('None');
    births.saw(rule, newborn(), true);
    expect(births.neighboursOf({ ...BUCKETS, version: 'v2' })).toBe('SameKind');
    expect(births.neighboursOf(VOLUMES)).toBe('OtherKinds');
  });
});
