/*
 * JSON Patch (RFC 6902) as the API server applies it: `test`, `add`, `replace`, `remove`, all or nothing, with what its library
 * has of its own: `replace` of nothing adds. Called by api-server.ts for every PATCH. Works on plain JSON; the document that is
 * given is never changed.
 */
import type { PatchOperation } from '../../bridge/ports.ts';

/** A patch that cannot be applied; the server answers 422. */
export class PatchFailed extends Error {
  override readonly name = 'PatchFailed';
}

/**
 * Applies a patch. What it changes is copied, with all that it lies in; the rest is shared with the document that was given.
 * @throws PatchFailed at the first operation that fails; nothing of the patch counts then.
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const draft = { document };
  const copies = new Set<object>([draft]);
  for (const operation of operations) applyOne(draft, operation, copies);
  return draft.document;
}

/** A deep copy of plain JSON; much faster than one that may be of anything. */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => copyOf(member));
  const copy: Record<string, unknown> = {};
  for (const key in value) copy[key] = copyOf(Reflect.get(value, key));
  return copy;
}

/** Whether two pieces of plain JSON say the same; at once where they are one. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSame(Reflect.get(one, key), Reflect.get(other, key)));
}

/** `copies`: what this patch has copied already, and may change. */
function applyOne(draft: { readonly document: unknown }, operation: PatchOperation, copies: Set<object>): void {
  const tokens = operation.path.split('/').slice(1).map(unescapeToken);
  const last = tokens.pop();
  if (last === undefined) throw new PatchFailed(`${operation.op} of the whole document`);
  let parent: object = draft;
  for (const token of ['document', ...tokens]) {
    const inner = child(parent, token);
    if (typeof inner !== 'object' || inner === null) throw missing(operation);
    const isCopied = operation.op === 'test' || copies.has(inner);
    const next = isCopied ? inner : Array.isArray(inner) ? [...inner] : { ...inner };
    if (!isCopied) Reflect.set(parent, token, next);
    if (!isCopied) copies.add(next);
    parent = next;
  }
  if (Array.isArray(parent)) inList(parent, last, operation);
  else inMap(parent, last, operation);
}

function inMap(parent: object, last: string, operation: PatchOperation): void {
  const exists = Object.hasOwn(parent, last);
  switch (operation.op) {
    case 'test':
      // What is not there passes for null.
      if (!isSame((exists ? Reflect.get(parent, last) : undefined) ?? null, operation.value)) throw failed(operation);
      return;
    case 'replace':
    case 'add':
      Reflect.set(parent, last, copyOf(operation.value));
      return;
    case 'remove':
      if (!exists) throw missing(operation);
      Reflect.deleteProperty(parent, last);
      return;
    default:
      operation satisfies never;
  }
}

function inList(list: unknown[], token: string, operation: PatchOperation): void {
  const length = operation.op === 'add' ? list.length + 1 : list.length;
  const place = token === '-' && operation.op === 'add' ? list.length : Number(token);
  // From the end, as no standard has it.
  const index = place < 0 ? place + length : place;
  if (!/^(-|-?\d+)$/.test(token) || !(index >= 0 && index < length)) throw missing(operation);
  switch (operation.op) {
    case 'test':
      if (!isSame(list[index], operation.value)) throw failed(operation);
      return;
    case 'replace':
      list[index] = copyOf(operation.value);
      return;
    case 'add':
      list.splice(index, 0, copyOf(operation.value));
      return;
    case 'remove':
      list.splice(index, 1);
      return;
    default:
      operation satisfies never;
  }
}

function child(parent: unknown, token: string): unknown {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, token)) return undefined;
  return Reflect.get(parent, token);
}

function unescapeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

function missing({ op, path }: PatchOperation): PatchFailed {
  return new PatchFailed(`${op} ${path}: there is nothing`);
}

function failed({ path }: PatchOperation): PatchFailed {
  return new PatchFailed(`test ${path}: another value`);
}
