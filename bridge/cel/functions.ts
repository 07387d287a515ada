/*
 * The functions of expressions where the engine's own differ from the language: regular expressions in linear time
 * (RE2), strings counted in code points, ASCII-only case, strict number parsing; and `replace` and `charAt`, which it
 * lacks. Used by cel.ts, which redirects calls to them by name, since the engine does not let an overload be replaced.
 */
import { EvaluationError } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

/** Longest regular expression, in UTF-16 units. */
const PATTERN_MAX = 1024;
const PATTERNS_KEPT = 256;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** The engine's function names that are redirected, and where to. */
export const REPLACEMENTS: ReadonlyMap<string, string> = new Map(
  ['matches', 'lowerAscii', 'upperAscii', 'substring', 'indexOf', 'lastIndexOf', 'split', 'int'].map((name) => [
    name,
    `strict_${name}`,
  ]),
);

/** Undoes the redirection in a message for people. */
export function withOriginalNames(message: string): string {
  return message.replaceAll('strict_', '');
}

type Implementation = (...args: never[]) => unknown;

/** Signatures in the engine's notation. */
export const FUNCTIONS: readonly (readonly [signature: string, implementation: Implementation])[] = [
  ['string.strict_matches(string): bool', (text: string, pattern: string) => matches(text, pattern)],
  ['strict_matches(string, string): bool', (text: string, pattern: string) => matches(text, pattern)],
  ['string.strict_lowerAscii(): string', (text: string) => text.replace(/[A-Z]+/g, (run) => run.toLowerCase())],
  ['string.strict_upperAscii(): string', (text: string) => text.replace(/[a-z]+/g, (run) => run.toUpperCase())],
  ['string.strict_substring(int): string', (text: string, from: bigint) => substring(text, from)],
  ['string.strict_substring(int, int): string', (text: string, from: bigint, to: bigint) => substring(text, from, to)],
  ['string.strict_indexOf(string): int', (text: string, part: string) => indexOf(text, part, 0n)],
  ['string.strict_indexOf(string, int): int', (text: string, part: string, from: bigint) => indexOf(text, part, from)],
  ['string.strict_lastIndexOf(string): int', (text: string, part: string) => lastIndexOf(text, part)],
  [
    'string.strict_lastIndexOf(string, int): int',
    (text: string, part: string, at: bigint) => lastIndexOf(text, part, at),
  ],
  ['string.strict_split(string): list<string>', (text: string, by: string) => split(text, by, -1n)],
  ['string.strict_split(string, int): list<string>', (text: string, by: string, most: bigint) => split(text, by, most)],
  [
    'string.replace(string, string): string',
    (text: string, from: string, to: string) => text.replaceAll(from, () => to),
  ],
  ['string.charAt(int): string', (text: string, at: bigint) => charAt(text, at)],
  ['strict_int(int): int', (value: bigint) => value],
  ['strict_int(uint): int', (value: { valueOf(): bigint }) => int64(value.valueOf(), 'uint')],
  ['strict_int(double): int', (value: number) => intOfDouble(value)],
  ['strict_int(string): int', (text: string) => intOfString(text)],
];

const patterns = new Map<string, RE2JS>();

/** Compiles a pattern, or says why it cannot be. Literal patterns are tried when the expression is compiled. */
export function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known) return known;
  if (pattern.length > PATTERN_MAX) throw error(`regular expression longer than ${PATTERN_MAX} characters`);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (cause) {
    throw error(cause instanceof Error ? cause.message : String(cause));
  }
  if (patterns.size >= PATTERNS_KEPT) patterns.clear();
  patterns.set(pattern, compiled);
  return compiled;
}

/** As in CEL: found anywhere in the text, unless the pattern is anchored. */
function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).test(text);
}

function substring(text: string, from: bigint, to?: bigint): string {
  const points = pointsOf(text);
  const end = to ?? BigInt(points.length);
  if (from < 0n || from > end || end > points.length) throw error(`substring out of range: ${from} to ${end}`);
  const part = points.slice(Number(from), Number(end));
  return typeof part === 'string' ? part : part.join('');
}

function charAt(text: string, at: bigint): string {
  const points = pointsOf(text);
  if (at < 0n || at > points.length) throw error(`index out of range: ${at}`);
  return points[Number(at)] ?? '';
}

function indexOf(text: string, part: string, from: bigint): bigint {
  const start = unitsOf(text, from);
  const found = text.indexOf(part, start);
  return found < 0 ? -1n : pointsBefore(text, found);
}

function lastIndexOf(text: string, part: string, at?: bigint): bigint {
  const found = at === undefined ? text.lastIndexOf(part) : text.lastIndexOf(part, unitsOf(text, at));
  return found < 0 ? -1n : pointsBefore(text, found);
}

function split(text: string, by: string, most: bigint): readonly string[] {
  if (most === 0n) return [];
  const parts = by === '' ? [...text] : text.split(by);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const kept = parts.slice(0, Number(most) - 1);
  return [...kept, parts.slice(kept.length).join(by)];
}

/** A string that is all in the basic plane is its own list of code points. */
function pointsOf(text: string): string | readonly string[] {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text;
}

function pointsBefore(text: string, units: number): bigint {
  return BigInt(pointsOf(text.slice(0, units)).length);
}

function unitsOf(text: string, at: bigint): number {
  const points = pointsOf(text);
  if (at < 0n || at > points.length) throw error(`index out of range: ${at}`);
  const before = points.slice(0, Number(at));
  return typeof before === 'string' ? before.length : before.join('').length;
}

function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value)) throw error(`int() of ${value}`);
  return int64(BigInt(Math.trunc(value)), 'double');
}

function intOfString(text: string): bigint {
  if (!/^[-+]?[0-9]{1,20}$/.test(text)) throw error('int() of a string that is not a decimal number');
  return int64(BigInt(text.replace('+', '')), 'string');
}

function int64(value: bigint, what: string): bigint {
  if (value < INT64.min || value > INT64.max) throw error(`int() of a ${what} out of range`);
  return value;
}

function error(message: string): EvaluationError {
  return new EvaluationError(message);
}
