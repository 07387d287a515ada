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

/** What an expression may call: only what the API server's CEL has too, so that one text means one thing everywhere. */
const ALLOWED = new Set([
  ...['has', 'all', 'exists', 'exists_one', 'map', 'filter', 'size', 'type', 'dyn', 'string', 'int', 'uint', 'double'],
  ...['bool', 'bytes', 'timestamp', 'duration', 'matches', 'contains', 'startsWith', 'endsWith', 'lowerAscii'],
  ...['upperAscii', 'trim', 'indexOf', 'lastIndexOf', 'substring', 'split', 'join', 'replace', 'charAt'],
  ...['orValue', 'or', 'hasValue', 'value', 'of', 'none'],
]);

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
      pending.push(...Object.values(value));
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
  walk(root, (node) => {
    const call = callOf(node);
    if (call && !ALLOWED.has(call.name)) found ??= `no such function: ${call.name}()`;
    if (node.op === 'comprehension' && iterationVariable(node) === 'object') {
      found ??= 'a variable of an iteration must not be called object';
    }
  });
  return found;
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
