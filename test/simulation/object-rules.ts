/*
 * What an API server does to every object that it stores, whoever writes it: what it refuses, leaves out, and counts. Called by
 * api-server.ts. Each of these was seen on a real one (test/e2e/agreement-api.test.ts).
 */
import type { KindRef, KubeObject } from '../../bridge/ports.ts';
import { RULE_GROUP } from '../../bridge/rule-facts.ts';
import { decodeObject } from '../../bridge/wire.ts';
import type { NewObject } from './api-server.ts';
import { copyOf, isSame } from './json-patch.ts';
import { objectRefusal, storedRefusal } from './size-limits.ts';

/** Keys and values of all annotations together, in bytes. */
const ANNOTATIONS_MAX_BYTES = 256 * 1024;
/** Most that a unit of UTF-16 takes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;
/** Fields that no update may change, with the status of whoever tries. */
const FIXED = { name: 400, resourceVersion: 409, uid: 422, creationTimestamp: 422, deletionTimestamp: 422 } as const;
const LISTS = ['finalizers', 'labels', 'annotations'] as const;

/** All of it; a server with others is a mistaken one, as its tests make to see that they would notice. */
export interface ObjectRules {
  readonly tidied: typeof tidied;
  readonly refusalOf: typeof refusalOf;
  readonly storedRefusal: typeof storedRefusal;
  readonly keepingStatus: typeof keepingStatus;
  readonly counted: typeof counted;
  readonly lastWordOn: typeof lastWordOn;
  /** The version of the next write. */
  versionAfter(version: number): number;
}

/** Whether the status of a kind is a resource of its own, as that of rules is, and not part of the object. */
export function hasOwnStatus({ group }: Pick<KindRef, 'group'>): boolean {
  return group === RULE_GROUP;
}

/** A new object, as it is before it has a version. */
export function bornFrom(
  { path, apiVersion, kind, fields, ...meta }: NewObject,
  given: { readonly uid: string; readonly creationTimestamp: string },
): KubeObject {
  const { status, ...others } = fields;
  return decodeObject({
    ...copyOf(others),
    ...(hasOwnStatus(path) || status === undefined ? {} : { status: copyOf(status) }),
    apiVersion,
    kind,
    metadata: {
      name: path.name,
      ...(path.namespace === undefined ? {} : { namespace: path.namespace }),
      ...copyOf(meta),
      ...given,
      resourceVersion: '',
    },
  });
}

/** The status with which a new object is refused; undefined when it is taken. */
export function birthRefusal(object: KubeObject): number | undefined {
  return objectRefusal(object) ?? (isOverLimit(object) ? 422 : storedRefusal(object));
}

/** Leaves out lists and maps in which there is nothing. */
export function tidied(object: KubeObject): KubeObject {
  const empty = LISTS.filter((field) => isEmpty(object.metadata[field]));
  if (empty.length === 0) return object;
  const metadata = { ...object.metadata };
  for (const field of empty) delete metadata[field];
  return { ...object, metadata };
}

/** The status with which an update is refused; undefined when it is taken. */
export function refusalOf(before: KubeObject, after: KubeObject): number | undefined {
  for (const [field, status] of Object.entries(FIXED)) {
    if (Reflect.get(before.metadata, field) !== Reflect.get(after.metadata, field)) return status;
  }
  const isDeleting = before.metadata.deletionTimestamp !== undefined;
  const had = new Set(before.metadata.finalizers);
  if (isDeleting && (after.metadata.finalizers ?? []).some((entry) => !had.has(entry))) return 422;
  return isOverLimit(after) ? 422 : undefined;
}

/** Whether the annotations are larger than any object may have. */
function isOverLimit({ metadata: { annotations = {} } }: KubeObject): boolean {
  const texts = Object.entries(annotations).flat();
  const units = texts.reduce((sum, { length }) => sum + length, 0);
  if (units * BYTES_PER_UNIT_MAX <= ANNOTATIONS_MAX_BYTES) return false;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > ANNOTATIONS_MAX_BYTES;
}

/** Where the status is a resource of its own, nothing else writes it. */
export function keepingStatus(kind: KindRef, before: KubeObject, after: KubeObject): KubeObject {
  if (!hasOwnStatus(kind) || before.status === after.status) return after;
  const { apiVersion, metadata, kind: name, status: _, ...others } = after;
  return {
    ...others,
    apiVersion,
    kind: name,
    metadata,
    ...(before.status === undefined ? {} : { status: before.status }),
  };
}

/** The generation counts what changes beside the metadata, and that the object is to go. */
export function counted(kind: KindRef, before: KubeObject | undefined, after: KubeObject): KubeObject {
  const last = before === undefined ? 0 : Number(Reflect.get(before.metadata, 'generation'));
  const generation = last + (before === undefined || isAnother(kind, before, after) ? 1 : 0);
  if (Reflect.get(after.metadata, 'generation') === generation) return after;
  return { ...after, metadata: Object.assign({}, after.metadata, { generation }) };
}

/** What watches are told of an object that is gone: as it was last stored, with the version of its end. */
export function lastWordOn(before: KubeObject, version: number): KubeObject {
  return { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
}

/** As real servers have them. */
export const OBJECT_RULES: ObjectRules = {
  ...{ tidied, refusalOf, storedRefusal, keepingStatus, counted, lastWordOn },
  versionAfter: (version) => version + 1,
};

function isAnother(kind: KindRef, before: KubeObject, after: KubeObject): boolean {
  if (before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp) return true;
  if (!isSame(before.spec, after.spec)) return true;
  return !hasOwnStatus(kind) && !isSame(before.status, after.status);
}

function isEmpty(value: object | undefined): boolean {
  if (value === undefined) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
