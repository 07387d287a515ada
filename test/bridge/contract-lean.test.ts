/*
 * The contract's lean schemas refuse what the schema library's own refuse, and take what those take: each is held against the
 * one that it stands for, over values near the border.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { integer, integerFrom, keyed, timestamp } from '../../bridge/contract.ts';
import { holds } from '../support/property.ts';

/** Both take a value and read the same, or both refuse it. */
function agree(lean: z.ZodMiniType, own: z.ZodMiniType, value: unknown): void {
  const [one, other] = [lean.safeParse(value), own.safeParse(value)];
  expect({ value, taken: one.success, data: one.data }).toEqual({ value, taken: other.success, data: other.data });
}

const pad = (number: number, digits: number) => String(number).padStart(digits, '0');
const year = fc.oneof(fc.constantFrom(0, 1, 4, 99, 100, 400, 1600, 1900, 2000, 2024, 2100, 9999), fc.nat(9999));
const day = fc
  .tuple(year, fc.nat(13), fc.nat(32))
  .map(([years, months, days]) => `${pad(years, 4)}-${pad(months, 2)}-${pad(days, 2)}`);
const clock = fc.tuple(fc.nat(25), fc.nat(60), fc.nat(60)).map((parts) => parts.map((part) => pad(part, 2)).join(':'));
const rest = fc.constantFrom(
  'Z',
  '.1Z',
  '.123Z',
  '.123456789Z',
  `.${'9'.repeat(400)}Z`,
  'z',
  '',
  '+00:00',
  '.Z',
  ',5Z',
);
const time = fc.tuple(day, clock, rest).map(([date, hours, more]) => `${date}T${hours}${more}`);

describe('a time', () => {
  it('is one for the contract where it is one for the library, leap days and all', () => {
    holds(
      fc.property(time, (text) => agree(timestamp, z.iso.datetime(), text)),
      { numRuns: 1000 },
    );
  });

  it('is one or none on every day of 400 years, and on days that no month has', () => {
    const own = z.iso.datetime();
    for (let years = 1999; years < 2400; years += 1) {
      for (const date of ['01-31', '02-28', '02-29', '02-30', '04-30', '04-31', '12-31', '12-32', '00-10', '13-01']) {
        const text = `${years}-${date}T23:59:59Z`;
        if (timestamp.safeParse(text).success !== own.safeParse(text).success) expect.fail(text);
      }
    }
  });

  it.each([
    '2026-03-02T12:30:00',
    '2026-03-02T12:30Z',
    '2026-03-02 12:30:00Z',
    '2026-3-2T12:30:00Z',
    '+002026-03-02T12:30:00Z',
    '2026-03-02T12:30:00Z\n',
    ' 2026-03-02T12:30:00Z',
    '２026-03-02T12:30:00Z',
    '2026-03-02T24:00:00Z',
    '2026-06-30T23:59:60Z',
    '2026-02-29T12:30:00Z',
    '',
    0,
    null,
    new Date(0),
  ])('is refused with a word that says what is expected: %j', (value) => {
    agree(timestamp, z.iso.datetime(), value);
    expect(timestamp.safeParse(value).success).toBe(false);
    if (typeof value === 'string') {
      const [issue, ...more] = timestamp.safeParse(value).error?.issues ?? [];
      expect(issue?.message).toBe('Invalid time: expected RFC 3339 in UTC');
      expect(more).toEqual([]);
    }
  });
});

const numbers = fc.oneof(
  ...[fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom(-1, -0, 0, 0.5, 1, 1e300)],
  fc.constantFrom(2 ** 53, -(2 ** 53), 2 ** 53 - 1, -(2 ** 53) + 1, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom('1', 1n, true, null, undefined, [1], {}),
);

describe('a whole number', () => {
  it('is one for the contract where it is one for the library', () => {
    holds(
      fc.property(numbers, (value) => {
        agree(integer, z.int(), value);
        agree(integerFrom(0), z.int().check(z.nonnegative()), value);
        agree(integerFrom(1), z.int().check(z.positive()), value);
      }),
      { numRuns: 1000 },
    );
  });

  it('is asked for in words', () => {
    expect(integer.safeParse(1.5).error?.issues[0]?.message).toBe('Invalid input: expected an integer');
    expect(integerFrom(1).safeParse(0).error?.issues[0]?.message).toBe('Too small: expected at least 1');
  });
});

describe('an object with any names', () => {
  const name = z.string().check(z.regex(/^[a-z]{1,3}$/));
  const value = z.union([z.string().check(z.minLength(1)), z.boolean()]);
  const lean = keyed(name, value);
  const own = z.record(name, value);
  const key = fc.oneof(
    fc.stringMatching(/^[a-z]{0,4}$/),
    fc.constantFrom('__proto__', 'toString', 'constructor', '1', '01', 'A', ' a', 'a\n'),
  );
  const entries = fc.array(
    fc.tuple(key, fc.oneof(fc.constantFrom('x', '', true, null, 1, undefined), fc.jsonValue())),
    { maxLength: 4 },
  );

  it('is one for the contract where it is a record for the library', () => {
    const built = entries.map((pairs) => {
      const text = pairs.map(([one, held]) => `${JSON.stringify(one)}:${JSON.stringify(held ?? null)}`).join(',');
      const read: unknown = JSON.parse(`{${text}}`);
      return read;
    });
    const some = fc.oneof(built, fc.constantFrom(null, [], ['a'], 'a', 1, undefined));
    holds(
      fc.property(some, (one) => agree(lean, own, one)),
      { numRuns: 600 },
    );
  });

  it('says which name and which value is wrong', () => {
    const paths = (read: unknown) =>
      lean.safeParse(read).error?.issues.map(({ path, message }) => [path.join('.'), message]);
    expect(paths({ a: 'x', TOO: 'x' })).toEqual([['TOO', 'Invalid key']]);
    expect(paths({ a: '' })).toEqual([['a', 'Invalid input']]);
  });

  it('keeps a name out that would reach the prototype', () => {
    const read = lean.parse(JSON.parse('{"__proto__": "x", "a": "y"}'));
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.keys(read)).toEqual(['a']);
  });
});
