/*
 * What one run of a script has read of its objects: fills in what a later step says of them, and shows each as it may be compared
 * with what another server says. A part of api-run.ts.
 */
import type { ObjectMeta, PatchOperation } from '../../../bridge/ports.ts';

/** What the bridge's metadata-only answers have. */
const META = [
  ...['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'labels', 'annotations', 'finalizers'],
] as const;
/** How objects are called by which a watch is seen to have shown all before. */
export const FENCE = 'fence-';
const FILLED_IN = /\{(uid|version|first version) of ([\w-]+)\}/;

type Identity = Pick<ObjectMeta, 'uid' | 'resourceVersion'>;

/** The objects of one run. */
export class KnownObjects {
  readonly #unit: string;
  /** By name, what was read, oldest first. */
  readonly #read = new Map<string, Identity[]>();
  #highest = 0;

  /** `unit` is the namespace, and stands before the names of what has none. */
  constructor(unit: string) {
    this.#unit = unit;
  }

  /** As it was read last. */
  last(name: string): Identity | undefined {
    return this.#read.get(name)?.at(-1);
  }

  /** As it was read first. */
  first(name: string): Identity | undefined {
    return this.#read.get(name)?.at(0);
  }

  /** Whether a version is at least as new as all that was read. */
  isFresh(version: string): boolean {
    return Number(version) >= this.#highest;
  }

  /** Whether an object is one of this run. */
  isOurs({ name, namespace }: ObjectMeta): boolean {
    if (name.startsWith(FENCE)) return false;
    return namespace === this.#unit || name.startsWith(`${this.#unit}-`);
  }

  /** The operation with what was read in the place of what stands in braces. */
  filled(operation: PatchOperation): PatchOperation {
    if (operation.op === 'remove' || typeof operation.value !== 'string') return operation;
    const value = operation.value.replace(FILLED_IN, (_, what: string, name: string) => {
      if (what === 'uid') return this.last(name)?.uid ?? '';
      return (what === 'version' ? this.last(name) : this.first(name))?.resourceVersion ?? '';
    });
    return { ...operation, value };
  }

  /** Metadata as a list, a watch or a patch brought it. */
  meta(meta: ObjectMeta): unknown {
    const own = Object.fromEntries(META.map((field) => [field, meta[field]]));
    const name = this.#bare(meta.name);
    this.#note(name, meta);
    return { ...own, name, ...(meta.namespace === undefined ? {} : { namespace: 'its own' }) };
  }

  /** A whole object; what the server writes down about its writers is left out. */
  whole(name: string, object: unknown): unknown {
    const { metadata, ...rest } = Object(object);
    const { managedFields: _, ...own } = Object(metadata);
    this.#note(name, own);
    return { ...rest, metadata: { ...own, name: this.#bare(own.name), namespace: own.namespace && 'its own' } };
  }

  #bare(name: string): string {
    return name.startsWith(`${this.#unit}-`) ? name.slice(this.#unit.length + 1) : name;
  }

  #note(name: string, meta: Identity): void {
    this.#read.set(name, [...(this.#read.get(name) ?? []), meta]);
    this.#highest = Math.max(this.#highest, Number(meta.resourceVersion));
  }
}
