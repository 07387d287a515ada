/*
 * Which namespaces a bridge serves: all of them, or those that its configuration names, and those that it is leaving. Pure.
 * Where some are named a kind is watched and listed once in each of them, and nothing outside of them is ever asked for.
 * Used by watches.ts, intake.ts, inbox.ts, census.ts, rule-rights.ts and rule-enforcing.ts.
 */
import { kindKey } from './kind-key.ts';
import type { KindRef, ObjectMeta, Watched } from './ports.ts';

/** The namespaces that are served. */
export interface Served {
  /** undefined: the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  /** Those that are being left: what is pending there goes on, entries come off live objects, and none is put on. */
  readonly leaving: readonly string[];
}

/** The whole cluster. */
export const EVERYWHERE: Served = { namespaces: undefined, leaving: [] };

/** Every namespace that is looked into, once; undefined when all are. */
export function lookedInto({ namespaces, leaving }: Served): readonly string[] | undefined {
  return namespaces === undefined ? undefined : [...new Set([...namespaces, ...leaving])];
}

/** What has to be watched, or listed, to see a whole kind. */
export function watchedOf(served: Served, { group, version, resource }: KindRef): readonly Watched[] {
  const kind = { group, version, resource };
  return lookedInto(served)?.map((namespace) => ({ ...kind, namespace })) ?? [kind];
}

/** One string per watch. */
export function watchedKey(watched: Watched): string {
  const { namespace = '', name } = watched;
  const place = name === undefined ? namespace : `${namespace}/${name}`;
  return place === '' ? kindKey(watched) : `${kindKey(watched)}@${place}`;
}

/** Whether a watch shows an object of its kind with this metadata. */
export function shows({ namespace }: Watched, meta: Pick<ObjectMeta, 'namespace'>): boolean {
  return namespace === undefined || namespace === meta.namespace;
}

/** Whether a bridge looks where an object is; what is in no namespace is seen only where the whole cluster is served. */
export function isLookedInto(served: Served, { namespace }: Pick<ObjectMeta, 'namespace'>): boolean {
  return lookedInto(served)?.some((one) => one === namespace) !== false;
}

/** Whether the namespace of an object is being left. */
export function isLeaving({ leaving }: Served, { namespace }: Pick<ObjectMeta, 'namespace'>): boolean {
  return leaving.some((left) => left === namespace);
}

/** The kind alone. */
export function kindOf(watched: Watched): KindRef {
  const { group, version, resource } = watched;
  return watched.namespace === undefined && watched.name === undefined ? watched : { group, version, resource };
}
