/*
 * Draws what is nearly right: a good piece of JSON in which one or two places hold something else, are gone, or are new. Used by the
 * tests that hand the decoders of outside data whatever may come; junk alone seldom gets past the first field.
 */
import * as fc from 'fast-check';

type Path = readonly string[];

interface Change {
  /** Chooses among the places there are. */
  readonly place: number;
  readonly way: 'replace' | 'drop' | 'add' | 'wrap';
  readonly by: unknown;
}

/** Values at which decoders have stumbled elsewhere, and any others. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, -1, 1.5, 2 ** 53, 1e300, true, [], {}, [null], { a: null }, 'null', '0'),
  fc.constantFrom<unknown>(
    '2026-03-01T08:00:00Z',
    '2026-13-01',
    'a'.repeat(300),
    '\u0000',
    '\ud800',
    '😀',
    '__proto__',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(),
  way: fc.constantFrom('replace', 'replace', 'replace', 'drop', 'add', 'wrap'),
  by: junk,
});

/** What is good, or spoilt in one place or two. */
export function spoilt(good: unknown): fc.Arbitrary<unknown> {
  return fc.array(change, { maxLength: 2 }).map((changes) => changes.reduce(changed, structuredClone(good)));
}

/** Nothing right about it, or little. */
export const anyJson: fc.Arbitrary<unknown> = junk;

function changed(whole: unknown, { place, way, by: drawn }: Change): unknown {
  // One value stands in many places, and may be spoilt itself.
  const by = structuredClone(drawn);
  const root = { whole };
  const places = pathsOf(root);
  const path = places[place % places.length] ?? ['whole'];
  const parent = path.slice(0, -1).reduce<unknown>(member, root);
  const key = path.at(-1) ?? 'whole';
  if (typeof parent !== 'object' || parent === null) return whole;
  const value = member(parent, key);
  if (way === 'drop' && Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (way === 'drop' && path.length > 1) Reflect.deleteProperty(parent, key);
  else if (way === 'wrap') Reflect.set(parent, key, [value]);
  else if (way === 'add' && Array.isArray(value)) value.push(by);
  else if (way === 'add' && typeof value === 'object' && value !== null) Reflect.set(value, 'unheardOf', by);
  else Reflect.set(parent, key, by);
  return root.whole;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function pathsOf(value: object, path: Path = []): readonly Path[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const own = [...path, key];
    return typeof inner === 'object' && inner !== null ? [own, ...pathsOf(inner, own)] : [own];
  });
}
