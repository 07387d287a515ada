/*
 * What is read of a TeardownRule and what is written on it: patches of our label alone, applied as an API
 * server would.
 */
import { describe, expect, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import { generationOf, labelRule, matchOf, rulePath, statusOf, TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { applyPatch, PatchFailed } from '../simulation/json-patch.ts';
import { BUCKETS, metaOf } from '../support/bridge-builders.ts';
import { ruleObject } from '../support/rule-objects.ts';

const INJECTS = injectsLabel(BUCKETS);
const { finalizers: _, ...bare } = metaOf();
const OURS = { [INJECTS_LABEL]: INJECTS };

/** Metadata after labelling; undefined when nothing is to be written. */
function labelled(meta: ObjectMeta, injects: string | undefined): ObjectMeta | undefined {
  const operations = labelRule(meta, injects);
  return operations === undefined ? undefined : applyPatch({ metadata: meta }, operations).metadata;
}

describe('the label of a rule', () => {
  it.each<[string, Partial<ObjectMeta>, Partial<ObjectMeta>]>([
    ['that has none', {}, { labels: OURS }],
    ['with an empty map', { labels: {} }, { labels: OURS }],
    ['that has labels of others', { labels: { team: 'a' } }, { labels: { team: 'a', ...OURS } }],
    ['whose label is of another kind', { labels: { [INJECTS_LABEL]: 'f00' } }, { labels: OURS }],
  ])('%s is put on, and what is of others left', (_what, before, after) => {
    expect(labelled({ ...bare, ...before }, INJECTS)).toEqual({ ...bare, ...after });
  });

  it('is taken off one that is not to inject, and no other is', () => {
    expect(labelled({ ...bare, labels: { team: 'a', ...OURS } }, undefined)).toEqual({
      ...bare,
      labels: { team: 'a' },
    });
  });

  it('is not written where it is as wanted', () => {
    expect(labelRule({ ...bare, labels: OURS }, INJECTS)).toBeUndefined();
    expect(labelRule({ ...bare, labels: { a: 'b' } }, undefined)).toBeUndefined();
    expect(labelRule(bare, undefined)).toBeUndefined();
  });

  it.each([{ uid: 'another' }, { resourceVersion: '8' }])('of one that has moved (%o) is not touched', (moved) => {
    for (const operations of [labelRule(bare, INJECTS), labelRule({ ...bare, labels: OURS }, undefined)]) {
      const meta = { ...bare, labels: OURS, ...moved };
      expect(() => applyPatch({ metadata: meta }, operations ?? [])).toThrow(PatchFailed);
    }
  });
});

describe('a rule as the API server has it', () => {
  it('has a path, a generation and a kind that it is for', () => {
    expect(rulePath('a')).toEqual({ ...TEARDOWN_RULES, name: 'a' });
    expect(TEARDOWN_RULES).toEqual({ group: 'finalizer-bridge.dev', version: 'v1alpha1', resource: 'teardownrules' });
    const rule = ruleObject({ match: { ...BUCKETS, labelSelector: {} } }, { generation: 7 });
    expect(generationOf(rule)).toBe(7);
    expect(matchOf(rule)).toEqual(BUCKETS);
  });

  it('says what it is for also where the rest of its spec cannot be read', () => {
    expect(matchOf(ruleObject({ target: 7, policy: undefined, unknown: true }))).toEqual(BUCKETS);
    expect(() => matchOf(ruleObject({ match: { resource: 'buckets' } }))).toThrow('group');
  });

  it('has a status with all that stands in it, or none', () => {
    expect(statusOf(ruleObject())).toEqual({});
    const status = { pending: 3, budget: { reservations: [] }, conditions: [] };
    expect(statusOf({ ...ruleObject(), status })).toEqual(status);
  });
});
