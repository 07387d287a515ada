/*
 * The type conversions of expressions as the language has them: what counts as a number, a bool or a time, and how a
 * double is written. Used by functions.ts, which makes them known to the engine.
 */
import { EvaluationError } from '@marcbachmann/cel-js';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const DECIMAL = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(nan|[-+]?inf(inity)?)$/i;
/** Doubles are written without exponent from here... */
const PLAIN_LEAST = -4;
/** ...to below here, both being exponents of ten. */
const PLAIN_BELOW = 6;

export function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value)) throw error(`int() of ${value}`);
  return int64(BigInt(Math.trunc(value)), 'double');
}

export function intOfString(text: string): bigint {
  if (!/^[-+]?[0-9]{1,20}$/.test(text)) throw error('int() of a string that is not a decimal number');
  return int64(BigInt(text.replace('+', '')), 'string');
}

/** Also used for the results of arithmetic. */
export function int64(value: bigint, what: string): bigint {
  if (value < INT64.min || value > INT64.max) throw error(`int() of a ${what} out of range`);
  return value;
}

/** Hexadecimal doubles and underscores, which Go would read, are refused. */
export function doubleOfString(text: string): number {
  if (NOT_FINITE.test(text)) return Number(text.replace(/nan/i, 'NaN').replace(/inf(inity)?/i, 'Infinity'));
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw error('double() of a string that is not a decimal number');
  return value;
}

export function boolOfString(text: string): boolean {
  if (['1', 't', 'T', 'true', 'True', 'TRUE'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'False', 'FALSE'].includes(text)) return false;
  throw error('bool() of a string that is neither true nor false');
}

/** As Go writes the shortest `%g`. */
export function stringOfDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= PLAIN_LEAST && exponent < PLAIN_BELOW) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([-+])(\d\d):(\d\d))$/;
/** The years 1 to 9999, in ms since the epoch. */
const TIMES = { least: -62_135_596_800_000, most: 253_402_300_799_999 };

/** RFC 3339, and no more precise than milliseconds: a time that would have to be cut is refused, never compared wrongly. */
export function timestampOfString(text: string): Date {
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] =
    RFC3339.exec(text) ?? [];
  const fields = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = fields;
  const fault =
    year === undefined || h > 23 || mi > 59 || s > 59 || Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59;
  if (fault || mo < 1 || mo > 12 || d < 1 || d > daysIn(y, mo))
    throw error('timestamp() of a string that is not RFC 3339');
  if (/[1-9]/.test(fraction.slice(3))) throw error('timestamp() of a time that is more precise than milliseconds');
  const time = new Date(0);
  time.setUTCFullYear(y, mo - 1, d);
  time.setUTCHours(h, mi, s, Number(fraction.padEnd(3, '0').slice(0, 3)));
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * 60_000;
  return timestampOf(time.getTime() - (sign === '-' ? -offset : offset));
}

export function timestampOfInt(seconds: bigint): Date {
  return timestampOf(Number(seconds) * 1000);
}

function timestampOf(ms: number): Date {
  if (!(ms >= TIMES.least && ms <= TIMES.most)) throw error('timestamp() out of range: only the years 1 to 9999');
  return new Date(ms);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function error(message: string): EvaluationError {
  return new EvaluationError(message);
}
