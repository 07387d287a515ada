/*
 * How the fake API server keeps objects: keys by kind and name, what happened to them, what calls ask for. Pure; used by
 * fake-cluster.ts and fake-store.ts, and by the model of the simulation.
 */
import type { KindRef, ObjectMeta, PatchOperation, Watched, WatchFrame } from '../../bridge/ports.ts';
import { RIGHTS_BINDING } from '../../bridge/rights-binding.ts';

/** What watches read: a write, by the version that it made. */
export interface Happening {
  readonly version: number;
  readonly type: string;
  readonly frame: Exclude<WatchFrame, { type: 'bookmark' | 'opened' }>;
}

/** A call as it came in. */
export interface Call {
  readonly verb: 'get' | 'patch' | 'list' | 'watch' | 'event';
  readonly name: string;
  readonly operations?: readonly PatchOperation[];
  /** Of reads, writes, lists and watches. */
  readonly kind?: Watched;
  readonly subresource?: 'status';
}

/** A kind whatever its version: an object can be had in any. */
export function typeOf({ group, resource }: Pick<KindRef, 'group' | 'resource'>): string {
  return `${group}/${resource}`;
}

/** What has the same name in each namespace; all other names are unique within a kind. */
const PER_NAMESPACE = `${RIGHTS_BINDING.group}/${RIGHTS_BINDING.resource}`;

export function keyOf(kind: Watched, name: string): string {
  const within = typeOf(kind) === PER_NAMESPACE ? `${kind.namespace}/` : '';
  return `${typeOf(kind)}/${within}${name}`;
}

export function kindWord({ resource }: KindRef): string {
  return resource === 'buckets' ? 'Bucket' : resource;
}

/** What a list or watch asks for, widest first: the kind, and its part in a namespace or of a name, `*` for all of it. */
export function asksFor(watched: Watched): readonly string[] {
  const place = watched.namespace ?? watched.name;
  return [typeOf(watched), `${typeOf(watched)}@${place ?? '*'}`];
}

/** Whether a list or watch shows an object of its kind. */
export function isWithin({ namespace, name }: Watched, meta: ObjectMeta): boolean {
  return (namespace === undefined || meta.namespace === namespace) && (name === undefined || meta.name === name);
}
