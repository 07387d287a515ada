/*
 * Objects and their metadata as the API server sends them, decoded. Pure; called by wire.ts for every line of a watch and
 * every answer about an object. Own code and no schema: this is done five times a deletion, and for each object of a list, and
 * a schema's copies were a sixth of all garbage (docs/benchmarks.md).
 */
import type { KubeObject, ObjectMeta } from './ports.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The metadata that the bridge reads, of an object or of what carries its metadata only. Who wrote what is left out.
 * @throws TypeError naming the field that is not what it has to be
 */
export function metaOf(object: unknown): ObjectMeta {
  const metadata = metadataOf(object);
  return {
    name: text(metadata.name, 'name'),
    namespace: optional(metadata.namespace, 'namespace', text),
    uid: text(metadata.uid, 'uid'),
    resourceVersion: text(metadata.resourceVersion, 'resourceVersion'),
    creationTimestamp: text(metadata.creationTimestamp, 'creationTimestamp'),
    deletionTimestamp: optional(metadata.deletionTimestamp, 'deletionTimestamp', text),
    deletionGracePeriodSeconds: optional(metadata.deletionGracePeriodSeconds, 'deletionGracePeriodSeconds', number),
    labels: optional(metadata.labels, 'labels', texts),
    annotations: optional(metadata.annotations, 'annotations', texts),
    finalizers: optional(metadata.finalizers, 'finalizers', list),
  };
}

/** The same with who wrote what, not decoded: at-admission.ts does that of the few objects of which it says something new. */
export function metaWithManagersOf(object: unknown): ObjectMeta {
  const meta = metaOf(object);
  const { managedFields } = metadataOf(object);
  return managedFields === undefined ? meta : { ...meta, managedFields };
}

/**
 * A whole object as it came, with all its fields.
 * @throws TypeError naming what is not as it has to be
 */
export function wholeObject(body: unknown): KubeObject {
  metaOf(body);
  if (!isWhole(body)) throw new TypeError('reading an object: it does not say what kind it is');
  return body;
}

/** Called when its metadata has been read. */
function isWhole(body: unknown): body is KubeObject {
  return isFields(body) && typeof body.apiVersion === 'string' && typeof body.kind === 'string';
}

function metadataOf(object: unknown): Fields {
  const metadata = isFields(object) ? object.metadata : undefined;
  if (!isFields(metadata)) throw new TypeError('reading an object: it has no metadata');
  return metadata;
}

function optional<T>(value: unknown, field: string, read: (value: unknown, field: string) => T): T | undefined {
  return value === undefined ? undefined : read(value, field);
}

function text(value: unknown, field: string): string {
  return typeof value === 'string' ? value : refuse(field, 'no text');
}

function number(value: unknown, field: string): number {
  return typeof value === 'number' ? value : refuse(field, 'no number');
}

function texts(value: unknown, field: string): Readonly<Record<string, string>> {
  return isTexts(value) ? value : refuse(field, 'no map of texts');
}

function list(value: unknown, field: string): readonly string[] {
  return isList(value) ? value : refuse(field, 'no list of texts');
}

function refuse(field: string, what: string): never {
  throw new TypeError(`reading the metadata of an object: ${field} is ${what}`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (!isFields(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
