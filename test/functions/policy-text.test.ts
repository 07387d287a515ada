/*
 * A statement into the text of any bucket policy and out again (C13): the others stay as they are, byte for byte, however they are
 * written; and what is no policy is left alone.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutStatement, withStatement } from '../../functions/handlers/s3-bucket/policy-text.ts';
import { holds } from '../support/property.ts';

const SID = 'FinalizerBridge1';
const OURS = JSON.stringify({ Sid: SID, Effect: 'Deny', Principal: '*' });

const space = fc.constantFrom('', ' ', '\n\t', '  \n');
/** JSON as people write it: spaces anywhere, brackets and names within texts, escapes, numbers that are not as they would be printed. */
const text = fc.constantFrom('"a"', '"]"', '"{[,:"', '"\\"Statement\\":["', '"\\\\"', '"Statement"', '"\\u005b"', '""');
const scalar = fc.oneof(text, fc.constantFrom('1.0', '1e2', 'true', 'null', '-0'));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.tuple(space, fc.array(tie('json'), { maxLength: 3 })).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    fc
      .tuple(space, fc.array(fc.tuple(text, tie('json')), { maxLength: 3 }))
      .map(([gap, items]) => `{${items.map(([name, value]) => `${gap}${name}${gap}:${value}`).join(',')}${gap}}`),
  ),
}));
const statement = fc
  .tuple(space, fc.constantFrom('"Sid":"theirs",', ''), json)
  .map(([gap, sid, rest]) => `{${gap}${sid}"Condition"${gap}:${rest}}`);
interface Written {
  readonly head: string;
  readonly tail: string;
  readonly statements: readonly string[];
}
const policy: fc.Arbitrary<Written> = fc
  .tuple(space, fc.constantFrom('"Version":"2012-10-17",', '"Id":"Statement",', ''), json, fc.boolean())
  .chain(([gap, first, rest, isBefore]) =>
    fc.array(statement, { minLength: 1, maxLength: 3 }).map((statements) => {
      const more = `"x"${gap}:${rest}`;
      return {
        head: `{${gap}${first}${isBefore ? `${more},` : ''}"Statement"${gap}:${gap}`,
        tail: `${gap}${isBefore ? '' : `,${more}`}}`,
        statements,
      };
    }),
  );
const textOf = ({ head, tail, statements }: Written) => `${head}[${statements.join(',')}]${tail}`;

describe('a statement in a policy', () => {
  it('goes in before the others and comes out again, and every other byte is as it was (C13)', () => {
    holds(
      fc.property(policy, (written) => {
        const before = textOf(written);
        const during = withStatement(before, OURS, SID);
        expect(during).toBe(textOf({ ...written, statements: [OURS, ...written.statements] }));
        expect(withoutStatement(during ?? '', SID)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  it('is never there twice: an older one of its name goes, wherever it stands', () => {
    const older = JSON.stringify({ Effect: 'Deny', Sid: SID, Condition: {} });
    holds(
      fc.property(policy, fc.nat({ max: 3 }), (written, at) => {
        const statements = written.statements.toSpliced(at, 0, older);
        const during = withStatement(textOf({ ...written, statements }), OURS, SID);
        expect(during).toBe(textOf({ ...written, statements: [OURS, ...written.statements] }));
      }),
    );
  });

  it('beside a lone statement makes a list of the two, as AWS would read it', () => {
    holds(
      fc.property(policy, statement, ({ head, tail }, lone) => {
        const during = withStatement(`${head}${lone}${tail}`, OURS, SID);
        expect(during).toBe(`${head}[${OURS},${lone}]${tail}`);
        expect(withoutStatement(during ?? '', SID)).toBe(`${head}[${lone}]${tail}`);
      }),
    );
  });

  it('makes a policy of its own where there is none, which holds nothing once it is out', () => {
    const made = withStatement(undefined, OURS, SID);
    expect(JSON.parse(made ?? '')).toEqual({ Version: '2012-10-17', Statement: [JSON.parse(OURS)] });
    expect(withoutStatement(made ?? '', SID)).toBe('');
  });

  it.each([
    ['nothing', ''],
    ['a text cut off', '{"Statement":[{"Sid":"a"}'],
    ['a list', '[{"Statement":[]}]'],
    ['no statements', '{"Version":"2012-10-17"}'],
    ['a policy and something after it', '{"Statement":[{"Sid":"a"}]}]'],
    ['a policy with a comma too many', '{"Statement":[{"Sid":"a"}],}'],
    ['statements deeper down only', '{"a":{"Statement":[{}]}}'],
    ['statements that are a text', '{"Statement":"[]"}'],
  ])('is not put into what is no policy: %s', (_what, written) => {
    expect(withStatement(written, OURS, SID)).toBeUndefined();
    expect(withoutStatement(written, SID)).toBeUndefined();
  });

  it('leaves what is in the list and is no statement, and no space between', () => {
    const list = 'null, "x" ,7,[ ]\n, {"Sid" : "theirs"}';
    const during = withStatement(`{"Statement": [ ${list} ]}`, OURS, SID);
    expect(during).toBe(`{"Statement": [${OURS},null,"x",7,[ ],{"Sid" : "theirs"}]}`);
    expect(withoutStatement(during ?? '', SID)).toBe('{"Statement": [null,"x",7,[ ],{"Sid" : "theirs"}]}');
  });

  it('is not taken out where it is not', () => {
    expect(withoutStatement(`{"Statement":[{"Sid":"${SID}2"},{"a":"${SID}"}]}`, SID)).toBeUndefined();
    expect(withoutStatement('{"Statement":[]}', SID)).toBeUndefined();
  });
});
