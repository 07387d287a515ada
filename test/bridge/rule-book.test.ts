/*
 * The rules in force, by name and by kind, and who is told when they change.
 * What fills the book, and what listens, is in rule-keeper.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { RuleBook } from '../../bridge/rule-book.ts';
import { BUCKETS, RULE, ruleOf } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';

const OTHER = 'other';
const rule = ruleOf();
const other = ruleOf({ match: VOLUMES }, OTHER);

/** A book, and what it told. */
function bench(...rules: readonly (typeof rule)[]) {
  const book = new RuleBook(rules);
  const told: unknown[][] = [];
  book.onChange((...change) => void told.push(change));
  return { book, told };
}

describe('a rule book', () => {
  it('knows its rules by name and by kind, and each kind once', () => {
    const second = ruleOf({}, 'second');
    const { book } = bench(rule, other, second);
    expect(book.rules).toEqual([rule, other, second]);
    expect(book.named(OTHER)).toBe(other);
    expect(book.named('nobody')).toBeUndefined();
    expect(book.ofKind(BUCKETS)).toEqual([rule, second]);
    expect(book.ofKind({ ...BUCKETS, version: 'v2' })).toEqual([]);
    expect(book.kinds).toEqual([BUCKETS, VOLUMES]);
  });

  it('tells of each change what was and what is', () => {
    const { book, told } = bench();
    const edited = { ...rule, paused: true };
    book.set(rule);
    book.set(edited);
    book.delete(RULE);
    expect(told).toEqual([
      [RULE, undefined, rule],
      [RULE, rule, edited],
      [RULE, edited, undefined],
    ]);
    expect(book.rules).toEqual([]);
  });

  it('tells every listener, and nobody of the rule that was never there', () => {
    const { book, told } = bench();
    let others = 0;
    book.onChange(() => {
      others += 1;
    });
    book.delete('nobody');
    book.set(rule);
    expect([told.length, others]).toEqual([1, 1]);
  });

  it('knows why a rule has no accepted generation, until it has one or is gone', () => {
    const { book, told } = bench(other);
    book.refuse(RULE, 'spec.target: empty');
    expect(book.whyNotAccepted(RULE, BUCKETS)).toBe('spec.target: empty');
    expect(book.whyNotAccepted(OTHER, BUCKETS)).toBeUndefined();
    book.refuse(RULE, 'spec.target: empty', BUCKETS);
    expect(book.whyNotAccepted(RULE, { ...BUCKETS, resource: 'volumes' })).toBeUndefined();
    expect(book.rules).toEqual([other]);
    book.set(rule);
    expect(book.whyNotAccepted(RULE, BUCKETS)).toBeUndefined();
    book.delete(RULE);
    book.refuse(RULE, 'again');
    book.delete(RULE);
    expect(book.whyNotAccepted(RULE, BUCKETS)).toBeUndefined();
    expect(told.map(([name]) => name)).toEqual([RULE, RULE, RULE, RULE, RULE]);
  });

  it('tells of a refusal only what is new', () => {
    const { book, told } = bench();
    book.refuse(RULE, 'one reason');
    book.refuse(RULE, 'one reason');
    book.refuse(RULE, 'another');
    expect(told).toEqual([
      [RULE, undefined, undefined],
      [RULE, undefined, undefined],
    ]);
  });

  it('names the kind of a refused rule as one to be watched, where that is known', () => {
    const { book } = bench(rule);
    book.refuse(OTHER, 'broken', VOLUMES);
    expect(book.kinds).toEqual([BUCKETS, VOLUMES]);
    expect(book.ofKind(VOLUMES)).toEqual([]);
    book.refuse(OTHER, 'not served');
    expect(book.kinds).toEqual([BUCKETS]);
  });
});
