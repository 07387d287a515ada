/*
 * The string functions of expressions as the language has them: counted in code points, case and blanks as Go sees them,
 * regular expressions in linear time (RE2). Used by functions.ts, which makes them known to the engine.
 */
import { EvaluationError } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

/** Longest regular expression, in UTF-16 units. */
const PATTERN_MAX = 1024;
const PATTERNS_KEPT = 256;

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
export function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).test(text);
}

export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}

export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (run) => run.toUpperCase());
}

/** Unicode's White_Space, which JavaScript's `trim` does not follow in two characters. */
export function trim(text: string): string {
  return text.replace(/^\p{White_Space}+/u, '').replace(/(?<!\p{White_Space})\p{White_Space}+$/u, '');
}

export function substring(text: string, from: bigint, to?: bigint): string {
  const points = pointsOf(text);
  const end = to ?? BigInt(points.length);
  if (from < 0n || from > end || end > points.length) throw error(`substring out of range: ${from} to ${end}`);
  return joined(points.slice(Number(from), Number(end)));
}

export function charAt(text: string, at: bigint): string {
  const points = pointsOf(text);
  if (at < 0n || at > points.length) throw error(`index out of range: ${at}`);
  return points[Number(at)] ?? '';
}

/** An empty part is found wherever the search begins, even past the end. */
export function indexOf(text: string, part: string, from = 0n): bigint {
  if (part === '') return from;
  if (from < 0n) throw error(`index out of range: ${from}`);
  const points = pointsOf(text);
  if (from >= points.length) return -1n;
  const found = text.indexOf(part, joined(points.slice(0, Number(from))).length);
  return found < 0 ? -1n : pointsBefore(text, found);
}

/** Looks backwards from `at`; a search from past the end finds nothing. */
export function lastIndexOf(text: string, part: string, at?: bigint): bigint {
  const points = pointsOf(text);
  if (part === '') return at ?? BigInt(points.length);
  if (text === '' && at === undefined) return -1n;
  const start = at ?? BigInt(points.length) - 1n;
  if (start < 0n) throw error(`index out of range: ${start}`);
  if (start >= points.length) return -1n;
  const found = text.lastIndexOf(part, joined(points.slice(0, Number(start))).length);
  return found < 0 ? -1n : pointsBefore(text, found);
}

export function split(text: string, by: string, most = -1n): readonly string[] {
  if (most === 0n) return [];
  const parts = by === '' ? [...text] : text.split(by);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const kept = parts.slice(0, Number(most) - 1);
  return [...kept, parts.slice(kept.length).join(by)];
}

/** What is replaced by what, and how often: without `most`, or below 0, wherever it is. */
interface Replacement {
  readonly part: string;
  readonly by: string;
  readonly most?: bigint;
}

/** Replaces the first `most`, or all. An empty part is found before every character and at the end. */
export function replace(text: string, { part, by, most = -1n }: Replacement): string {
  const pieces = part === '' ? ['', ...text, ''] : text.split(part);
  const count = most < 0n || most >= pieces.length ? pieces.length - 1 : Number(most);
  const rest = pieces.slice(count + 1).map((piece) => part + piece);
  return pieces.slice(0, count + 1).join(by) + rest.join('');
}

/** A string that is all in the basic plane is its own list of code points. */
function pointsOf(text: string): string | readonly string[] {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text;
}

function joined(points: string | readonly string[]): string {
  return typeof points === 'string' ? points : points.join('');
}

function pointsBefore(text: string, units: number): bigint {
  return BigInt(pointsOf(text.slice(0, units)).length);
}

function error(message: string): EvaluationError {
  return new EvaluationError(message);
}
