/*
 * The outer shape of a rules file: takes its YAML documents apart into single rules, still unchecked, each with its
 * place. Called by rules.ts. JSON is YAML.
 */
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import type { Refusal } from './rule-facts.ts';

/** Something wrong in a file of rules. `path` names file, rule and field. */
export interface Fault {
  readonly path: string;
  readonly message: string;
  /** Where it has a name of its own in a rule's conditions. */
  readonly reason?: Refusal;
}

/** Deepest nesting that is read; a rule needs about 6, options may bring more. */
const DEPTH_MAX = 64;

/** One rule as it was written; `place` is what faults in it begin with. */
export interface WrittenRule {
  readonly place: string;
  readonly value: unknown;
}

/** Reads one rule or a list of rules per document, or a `rules:` list. An empty file is a fault, an empty list is not. */
export function readRulesFile(text: string, file: string): { rules: readonly WrittenRule[]; faults: readonly Fault[] } {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    ...{ lineCounter: lines, prettyErrors: false, uniqueKeys: true },
    // What it warns of is a fault, or a field that nobody knows.
    logLevel: 'error',
  });
  const rules: WrittenRule[] = [];
  const faults: Fault[] = [];
  let empty = true;
  for (const document of documents) {
    const content = contentOf(document, file, lines);
    faults.push(...content.faults);
    if (content.faults.length > 0 || content.value !== null) empty = false;
    if (content.faults.length > 0 || content.value === null) continue;
    const items = itemsOf(content.value);
    if (items === undefined)
      faults.push({ path: file, message: 'expected a rule, a list of rules, or rules: with a list' });
    else for (const value of items) rules.push({ place: file, value });
  }
  if (empty) faults.push({ path: file, message: 'no rules in it' });
  return { rules: rules.map(({ value }, index) => ({ place: `${file}: ${labelOf(value, index)}`, value })), faults };
}

function contentOf(
  document: Document.Parsed,
  file: string,
  lines: LineCounter,
): { value: unknown; faults: readonly Fault[] } {
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { path: `${file}:${line}:${col}`, message };
  });
  if (faults.length > 0) return { value: null, faults };
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    // An alias of what it stands in is no tree and ends here; a key called __proto__ would be dropped without a word.
    if (/"__proto__":/.test(JSON.stringify(value))) throw new TypeError('a key called __proto__');
    if (depthOf(value) > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX}`);
    return { value: value ?? null, faults };
  } catch (error) {
    return { value: null, faults: [{ path: file, message: error instanceof Error ? error.message : String(error) }] };
  }
}

/** How deep a value is nested, looking no further than is allowed. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return depth;
  return Object.values(value).reduce<number>((most, inner) => Math.max(most, depthOf(inner, depth + 1)), depth + 1);
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('rules' in value)) return [value];
  return Object.keys(value).length === 1 && Array.isArray(value.rules) ? value.rules : undefined;
}

/** A rule's name, or its number in the file, counted from 1. */
function labelOf(value: unknown, index: number): string {
  const name = member(member(value, 'metadata'), 'name');
  return typeof name === 'string' && name !== '' ? name.slice(0, 80) : `rule ${index + 1}`;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
