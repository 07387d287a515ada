/*
 * Canonical JSON (RFC 8785) and the digests built on it.
 * Called wherever two sides must agree on bytes: request bodies, target digests, rule digests, request ids.
 * ECMAScript's own number and string serialisation is the one RFC 8785 prescribes, so only key order is ours.
 */
import { hash } from 'node:crypto';

/** A JSON value as it is read or written; numbers are IEEE doubles. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Serialises a JSON value with keys sorted by UTF-16 code units and no white space.
 * Properties whose value is `undefined` are left out, as `JSON.stringify` does.
 * @throws TypeError for what JSON cannot carry (NaN, infinities, functions, `undefined` in a list).
 */
export function canonicalJson(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : sorted(value);
}

/** Whether `JSON.stringify` gives the canonical text. It is many times faster, so what is made here has its keys in order. */
function isInOrder(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      if (value === null) return true;
      return Array.isArray(value) ? value.every(isInOrder) : isPlain(value) && hasKeysInOrder(value);
    default:
      return false;
  }
}

/** Not what says of itself how it is written, as a date does. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function hasKeysInOrder(value: Readonly<Record<string, unknown>>): boolean {
  let last = '';
  for (const key in value) {
    if (key < last || !isInOrder(value[key])) return false;
    last = key;
  }
  return true;
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => sorted(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return single(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`);
  return `{${members.join(',')}}`;
}

function single(value: unknown): string {
  if (isInOrder(value)) return JSON.stringify(value);
  throw new TypeError(
    `serialising canonical JSON: ${typeof value === 'number' ? value : typeof value} is not a JSON value`,
  );
}

/** SHA-256 over the UTF-8 bytes of a string, as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Size in UTF-8 bytes, the unit of every size limit in the protocol. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}
