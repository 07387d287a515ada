/*
 * Words of a person in annotations: believed only when they name exactly the right rule and the right uid.
 * The same cases for every word.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  APPROVE_PREFIX,
  hasWord,
  isApproved,
  REASON_PREFIX,
  RELEASE_PREFIX,
  RETRY_PREFIX,
  reasonGiven,
  releaseWord,
  retryWord,
  spokenWords,
  unreadWords,
} from '../../bridge/words.ts';
import { metaOf, RULE } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';

const withWord = (key: string, word: string) => metaOf({ annotations: { [key]: word } });

describe('a release', () => {
  it.each([
    ['uid-logs', 'wait'],
    ['uid-logs/now', 'now'],
    ['uid-logs/', 'none'],
    ['uid-logs/now/', 'none'],
    ['uid-logs/NOW', 'none'],
    [' uid-logs', 'none'],
    ['uid-log', 'none'],
    ['uid-2', 'none'],
    ['uid-2/now', 'none'],
    ['true', 'none'],
    ['', 'none'],
  ])('of %j says %s', (word, release) => {
    expect(releaseWord(withWord(RELEASE_PREFIX + RULE, word), RULE)).toBe(release);
  });

  it('is for one rule only, and without annotations there is none', () => {
    expect(releaseWord(withWord(`${RELEASE_PREFIX}other-rule`, 'uid-logs'), RULE)).toBe('none');
    expect(releaseWord(withWord(RETRY_PREFIX + RULE, 'uid-logs'), RULE)).toBe('none');
    expect(releaseWord(metaOf(), RULE)).toBe('none');
  });

  it('says nothing unless it begins with the uid of this very deletion (V14)', () => {
    holds(
      fc.property(fc.string(), (word) => {
        const release = releaseWord(withWord(RELEASE_PREFIX + RULE, word), RULE);
        expect(release !== 'none').toBe(word === 'uid-logs' || word === 'uid-logs/now');
      }),
    );
  });
});

describe('a retry', () => {
  it.each([
    ['uid-logs/1', '1'],
    ['uid-logs/2026-03-02/again', '2026-03-02/again'],
    ['uid-logs/', ''],
    ['uid-logs', undefined],
    ['uid-2/1', undefined],
    ['uid-logs-2/1', undefined],
  ])('of %j is the word %j', (word, expected) => {
    expect(retryWord(withWord(RETRY_PREFIX + RULE, word), RULE)).toBe(expected);
  });

  it('is for one rule only, and without annotations there is none', () => {
    expect(retryWord(withWord(`${RETRY_PREFIX}other-rule`, 'uid-logs/1'), RULE)).toBeUndefined();
    expect(retryWord(metaOf(), RULE)).toBeUndefined();
  });
});

describe('a retry word that is too long to be kept', () => {
  it('is not understood, and says so', () => {
    const said = (length: number) => withWord(RETRY_PREFIX + RULE, `uid-logs/${'x'.repeat(length)}`);
    expect(retryWord(said(128), RULE)).toBe('x'.repeat(128));
    expect(retryWord(said(129), RULE)).toBeUndefined();
    expect(unreadWords(said(129), RULE)).toEqual([
      'retry is not uid-logs/ and something new of at most 128 characters',
    ]);
  });
});

describe('an approval', () => {
  it.each([
    ['uid-logs', true],
    ['uid-logs/now', false],
    ['uid-2', false],
    ['true', false],
    ['', false],
  ])('of %j is one: %s', (word, approved) => {
    expect(isApproved(withWord(APPROVE_PREFIX + RULE, word), RULE)).toBe(approved);
  });

  it('is for one rule only, and without annotations there is none', () => {
    expect(isApproved(withWord(`${APPROVE_PREFIX}other-rule`, 'uid-logs'), RULE)).toBe(false);
    expect(isApproved(metaOf(), RULE)).toBe(false);
  });
});

describe('a reason', () => {
  it.each([
    ['uid-logs/handed over', 'handed over'],
    ['uid-logs/', ''],
    ['uid-logs', undefined],
    ['uid-2/handed over', undefined],
    [`uid-logs/${'x'.repeat(257)}`, 'x'.repeat(256)],
  ])('of %.30j is repeated as %.30j', (said, repeated) => {
    expect(reasonGiven(withWord(REASON_PREFIX + RULE, said), RULE)).toBe(repeated);
  });

  it('is for one rule only, and no word by itself', () => {
    expect(reasonGiven(withWord(`${REASON_PREFIX}other-rule`, 'uid-logs/x'), RULE)).toBeUndefined();
    expect(reasonGiven(metaOf(), RULE)).toBeUndefined();
    expect(hasWord(withWord(REASON_PREFIX + RULE, 'uid-logs/x'), RULE)).toBe(false);
  });
});

describe('the words on an object', () => {
  const keys = [RELEASE_PREFIX, RETRY_PREFIX, APPROVE_PREFIX].map((prefix) => prefix + RULE);
  const spoken = (annotations: Record<string, string>) => spokenWords(metaOf({ annotations }), RULE);

  it('are heard together, each with its key and what it says', () => {
    const [release = '', retry = '', approve = ''] = keys;
    expect(spoken({ [release]: 'uid-logs/now', [retry]: 'uid-logs/2', [approve]: 'uid-logs' })).toEqual([
      { word: 'release', key: release, said: 'now' },
      { word: 'retry', key: retry, said: '2' },
      { word: 'approve', key: approve, said: '' },
    ]);
  });

  it.each(keys)('are noticed and none of the others is made up, when only %s says something else', (key) => {
    expect(spoken({ [key]: 'something else' })).toEqual([]);
    expect(hasWord(withWord(key, 'something else'), RULE)).toBe(true);
    expect(unreadWords(withWord(key, 'something else'), RULE)).toHaveLength(1);
    expect(unreadWords(withWord(key, 'something else'), RULE)[0]).toContain('uid-logs');
  });

  it.each(keys)('of another rule say nothing (%s)', (key) => {
    const other = withWord(`${key}-2`, 'uid-logs');
    expect([spokenWords(other, RULE), hasWord(other, RULE), unreadWords(other, RULE)]).toEqual([[], false, []]);
  });

  it('are none without annotations', () => {
    expect([spokenWords(metaOf(), RULE), hasWord(metaOf(), RULE), unreadWords(metaOf(), RULE)]).toEqual([
      [],
      false,
      [],
    ]);
  });
});
