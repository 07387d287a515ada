/*
 * Schemas that stand for some of the schema library's own, of which each function would carry 5 KB more (docs/benchmarks.md).
 * What the library's refuse is refused here too, in words of its own: contract-lean.test.ts holds them against each other.
 * Used by the messages and by the functions' configuration.
 */
import * as z from 'zod/mini';
import { $ZodCheckStringFormat } from 'zod/v4/core';

/** A whole number that JSON carries exactly. In the place of `z.int`. */
export const integer = z.number().check(z.refine(Number.isSafeInteger, 'Invalid input: expected an integer'));

/** Such a number, `least` or more. */
export function integerFrom(least: number) {
  return integer.check(z.refine((number) => number >= least, `Too small: expected at least ${least}`));
}

const DATE_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;
const NO_TIME = 'Invalid time: expected RFC 3339 in UTC';

/** RFC 3339 in UTC, with or without fractions of a second. In the place of `z.iso.datetime`. */
export const timestamp = z.string().check(
  new $ZodCheckStringFormat({
    ...{ check: 'string_format', format: 'datetime', pattern: DATE_TIME, abort: true, error: () => NO_TIME },
  }),
  z.refine(isOnCalendar, NO_TIME),
);

/** A day that its month does not have is one of the next for Date. */
function isOnCalendar(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day < 29 || new Date(text.slice(0, 10)).getUTCDate() === day;
}

/** An object with names and values of these sorts. In the place of `z.record`. */
export function keyed<V extends z.ZodMiniType>(name: z.ZodMiniType<string>, value: V) {
  return z.catchall(z.object({}), value).check(
    z.check(({ value: read, issues }) => {
      for (const key of Object.keys(read)) {
        if (name.safeParse(key).success) continue;
        issues.push({ code: 'custom', path: [key], input: key, message: 'Invalid key' });
      }
    }),
  );
}
