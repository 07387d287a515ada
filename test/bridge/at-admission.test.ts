/*
 * What a new object shows of entries at birth, and what is said of it. Pure; that births reach a rule's status is in
 * rule-admission.test.ts, and that a real API server's objects look like these in test/e2e/admission-condition.test.ts.
 */
import { describe, expect, it } from 'vitest';
import {
  AT_ADMISSION,
  type AtAdmissionFacts,
  atAdmission,
  type Birth,
  KNOWN_WITHIN_MS,
  RACE,
  sightOf,
} from '../../bridge/at-admission.ts';
import { ENTRY } from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';

/** One manager's share of an object, its finalizers among it. */
const written = (manager: string, ...finalizers: readonly string[]) => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', time: stamp(START) },
  fieldsV1: {
    'f:metadata': {
      'f:finalizers': { '.': {}, ...Object.fromEntries(finalizers.map((one) => [`v:${JSON.stringify(one)}`, {}])) },
    },
  },
});
const others = { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:size': {} } } };

const LATE = START + 60_000;
const birth = (changes: Partial<Birth>): Birth => ({
  ...{ entry: ENTRY, isHeld: true, createdAt: LATE, managedFields: [others] },
  ...{ labelledAt: START, now: LATE },
  ...changes,
});

describe('a new object', () => {
  it.each([
    ['nobody wrote', [others]],
    ['nobody wrote, beside finalizers of the author', [written('kubectl', 'a/b'), others]],
    ['nobody wrote, though a longer one', [written('kubectl', `${ENTRY}-2`)]],
  ])('with an entry that %s shows the policy at work', (_what, managedFields) => {
    expect(sightOf(birth({ managedFields }))).toBe('Observed');
  });

  it.each([
    ['the bridge itself wrote', [others, written('finalizer-bridge', ENTRY)]],
    ['its author wrote, as in a restored backup', [written('velero', 'a/b', ENTRY)]],
    ['somebody may have written: nothing is said of who wrote what', undefined],
    ['somebody may have written: the list of who wrote what is empty', []],
    ['somebody may have written: who wrote what cannot be read', [{ fieldsV1: { 'f:metadata': 'all' } }]],
  ])('with an entry that %s shows nothing', (_what, managedFields) => {
    expect(sightOf(birth({ managedFields }))).toBeUndefined();
  });

  const wasLabelled = (ago: number) => ({ labelledAt: LATE - ago });
  it.each([
    ['shows the policy to fail, later than the policy needs', wasLabelled(KNOWN_WITHIN_MS + 1), 'NotInjected'],
    ['shows nothing as soon after the label', wasLabelled(KNOWN_WITHIN_MS), undefined],
    ['shows nothing when it was created before', { createdAt: START - 1 }, undefined],
    ['shows nothing by a clock ahead of ours', { ...wasLabelled(1_000), createdAt: LATE + 60_000 }, undefined],
    ['shows nothing without a time that can be read', { createdAt: Number.NaN }, undefined],
  ])('without the entry %s', (_what, times, shown) => {
    expect(sightOf(birth({ isHeld: false, ...times }))).toBe(shown);
  });
});

const KIND = 'buckets.storage.example.com';
const facts = (changes: Partial<AtAdmissionFacts> = {}): AtAdmissionFacts => ({
  ...{ isServed: true, isLabelled: true, sight: undefined, neighbours: 'None', kind: KIND, written: undefined },
  ...changes,
});
const writtenAs = (reason: string) => ({
  ...{ type: 'FinalizerAtAdmission', status: 'True', reason, message: 'as written', lastTransitionTime: stamp(START) },
});

describe('the condition FinalizerAtAdmission', () => {
  it.each<[string, string, Partial<AtAdmissionFacts>]>([
    ['True Observed', 'the newest object came with its entry', { sight: 'Observed' }],
    ['False NotInjected', 'the newest object came without', { sight: 'NotInjected' }],
    ['False NotServed', 'there can be no policy, labelled or not', { isServed: false, isLabelled: false }],
    ['False NotServed', 'there can be no policy any more', { isServed: false, sight: 'Observed' }],
    ['False NotLabelled', 'the policy cannot find the rule', { isLabelled: false }],
    ['False NotLabelled', 'the label is off again', { isLabelled: false, written: writtenAs('Observed') }],
    ['Unknown NothingCreatedYet', 'nothing was created', {}],
    ['Unknown NothingCreatedYet', 'the label is on at last', { written: writtenAs('NotLabelled') }],
    ['Unknown NothingCreatedYet', 'policies are served at last', { written: writtenAs('NotServed') }],
    ['True Observed', 'an earlier process saw it', { written: writtenAs('Observed') }],
    ['False NotInjected', 'an earlier process saw one come without', { written: writtenAs('NotInjected') }],
    ['False NotInjected', 'news are better', { written: writtenAs('Observed'), sight: 'NotInjected' }],
  ])('is %s when %s', (expected, _when, changes) => {
    const condition = atAdmission(facts(changes));
    expect(`${condition?.status} ${condition?.reason}`).toBe(expected);
    expect(condition?.type).toBe('FinalizerAtAdmission');
  });

  it('stays as it was written when nobody can tell whether policies are served', () => {
    expect(atAdmission(facts({ isServed: undefined, sight: 'Observed' }))).toBeUndefined();
  });

  it('keeps the words of an earlier process: they may know more', () => {
    expect(atAdmission(facts({ written: writtenAs('NotInjected') }))?.message).toBe('as written');
  });

  it('says what may happen without entries at birth, and only then', () => {
    for (const sight of ['NotInjected', undefined] as const) {
      expect(atAdmission(facts({ sight }))?.message).toMatch(new RegExp(`${RACE}$`));
    }
    expect(atAdmission(facts({ sight: 'Observed' }))?.message).toBe(AT_ADMISSION.Observed.meaning);
  });

  it.each([
    ['None', /Either there is no admission policy, or it has no binding for buckets.storage.example.com .*print\.ts/],
    ['OtherKinds', /the policy seems to have no binding for buckets.storage.example.com .*print\.ts/],
    ['SameKind', /^(?!.*binding).*the policy fails for this rule/],
  ] as const)('names the likeliest cause by what comes to other rules (%s)', (neighbours, words) => {
    expect(atAdmission(facts({ sight: 'NotInjected', neighbours }))?.message).toMatch(words);
  });
});
