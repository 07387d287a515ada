/*
 * What tags prove.
 * A table of what a resource carries against what a rule requires.
 */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS } from '../../bridge/contract.ts';
import {
  isStrong,
  judgeAge,
  judgeOwnership,
  KEEP_TAG,
  MARK_TAG,
  markOf,
  notKept,
  tagsFrom,
} from '../../functions/ownership.ts';
import { requestOf } from './fixtures.ts';

const tags = (record: Readonly<Record<string, string>>) => new Map(Object.entries(record));
const required = { tags: { owner: 'uid-1', team: 'a' } };

describe('judging', () => {
  it.each([
    ['all required tags', { owner: 'uid-1', team: 'a' }, 'owned'],
    ['more than the required tags', { owner: 'uid-1', team: 'a', more: 'x' }, 'owned'],
    ['one tag missing', { owner: 'uid-1' }, 'NotOwned'],
    ['one tag different', { owner: 'uid-1', team: 'b' }, 'NotOwned'],
    ['a value in other case', { owner: 'UID-1', team: 'a' }, 'NotOwned'],
    ['a value that only begins alike', { owner: 'uid-12', team: 'a' }, 'NotOwned'],
    ['no tags', {}, 'NotOwned'],
    ['the keep tag', { owner: 'uid-1', team: 'a', [KEEP_TAG]: 'false' }, 'Kept'],
    ['the keep tag alone', { [KEEP_TAG]: '' }, 'Kept'],
  ])('%s: %s', (_what, carried, said) => {
    const verdict = judgeOwnership(required, tags(carried));
    expect(verdict.owned ? 'owned' : verdict.reason).toBe(said);
  });

  it('needs nothing under none, except that the keep tag is absent', () => {
    expect(judgeOwnership({ none: true }, tags({}))).toEqual({ owned: true });
    expect(judgeOwnership({ none: true }, tags({ [KEEP_TAG]: '' }))).toMatchObject({ owned: false, reason: 'Kept' });
  });

  it('takes no requirement for no proof', () => {
    expect(judgeOwnership({ tags: {} }, tags({ a: 'b' }))).toEqual({
      ...{ owned: false, reason: 'NotOwned', message: 'the rule requires no tag at all' },
    });
  });

  it('says which tag keeps a resource', () => {
    expect(judgeOwnership(required, tags({ [KEEP_TAG]: '' }))).toMatchObject({ message: `the tag ${KEEP_TAG} is set` });
  });

  it('is done by IAM as well: an action under this condition is denied on whatever has the keep tag', () => {
    expect(notKept()).toEqual({ Null: { 'aws:ResourceTag/finalizer-bridge.dev/keep': 'true' } });
  });

  it('names the tags that are wrong, but not what they hold', () => {
    const verdict = judgeOwnership(required, tags({ owner: 'secret' }));
    expect(verdict).toMatchObject({
      message: "tag team is missing; tag owner has another value than the object's",
    });
    expect(JSON.stringify(verdict)).not.toContain('secret');
  });
});

it('calls a proof strong when a required value holds the uid', () => {
  expect(isStrong({ tags: { a: 'uid-1' } }, 'uid-1')).toBe(true);
  expect(isStrong({ tags: { a: 'cluster/uid-1' } }, 'uid-1')).toBe(true);
  expect(isStrong({ tags: { a: 'uid-1', team: 'a' } }, 'uid-1')).toBe(true);
  expect(isStrong({ tags: { a: 'team-a/logs' } }, 'uid-1')).toBe(false);
  expect(isStrong({ none: true }, 'uid-1')).toBe(false);
});

describe('judging the age of a resource (V12)', () => {
  const { object, rule } = requestOf().data;
  const deletion = { object, rule };
  const weak = { tags: { team: 'a' } };
  const began = Date.parse(object.deletionTimestamp);
  const mark = { [MARK_TAG]: markOf(deletion) };
  it.each([
    ['a strong proof, younger', { tags: { owner: object.uid } }, {}, began + 1, 'sure'],
    ['a weak proof, older by more than clocks may differ', weak, {}, began - CLOCK_SKEW_MS, 'unmarked'],
    ['a weak proof, older by less than clocks may differ', weak, {}, began - CLOCK_SKEW_MS + 1, 'younger'],
    ['a weak proof, of the same moment', weak, {}, began, 'younger'],
    ['a weak proof, younger', weak, {}, began + 1, 'younger'],
    ['a weak proof, of unknown age', weak, {}, undefined, 'younger'],
    ['no proof, younger', { none: true } as const, {}, began + 1, 'younger'],
    ['a weak proof, younger, marked by this deletion', weak, mark, began + 1, 'sure'],
    ['no proof, of unknown age, marked by this deletion', { none: true } as const, mark, undefined, 'sure'],
    ['a weak proof, younger, marked by another deletion', weak, { [MARK_TAG]: 'another/rule' }, began + 1, 'younger'],
    [
      'a weak proof, older, marked by another deletion',
      weak,
      { [MARK_TAG]: 'another/rule' },
      began - CLOCK_SKEW_MS,
      'unmarked',
    ],
  ])('%s', (_what, ownership, carried, created, said) => {
    expect(judgeAge(deletion, ownership, { tags: tags(carried), created })).toBe(said);
  });

  it('has a mark of its own for each object and rule', () => {
    const others = [
      { ...deletion, rule: { name: 'other' } },
      { ...deletion, object: { ...object, uid: 'other' } },
    ];
    expect(new Set([deletion, ...others].map(markOf)).size).toBe(3);
    expect(markOf(deletion)).toBe(`${object.uid}/${rule.name}`);
  });
});

it('reads tag lists as AWS sends them', () => {
  expect(tagsFrom(undefined)).toEqual(new Map());
  expect([...tagsFrom([{ Key: 'a', Value: 'b' }, { Key: 'c' }, { Value: 'd' }])]).toEqual([
    ['a', 'b'],
    ['c', ''],
  ]);
  expect(tagsFrom(undefined).size).toBe(0);
});
