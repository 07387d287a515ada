/*
 * The syntax tree of an expression: walking it, what it reads of the object, and which functions it may call.
 * Used by cel.ts between parsing and type-checking. The engine's nodes are looked at structurally: of a macro it keeps
 * the expansion beside the call, so a walk goes through both.
 */

/** A node of the engine's tree, as far as it is used here. `handle` appears when the node has been type-checked. */
export interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly input: string;
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
  handle?: unknown;
}

/**
 * What an expression may call: only what the API server's CEL has too, so that one text means one thing everywhere.
 * Bytes, unsigned ints and durations are left out: no field of an object is one, and none can be a result.
 */
export const ALLOWED: ReadonlySet<string> = new Set([
  ...['has', 'all', 'exists', 'exists_one', 'map', 'filter', 'size', 'type', 'dyn', 'string', 'int', 'double', 'bool'],
  ...['timestamp', 'matches', 'contains', 'startsWith', 'endsWith', 'lowerAscii', 'upperAscii', 'trim', 'indexOf'],
  ...['lastIndexOf', 'substring', 'split', 'join', 'replace', 'charAt'],
  ...['orValue', 'or', 'hasValue', 'value', 'of', 'none'],
]);

/** The engine keeps maps in records and drops these keys of a literal without a word. */
const LOST_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const INT_MAX = 2n ** 63n - 1n;

/** What the engine calls with a node's evaluated operands. */
export type Handle = (this: unknown, ...operands: unknown[]) => unknown;

export function isHandle(value: unknown): value is Handle {
  return typeof value === 'function';
}

/** Whether a value is a map to the engine: a record as JSON gives it, or a Map. */
export function isMap(value: unknown): value is object {
  if (value instanceof Map) return true;
  return (
    typeof value === 'object' && value !== null && (value.constructor === Object || value.constructor === undefined)
  );
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'meta' in value && 'input' in value;
}

/** Visits every node of a tree once, expansions of macros included. */
export function walk(root: unknown, visit: (node: Node) => void): void {
  const seen = new Set<unknown>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    if (isNode(value)) {
      visit(value);
      pending.push(value.args, value.meta.alternate, value.meta.macro);
    } else if (isPlain(value)) {
      for (const inner of Object.values(value)) pending.push(inner);
    }
  }
}

/** Lists and records hold nodes; instances of the engine's classes (contexts, types, literals) do not. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** The name and arguments of a call; a method's receiver comes first. */
export function callOf(node: Node): { readonly name: string; readonly args: readonly unknown[] } | undefined {
  if ((node.op !== 'call' && node.op !== 'rcall') || !Array.isArray(node.args)) return undefined;
  const [name, ...rest]: unknown[] = node.args;
  return typeof name === 'string' ? { name, args: rest.flat() } : undefined;
}

/** A string literal's value. */
export function literalOf(node: unknown): string | undefined {
  return isNode(node) && node.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

/** What an expression must not contain, in words; undefined when all is well. */
export function refusal(root: Node): string | undefined {
  let found: string | undefined;
  const negated = new Set<unknown>();
  walk(root, (node) => {
    if (node.op === '-_') negated.add(node.args);
    found ??= faultOfCall(node) ?? faultOfLiteral(node, negated.has(node));
    if (node.op === 'comprehension' && iterationVariable(node) === 'object') {
      found ??= 'a variable of an iteration must not be called object';
    }
  });
  return found;
}

function faultOfCall(node: Node): string | undefined {
  const call = callOf(node);
  return call && !ALLOWED.has(call.name) ? `no such function: ${call.name}()` : undefined;
}

function faultOfLiteral({ op, args }: Node, isNegated: boolean): string | undefined {
  if (op === 'map')
    return Array.isArray(args) ? faultOfKeys(args.map(([key]: unknown[]) => literalOf(key))) : undefined;
  if (op !== 'value') return undefined;
  if (typeof args === 'bigint')
    return args > INT_MAX + (isNegated ? 1n : 0n) ? `${args} is too large for an int` : undefined;
  if (args instanceof Uint8Array) return 'bytes cannot be used';
  return typeof args === 'object' && args !== null ? 'unsigned ints cannot be used' : undefined;
}

function faultOfKeys(keys: readonly (string | undefined)[]): string | undefined {
  const texts = keys.filter((key) => key !== undefined);
  if (texts.length < keys.length) return 'the keys of a map must be texts in quotes';
  if (new Set(texts).size < texts.length) return 'a map must not have a key twice';
  const lost = texts.find((key) => LOST_KEYS.has(key));
  return lost === undefined ? undefined : `a map cannot have the key ${lost}`;
}

function iterationVariable({ args }: Node): unknown {
  return typeof args === 'object' && args !== null && 'iterVarName' in args ? args.iterVarName : undefined;
}

/** Points calls of the engine's functions at this project's versions of them. Before the tree is type-checked. */
export function redirectCalls(root: Node, replacements: ReadonlyMap<string, string>): void {
  walk(root, (node) => {
    const call = callOf(node);
    const replacement = call && replacements.get(call.name);
    if (replacement !== undefined && Array.isArray(node.args)) node.args[0] = replacement;
  });
}

/**
 * The paths that an expression reads of the object, longest form only, such as `object.metadata.uid`.
 * Presence tests (`has(...)`) read nothing.
 */
export function readsOf(root: Node): readonly string[] {
  const paths = new Set<string>();
  const inner = new Set<unknown>();
  walk(root, (node) => {
    if (callOf(node)?.name === 'has') walk(node, (tested) => inner.add(tested));
    if (inner.has(node)) return;
    const path = pathOf(node, inner);
    if (path !== undefined) paths.add(path.join('.'));
  });
  return [...paths].sort();
}

/** The path a chain of selections spells, marking the links of the chain so that only the longest counts. */
function pathOf(node: Node, inner: Set<unknown>): readonly string[] | undefined {
  if (node.op === 'id') return node.args === 'object' ? ['object'] : undefined;
  if (!['.', '.?', '[]', '[?]'].includes(node.op) || !Array.isArray(node.args)) return undefined;
  const [left, right]: unknown[] = node.args;
  if (!isNode(left)) return undefined;
  const key = typeof right === 'string' ? right : literalOf(right);
  const path = pathOf(left, inner);
  inner.add(left);
  return path === undefined || key === undefined ? path : [...path, key];
}
