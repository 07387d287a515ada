/*
 * Takes a good rule and spoils it, or not, at any place and in any of many ways: the endless part of the rule corpus.
 * Used by test/e2e/crd-agreement.test.ts. Expressions are only exchanged for others that compile and keep the proof
 * bound, since what an expression says only the bridge can tell.
 */
import * as fc from 'fast-check';
import type { Schema } from '../../infra/crd/schema.ts';
import { specSchema } from '../../infra/crd/spec-schema.ts';
import { fullestSpec, leastSpec, type Spec } from './rule-corpus.ts';

type Path = readonly string[];

/** Where and how a rule is changed; numbers choose among what there is, so every one means something. */
interface Mutation {
  readonly place: number;
  readonly way: 'drop' | 'replace' | 'edit' | 'add' | 'repeat';
  readonly pick: number;
  readonly character: string;
}

const UID = 'object.metadata.uid';
const EXPRESSIONS = [UID, '', UID.padEnd(4096), UID.padEnd(4097), null, 1, true, [], {}, [UID]];
const VALUES = [
  ...[null, true, false, 0, 1, -1, 1.5, 20, 1e6, 1e7, 2 ** 53, 1e300, '', 'a', 'A', '-', 'a.b/c', 'a/b/c', '*'],
  ...['1m', '30m', '1h', '6h', '24h', '0', '0s', '1ns', '8760h', '9000h', '5', '1h30m', 'Hold', 'Release', 'Keep'],
  ...['In', 'Exists', 'v1', 'secrets', 'events.k8s.io', 'apiextensions.k8s.io', 'a'.repeat(63), 'a'.repeat(64)],
  ...[
    'a'.repeat(300),
    'ä',
    '😀',
    [],
    [null],
    ['a'],
    ['a.b/c'],
    {},
    { a: UID },
    { a: null },
    { limit: 1, window: '1m' },
  ],
];
const KEYS = ['a', 'A1', '1', '', 'a.b/c', 'a b', 'ä', 'none', 'tags', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(129)];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  way: fc.constantFrom('drop', 'replace', 'edit', 'add', 'repeat'),
  pick: fc.nat(),
  character: fc.constantFrom(...'a1-./_A \n\tä'),
});

/** Rules of which some are still right. */
export const mutatedSpec: fc.Arbitrary<Spec> = fc
  .tuple(fc.constantFrom<Spec>(leastSpec, fullestSpec, fullestSpec), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([spec, mutations]) => mutations.reduce(mutated, spec));

function mutated(spec: Spec, change: Mutation): Spec {
  const places = pathsOf(spec);
  const path = places[change.place % places.length] ?? [];
  const result: Spec = structuredClone(spec);
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => member(value, key), result);
  const [key] = path.slice(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return result;
  spoil({ parent, key, path, change });
  return result;
}

function spoil(at: { parent: object; key: string; path: Path; change: Mutation }): void {
  const { parent, key, path, change } = at;
  const value = member(parent, key);
  const isExpression = holdsExpression(path);
  switch (change.way) {
    case 'drop':
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else Reflect.deleteProperty(parent, key);
      return;
    case 'edit':
      if (typeof value === 'string' && !isExpression) set(parent, key, edited(value, change));
      return;
    case 'add':
      if (isPlainObject(value)) {
        const added = KEYS[change.pick % KEYS.length] ?? 'a';
        set(value, added, chosen(holdsExpression([...path, added]) ? EXPRESSIONS : VALUES, change.pick >> 4));
      }
      return;
    case 'repeat':
      if (Array.isArray(value)) value.push(...Array.from({ length: change.pick % 70 }, () => value[0]));
      return;
    case 'replace':
      set(parent, key, structuredClone(chosen(isExpression ? EXPRESSIONS : VALUES, change.pick)));
      return;
    default:
      change.way satisfies never;
  }
}

/** The values of targets and tags, and the policy: their texts are CEL. */
function holdsExpression(path: Path): boolean {
  const [first, second] = path;
  return (
    (first === 'target' && path.length === 2) ||
    (first === 'ownership' && second === 'tags' && path.length === 3) ||
    (first === 'policy' && path.length === 1)
  );
}

function edited(text: string, { pick, character }: Mutation): string {
  const at = pick % (text.length + 1);
  return pick % 2 === 0 ? text.slice(0, at) + character + text.slice(at) : text.slice(0, at) + text.slice(at + 1);
}

function chosen(values: readonly unknown[], pick: number): unknown {
  return values[pick % values.length];
}

/** Every place in a value, its members' places included. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]));
  return path.length === 0 ? members : [path, ...members];
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function set(target: object, key: string, value: unknown): void {
  Reflect.set(target, key, value);
}

/**
 * What the API server makes of a null: an absent field, wherever the schema knows the field. Options are kept as they
 * are, and so are items of lists.
 */
export function withoutNulls(value: unknown, schema: Schema = specSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => (schema.items ? withoutNulls(item, schema.items) : item));
  if (!isPlainObject(value)) return value;
  const known = (key: string) => schema.properties?.[key] ?? schema.additionalProperties;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const of = known(key);
      if (of === undefined) return [[key, inner]];
      return inner === null ? [] : [[key, withoutNulls(inner, of)]];
    }),
  );
}
