/*
 * What the API server says, decoded: object metadata, watch lines, list pages, whole objects. Pure.
 * Called by cluster.ts on every answer; nothing of it is trusted before a schema or object-meta.ts has seen it.
 */
import * as z from 'zod/mini';
import { metaOf, metaWithManagersOf, wholeObject } from './object-meta.ts';
import type { KindRef, KubeObject, ListPage, ObjectMeta, ObjectPath } from './ports.ts';

const strings = z.record(z.string(), z.string());

const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.optional(z.string()), continue: z.optional(z.string()) }),
  items: z.nullish(z.array(z.unknown())),
});
const bookmarkSchema = z.object({
  metadata: z.object({ resourceVersion: z.string(), annotations: z.optional(strings) }),
});
const statusSchema = z.object({
  code: z.optional(z.int()),
  reason: z.optional(z.string()),
  message: z.optional(z.string()),
  details: z.optional(z.object({ retryAfterSeconds: z.optional(z.number()) })),
});
const lineSchema = z.object({ type: z.string(), object: z.unknown() });

/** The annotation of the bookmark that ends a streaming list. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const OUR_ANNOTATIONS = /^(?:[a-z]+\.)?finalizer-bridge\.dev\//;

/** What one line of a watch is. */
export type WatchLine =
  | { readonly type: 'present'; readonly meta: ObjectMeta; readonly isAdded: boolean }
  | { readonly type: 'deleted'; readonly meta: ObjectMeta }
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly synced: boolean }
  | {
      readonly type: 'error';
      readonly code: number;
      readonly message: string;
      readonly retryAfter: number | undefined;
    };

/** Decodes a line of a watch. Throws on what no API server sends. */
export function watchLine(text: string): WatchLine {
  const { type, object } = lineSchema.parse(JSON.parse(text));
  switch (type) {
    case 'ADDED':
      return { type: 'present', meta: metaWithManagersOf(object), isAdded: true };
    case 'MODIFIED':
      return { type: 'present', meta: metaOf(object), isAdded: false };
    case 'DELETED':
      return { type: 'deleted', meta: metaOf(object) };
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = bookmarkSchema.parse(object).metadata;
      return { type: 'bookmark', resourceVersion, synced: annotations?.[INITIAL_EVENTS_END] === 'true' };
    }
    default: {
      const status = statusSchema.parse(object);
      const seconds = status.details?.retryAfterSeconds;
      const retryAfter = seconds === undefined ? undefined : seconds * 1000;
      return { type: 'error', code: status.code ?? 500, message: status.message ?? type, retryAfter };
    }
  }
}

/** Decodes an object's metadata (PartialObjectMetadata or a whole object). */
export function decodeMeta(body: unknown): ObjectMeta {
  return metaOf(body);
}

/** Decodes a whole object, with all its fields kept. */
export function decodeObject(body: unknown): KubeObject {
  return wholeObject(body);
}

/** Decodes a page of a metadata-only list. */
export function decodeList(body: unknown): ListPage {
  const { metadata, items } = listSchema.parse(body);
  return {
    items: (items ?? []).map(metaOf),
    resourceVersion: metadata.resourceVersion ?? '',
    ...(metadata.continue ? { next: metadata.continue } : {}),
  };
}

/** The metadata that a pending deletion keeps: without labels, and with our own annotations only. */
export function trimmed(meta: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp, finalizers } = meta;
  const ours = Object.entries(meta.annotations ?? {}).filter(([key]) => OUR_ANNOTATIONS.test(key));
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    deletionTimestamp: meta.deletionTimestamp,
    deletionGracePeriodSeconds: meta.deletionGracePeriodSeconds,
    finalizers,
    // Kept as an empty map when all are foreign: a patch must know whether there is a map to add to.
    annotations: meta.annotations === undefined ? undefined : Object.fromEntries(ours),
  };
}

/** An object without its content: what it is called, and the metadata that a pending deletion keeps. */
export function slimmed({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: trimmed(metadata) };
}

/** The API path of a kind, in a namespace or across all. */
export function kindPath({ group, version, resource }: KindRef, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === undefined
    ? `${root}/${resource}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

/** The API path of an object. */
export function apiPath(path: ObjectPath): string {
  return `${kindPath(path, path.namespace)}/${encodeURIComponent(path.name)}`;
}

/** Whether a resourceVersion is known to be older than another (both decimal, as etcd gives them). */
export function isOlder(left: string, right: string): boolean {
  if (!/^\d+$/.test(left) || !/^\d+$/.test(right)) return false;
  return left.length === right.length ? left < right : left.length < right.length;
}
