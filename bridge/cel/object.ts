/*
 * Makes an object as the API server sent it ready for expressions; once per object, then shared by all expressions.
 * Called by rules.ts before evaluation. Only what has to change is copied, the rest is shared with the original.
 */

/** An object that expressions can be evaluated over. */
export interface Prepared {
  readonly variables: { readonly object: unknown };
}

/** A whole number that JSON carried but a double cannot hold exactly: reading it is an error, never a wrong digit. */
class NumberBeyondExactRange {}
const BEYOND = Object.freeze(new NumberBeyondExactRange());

const NONE: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Prepares an object: whole numbers become CEL ints, absent labels and annotations empty maps.
 * `metadata.managedFields` is passed through as it is: it is the largest part of most objects and holds no numbers.
 */
export function prepare(object: { readonly metadata?: object | null; readonly [field: string]: unknown }): Prepared {
  const { metadata, ...rest } = object;
  const adapted = adapt(rest);
  const meta = { ...metadata, labels: NONE, annotations: NONE };
  for (const [key, value] of Object.entries(metadata ?? {})) {
    if (value === undefined || (value === null && key in meta)) continue;
    define(meta, key, key === 'managedFields' ? value : adapt(value));
  }
  if (adapted instanceof Map) return { variables: { object: adapted.set('metadata', meta) } };
  return { variables: { object: { ...asRecord(adapted), metadata: meta } } };
}

function asRecord(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function adapt(value: unknown): unknown {
  if (typeof value === 'number') return number(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? list(value) : record(value);
}

function number(value: number): unknown {
  if (Number.isSafeInteger(value)) return BigInt(value);
  return Number.isInteger(value) ? BEYOND : value;
}

function list(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const adapted = adapt(item);
    if (adapted === item) continue;
    copy ??= [...items];
    copy[index] = adapted;
  }
  return copy ?? items;
}

function record(value: object): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const adapted = adapt(member);
    if (adapted === member) continue;
    copy ??= { ...value };
    define(copy, key, adapted);
  }
  const result = copy ?? value;
  // The engine tells maps by their `constructor`; a key of that name hides it, and a Map has no such trouble.
  return Object.hasOwn(value, 'constructor') ? new Map(Object.entries(result)) : result;
}

/** Plain assignment, also for the key `__proto__`, which JSON may carry. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
