/*
 * One string per kind: a key for maps, and the name that people know.
 * Pure; used wherever state is kept per kind, or one is named.
 */
import type { KindRef } from './ports.ts';

/** `group/version/resource`; the group of core is empty. */
export function kindKey({ group, version, resource }: KindRef): string {
  return `${group}/${version}/${resource}`;
}

/** The kind as Kubernetes writes it: `buckets.storage.example.com`, for core only `configmaps`. */
export function kindName({ group, resource }: Pick<KindRef, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}
