/*
 * Which paths of an expression a kind's schema cannot have: a walk over the syntax tree that carries along where in the
 * schema each value stands. Used by cel.ts for the judge. Whatever cannot be followed (keys that are computed, maps that
 * hold anything, `dyn()`) is not checked, so a path that can exist is never told.
 */
import type { KindSchema, Shape } from '../kind-schema.ts';
import { callOf, isNode, literalOf, type Node } from './syntax.ts';

/** A path that no object of the kind can have. */
export interface UnknownField {
  /** As `object.spec.zones[].nmae`. */
  readonly path: string;
  readonly field: string;
  /** What its last field was looked for in. */
  readonly within: 'a map' | 'a list' | 'a scalar';
  /** The fields that a map has, in the schema's order. */
  readonly known: readonly string[];
}

/** Where a value stands; `nothing` is an empty map, list or optional; undefined is not known. */
type Value = { readonly shape: Shape; readonly path: string } | 'nothing' | undefined;
type Scope = ReadonlyMap<string, Value>;

/** Macros whose first argument is a variable that stands for an item. */
const ITERATIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** The unknown fields of a type-checked expression over the variable `object`, each path once. */
export function unknownFieldsOf(root: Node, schema: KindSchema): readonly UnknownField[] {
  const found = new Map<string, UnknownField>();
  new Tracer(schema, (field) => found.set(field.path, field)).trace(root, objectScope(schema));
  return [...found.values()];
}

function objectScope({ root }: KindSchema): Scope {
  return new Map([['object', { shape: root, path: 'object' }]]);
}

class Tracer {
  readonly #schema: KindSchema;
  readonly #tell: (field: UnknownField) => void;

  constructor(schema: KindSchema, tell: (field: UnknownField) => void) {
    this.#schema = schema;
    this.#tell = tell;
  }

  trace(node: Node, scope: Scope): Value {
    switch (node.op) {
      case 'id':
        return typeof node.args === 'string' ? scope.get(node.args) : undefined;
      case '.':
      case '.?':
      case '[]':
      case '[?]':
        return this.#select(node, scope);
      case '?:': {
        const [, whenTrue, whenFalse] = this.#all(node.args, scope);
        return joined(whenTrue, whenFalse);
      }
      case 'call':
      case 'rcall':
        return this.#call(node, scope);
      default: {
        const inner = this.#all(node.args, scope);
        return (node.op === 'map' || node.op === 'list') && inner.length === 0 ? 'nothing' : undefined;
      }
    }
  }

  /** Where the nodes of an argument list stand, the lists within it included. */
  #all(args: unknown, scope: Scope): readonly Value[] {
    if (isNode(args)) return [this.trace(args, scope)];
    return Array.isArray(args) ? args.flatMap((arg: unknown) => this.#all(arg, scope)) : [];
  }

  #select(node: Node, scope: Scope): Value {
    const [left, right]: unknown[] = Array.isArray(node.args) ? node.args : [];
    const from = isNode(left) ? this.trace(left, scope) : undefined;
    this.#all(right, scope);
    if (from === undefined || from === 'nothing') return undefined;
    const key = typeof right === 'string' ? right : literalOf(right);
    return key === undefined ? this.#itemOf(from) : this.#fieldOf(from, key);
  }

  #fieldOf({ shape, path }: Exclude<Value, 'nothing' | undefined>, key: string): Value {
    const place = this.#schema.place(shape);
    const at = `${path}${/^\w+$/.test(key) ? `.${key}` : `['${key}']`}`;
    if (place.is === 'anything') return undefined;
    if (place.is !== 'map') {
      this.#tell({ path: at, field: key, within: place.is === 'list' ? 'a list' : 'a scalar', known: [] });
      return undefined;
    }
    const inner = place.fields.get(key) ?? place.others;
    if (inner === undefined) this.#tell({ path: at, field: key, within: 'a map', known: [...place.fields.keys()] });
    return inner === undefined ? undefined : { shape: inner, path: at };
  }

  /** What an index or a computed key selects: items of a list are alike, values of a map only if it has no fields. */
  #itemOf({ shape, path }: Exclude<Value, 'nothing' | undefined>): Value {
    const place = this.#schema.place(shape);
    if (place.is === 'list') return { shape: place.items, path: `${path}[]` };
    const isUniform = place.is === 'map' && place.fields.size === 0 && place.others !== undefined;
    return isUniform ? { shape: place.others, path: `${path}[]` } : undefined;
  }

  #call(node: Node, scope: Scope): Value {
    const { name = '', args = [] } = callOf(node) ?? {};
    const [receiver, variable, ...bodies] = args;
    if (node.op === 'rcall' && ITERATIONS.has(name) && isNode(variable) && typeof variable.args === 'string') {
      const over = this.#all(receiver, scope)[0];
      const item = over === undefined || over === 'nothing' ? undefined : this.#iterated(over);
      this.#all(bodies, new Map([...scope, [variable.args, item]]));
      return name === 'filter' && item !== undefined ? over : undefined;
    }
    const values = this.#all(args, scope);
    switch (name) {
      case 'value':
        return values[0];
      case 'of':
        return values[1];
      case 'none':
        return 'nothing';
      case 'or':
      case 'orValue':
        return joined(values[0], values[1]);
      default:
        return undefined;
    }
  }

  /** Items of a list; of a map the keys are gone through, which have no fields to look for. */
  #iterated(over: Exclude<Value, 'nothing' | undefined>): Value {
    return this.#schema.place(over.shape).is === 'list' ? this.#itemOf(over) : undefined;
  }
}

/** One value or the other: known only if both stand in one place, or one of them is empty. */
function joined(left: Value, right: Value): Value {
  if (left === 'nothing') return right;
  if (right === 'nothing') return left;
  return left !== undefined && left.shape === right?.shape ? left : undefined;
}
