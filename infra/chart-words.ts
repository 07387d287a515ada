/*
 * What values.yaml says of each value: the lines before it that begin with `# --`, and its default. The chart's README and
 * the descriptions of its schema are made of them by chart-files.ts.
 */
import { parse } from 'yaml';
import * as z from 'zod/mini';

/** A value that is described. */
export interface DescribedValue {
  /** Keys from the top. */
  readonly path: readonly string[];
  readonly default: unknown;
  readonly description: string;
}

/** Values of a file, in its order. */
export function describedValues(text: string): readonly DescribedValue[] {
  const defaults: unknown = parse(text);
  const found: DescribedValue[] = [];
  const path: string[] = [];
  let words: string[] = [];
  for (const line of text.split('\n')) {
    const comment = /^ *# (-- )?(.*)$/.exec(line);
    if (comment !== null) {
      // A comment that does not begin with the mark is none of ours, unless it goes on with one that does.
      if (comment[1] !== undefined) words = [comment[2] ?? ''];
      else if (words.length > 0) words.push(comment[2] ?? '');
      continue;
    }
    const key = /^( *)([A-Za-z]\w*):/.exec(line);
    if (key !== null) {
      path.length = (key[1] ?? '').length / 2;
      path.push(key[2] ?? '');
      if (words.length > 0) {
        found.push({ path: [...path], default: valueAt(defaults, path), description: words.join(' ') });
      }
    }
    words = [];
  }
  return found;
}

const mapping = z.record(z.string(), z.unknown());

/** What stands at a path; undefined when nothing does. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const { success, data } = mapping.safeParse(value);
  return success ? valueAt(data[key], rest) : undefined;
}

/** The paths of all values that hold no others: what has to be described, or stand in something that is. */
export function leavesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const { success, data } = mapping.safeParse(value);
  if (!success || Object.keys(data).length === 0) return [path];
  return Object.entries(data).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}
