/*
 * JSON Patch (RFC 6902) as the API server applies it: `test`, `add`, `replace`, `remove`, all or nothing, with what its library
 * has of its own: `replace` of nothing adds. Called by api-server.ts for every PATCH. Works on plain JSON; the document that is
 * given is never changed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PatchOperation } from '../../bridge/ports.ts';

/** A patch that cannot be applied; the server answers 422. */
export class PatchFailed extends Error {
  override readonly name = 'PatchFailed';
}

/**
 * Applies a patch to a copy.
 * @throws PatchFailed at the first operation that fails; nothing of the patch counts then.
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const copy = copyOf(document);
  for (const operation of operations) applyOne(copy, operation);
  return copy;
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

function applyOne(document: unknown, operation: PatchOperation): void {
  const tokens = operation.path.split('/').slice(1).map(unescapeToken);
  const last = tokens.pop();
  const parent = tokens.reduce(child, document);
  if (last === undefined) throw new PatchFailed(`${operation.op} of the whole document`);
  if (typeof parent !== 'object' || parent === null) throw missing(operation);
  if (Array.isArray(parent)) inList(parent, last, operation);
  else inMap(parent, last, operation);
}

function inMap(parent: object, last: string, operation: PatchOperation): void {
  const exists = Object.hasOwn(parent, last);
  switch (operation.op) {
    case 'test':
      // What is not there passes for null.
      if (!isDeepStrictEqual(exists ? Reflect.get(parent, last) : null, operation.value)) throw failed(operation);
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
      if (!isDeepStrictEqual(list[index], operation.value)) throw failed(operation);
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
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function missing({ op, path }: PatchOperation): PatchFailed {
  return new PatchFailed(`${op} ${path}: there is nothing`);
}

function failed({ path }: PatchOperation): PatchFailed {
  return new PatchFailed(`test ${path}: another value`);
}
