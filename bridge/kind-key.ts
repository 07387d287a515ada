/*
 * One string per kind, for maps.
 * Pure; used wherever state is kept per kind.
 */
import type { KindRef } from './ports.ts';

/** `group/version/resource`; the group of core is empty. */
export function kindKey({ group, version, resource }: KindRef): string {
  return `${group}/${version}/${resource}`;
}
