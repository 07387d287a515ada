/*
 * What is read of a TeardownRule and what is written on it: patches of our label and our finalizer alone, applied as an API
 * server would.
 */
import { describe, expect, it } from 'vitest';
import { INJECTS_LABEL, injectsLabel } from '../../bridge/injects.ts';
import type { ObjectMeta } from '../../bridge/ports.ts';
import {
  generationOf,
  markRule,
  matchOf,
  rulePath,
  statusOf,
  TEARDOWN_RULES,
  WITHDRAWAL_FINALIZER,
} from '../../bridge/teardown-rules.ts';
import { applyPatch, PatchFailed } from '../simulation/json-patch.ts';
import { BUCKETS, metaOf } from '../support/bridge-builders.ts';
import { ruleObject } from '../support/rule-objects.ts';

const INJECTS = injectsLabel(BUCKETS);
const { finalizers: _, ...bare } = metaOf();
const OURS = { finalizers: [WITHDRAWAL_FINALIZER], labels: { [INJECTS_LABEL]: INJECTS } };

/** Metadata after marking; undefined when nothing is to be written. */
function marked(meta: ObjectMeta, injects: string | undefined): ObjectMeta | undefined {
  const operations = markRule(meta, injects);
  return operations === undefined ? undefined : applyPatch({ metadata: meta }, operations).metadata;
}

describe('marking a rule', () => {
  it.each<[string, Partial<ObjectMeta>, Partial<ObjectMeta>]>([
    ['that has nothing yet', {}, OURS],
    ['with an empty list and an empty map', { finalizers: [], labels: {} }, OURS],
    [
      'that has labels and finalizers of others',
      { finalizers: ['a/b', 'c/d'], labels: { team: 'a' } },
      { finalizers: ['a/b', 'c/d', WITHDRAWAL_FINALIZER], labels: { team: 'a', [INJECTS_LABEL]: INJECTS } },
    ],
    ['whose label is of another kind', { ...OURS, labels: { [INJECTS_LABEL]: 'f00' } }, OURS],
    [
      'that lost our finalizer',
      { ...OURS, finalizers: ['a/b'] },
      { ...OURS, finalizers: ['a/b', WITHDRAWAL_FINALIZER] },
    ],
  ])('%s puts both on, and leaves what is of others', (_what, before, after) => {
    expect(marked({ ...bare, ...before }, INJECTS)).toEqual({ ...bare, ...after });
  });

  it('that is not to inject takes our label off, and no other', () => {
    const labels = { team: 'a', [INJECTS_LABEL]: INJECTS };
    expect(marked({ ...bare, ...OURS, labels }, undefined)).toEqual({ ...bare, ...OURS, labels: { team: 'a' } });
    expect(marked({ ...bare }, undefined)).toEqual({ ...bare, finalizers: [WITHDRAWAL_FINALIZER] });
  });

  it('that is being deleted puts no finalizer on', () => {
    const deletionTimestamp = bare.creationTimestamp;
    const meta = { ...bare, ...OURS, finalizers: ['a/b'], deletionTimestamp };
    expect(marked(meta, undefined)).toEqual({ ...meta, labels: {} });
    expect(marked({ ...bare, deletionTimestamp }, undefined)).toBeUndefined();
  });

  it('that is as wanted writes nothing', () => {
    expect(markRule({ ...bare, ...OURS }, INJECTS)).toBeUndefined();
    expect(markRule({ ...bare, finalizers: [WITHDRAWAL_FINALIZER], labels: { a: 'b' } }, undefined)).toBeUndefined();
  });

  it.each([{ uid: 'another' }, { resourceVersion: '8' }])('that has moved (%o) fails whole', (moved) => {
    const operations = markRule(bare, INJECTS) ?? [];
    expect(() => applyPatch({ metadata: { ...bare, ...moved } }, operations)).toThrow(PatchFailed);
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
