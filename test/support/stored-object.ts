/*
 * How the fake API server keeps objects: keys by kind and name, what a subresource lets through, generations, what calls ask for.
 * Pure; used by fake-cluster.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KindRef, KubeObject, ObjectMeta, PatchOperation, Watched, WatchFrame } from '../../bridge/ports.ts';
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

/** Only this one has a status subresource, as its definition says. */
const RULES = 'finalizer-bridge.dev/teardownrules';

/** A kind whatever its version: an object can be had in any. */
export function typeOf({ group, resource }: Pick<KindRef, 'group' | 'resource'>): string {
  return `${group}/${resource}`;
}

export function isRules(kind: KindRef): boolean {
  return typeOf(kind) === RULES;
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

interface Write {
  readonly before: KubeObject;
  readonly after: KubeObject;
  readonly subresource: 'status' | undefined;
}

/** What of a patched object is stored: only the status through the subresource, and without it everything else. */
export function throughSubresource(kind: KindRef, { before, after, subresource }: Write): KubeObject {
  if (!isRules(kind)) return after;
  const { status: _, ...rest } = subresource === 'status' ? before : after;
  const { status } = subresource === 'status' ? after : before;
  return status === undefined ? rest : { ...rest, status };
}

/** A generation counts the changes of a spec. */
export function generationMoved(before: KubeObject | undefined, after: KubeObject): KubeObject {
  const { metadata } = after;
  if (before === undefined || !('generation' in metadata) || isDeepStrictEqual(before.spec, after.spec)) return after;
  const moved: ObjectMeta & { readonly generation: number } = {
    ...metadata,
    generation: Number(metadata.generation) + 1,
  };
  return { ...after, metadata: moved };
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
