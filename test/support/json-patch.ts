/*
 * JSON patch (RFC 6902) as an API server applies it: all operations or none. Only what the bridge writes.
 * Used by the fake cluster and by the tests of the patches themselves; written apart from the code that makes patches.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PatchOperation } from '../../bridge/ports.ts';

/** What an API server answers 422 to. */
export class PatchFailed extends Error {}

/**
 * Applies operations to a copy of a document.
 * @throws PatchFailed when a test fails or a path leads nowhere
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const copy = structuredClone(document);
  for (const operation of operations) applyOne(copy, operation);
  return copy;
}

function applyOne(document: unknown, operation: PatchOperation): void {
  const steps = operation.path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop();
  if (last === undefined) throw new PatchFailed('the whole document cannot be patched');
  let container = document;
  for (const step of steps) container = valueAt(containerOf(container), step);
  const place = containerOf(container);
  switch (operation.op) {
    case 'test':
      if (!isDeepStrictEqual(valueAt(place, last), operation.value)) throw new PatchFailed(`test ${operation.path}`);
      return;
    case 'replace':
      valueAt(place, last);
      put(place, last, operation.value);
      return;
    case 'add':
      if (Array.isArray(place)) insert(place, last, operation.value);
      else put(place, last, operation.value);
      return;
    case 'remove':
      valueAt(place, last);
      if (Array.isArray(place)) place.splice(Number(last), 1);
      else Reflect.deleteProperty(place, last);
      return;
    default:
      operation satisfies never;
  }
}

function insert(list: unknown[], step: string, value: unknown): void {
  const index = step === '-' ? list.length : Number(step);
  if (!Number.isInteger(index) || index < 0 || index > list.length) throw new PatchFailed(`no place ${step}`);
  list.splice(index, 0, value);
}

function put(place: object, step: string, value: unknown): void {
  Reflect.set(place, step, value);
}

function valueAt(place: object, step: string): unknown {
  if (!Object.hasOwn(place, step)) throw new PatchFailed(`nothing at ${step}`);
  return Reflect.get(place, step);
}

function containerOf(value: unknown): object {
  if (typeof value === 'object' && value !== null) return value;
  throw new PatchFailed('a path through something that holds nothing');
}
