/*
 * Words of a person in annotations: believed only when they name exactly the right rule and the right uid.
 * The same cases for every word.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RELEASE_PREFIX, RETRY_PREFIX, releaseWord, retryWord, unreadWords } from '../../bridge/words.ts';
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
