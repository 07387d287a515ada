/*
 * How much an API server takes: of one call, and of one object to store. Called by api-server.ts for every write, and by the fake of
 * the unit tests. Each was seen on a real one (test/e2e/agreement-api.test.ts).
 */
import { patchBody } from '../../bridge/patch-body.ts';
import type { KubeObject, PatchOperation } from '../../bridge/ports.ts';

const MIB = 1024 * 1024;
/** The body of a call. */
const CALL_MAX_BYTES = 3 * MIB;
const OPERATIONS_MAX = 10_000;
/** What etcd takes of one call, nearly all of which is the object. */
const STORED_MAX_BYTES = 1.5 * MIB;
/** Most that a unit of UTF-16 takes in JSON: `\u0000`. */
const BYTES_PER_UNIT_MAX = 6;
/** Most that a number takes, or the marks beside a member. */
const BYTES_PER_MEMBER_MAX = 32;

/** The status with which a patch is refused, in part before anybody looks whether its object is there; undefined when it is not. */
export function patchRefusal(operations: readonly PatchOperation[], isThere: boolean): number | undefined {
  if (isLarger(operations, CALL_MAX_BYTES, () => patchBody(operations))) return 413;
  return isThere && operations.length > OPERATIONS_MAX ? 413 : undefined;
}

/** The status with which an object is refused that somebody sends whole. */
export function objectRefusal(object: KubeObject): number | undefined {
  return isLarger(object, CALL_MAX_BYTES, () => JSON.stringify(object)) ? 413 : undefined;
}

/** The status with which an object is refused that etcd does not store: it is the server's own fault, as it tells it. */
export function storedRefusal(object: KubeObject): number | undefined {
  return isLarger(object, STORED_MAX_BYTES, () => JSON.stringify(object)) ? 500 : undefined;
}

/** Writes out only what may be so large: this is asked at every write. */
function isLarger(value: unknown, limit: number, written: () => string): boolean {
  return atMost(value, limit) > limit && Buffer.byteLength(written()) > limit;
}

/** Bytes that plain JSON takes at most; no longer counted once they are more than the limit. */
function atMost(value: unknown, limit: number): number {
  if (typeof value === 'string') return BYTES_PER_MEMBER_MAX + value.length * BYTES_PER_UNIT_MAX;
  if (typeof value !== 'object' || value === null) return BYTES_PER_MEMBER_MAX;
  let bytes = BYTES_PER_MEMBER_MAX;
  for (const name in value) {
    bytes += name.length * BYTES_PER_UNIT_MAX + atMost(Reflect.get(value, name), limit);
    if (bytes > limit) break;
  }
  return bytes;
}
