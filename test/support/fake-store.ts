/*
 * What the fake API server keeps: objects, versions, what happened, lists that are not read to their end. What it does to an object
 * that is written is what the model of the simulation does, and so what real servers were seen to do (docs/simulation.md). Used by
 * fake-cluster.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  ApiError,
  type KindRef,
  type KubeObject,
  type ListPage,
  type ObjectMeta,
  type PageWanted,
  type Watched,
} from '../../bridge/ports.ts';
import { ListPages } from '../simulation/list-pages.ts';
import { birthRefusal, counted, lastWordOn, refusalOf, tidied } from '../simulation/object-rules.ts';
import { storedRefusal } from '../simulation/size-limits.ts';
import { type Happening, isWithin, keyOf, typeOf } from './stored-object.ts';

/** The storage of one fake API server. */
export class FakeStore {
  /** Called after every write. */
  onWrite = () => {};
  readonly #objects = new Map<string, KubeObject>();
  readonly #past: Happening[] = [];
  readonly #pages = new ListPages();
  #version = 100;

  get version(): number {
    return this.#version;
  }

  get(kind: Watched, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(kind, name));
  }

  /** The objects that a list or watch shows, in the order of their names. */
  shown(kind: Watched): readonly KubeObject[] {
    const prefix = `${typeOf(kind)}/`;
    const place = ({ namespace = '', name }: ObjectMeta) => `${namespace}/${name}`;
    return [...this.#objects]
      .filter(([key, { metadata }]) => key.startsWith(prefix) && isWithin(kind, metadata))
      .map(([, object]) => object)
      .toSorted(({ metadata: one }, { metadata: other }) => (place(one) < place(other) ? -1 : 1));
  }

  /** @throws ApiError 410 for a page of a list that is not known. */
  page(kind: Watched, wanted: PageWanted): ListPage {
    return this.#pages.read(wanted, () => ({ all: this.shown(kind), version: this.#version }));
  }

  /** What a watch is told next, after a version. */
  next(kind: Watched, seen: number): Happening | undefined {
    return this.#past.find(
      ({ version, type, frame }) => version > seen && type === typeOf(kind) && isWithin(kind, frame.meta),
    );
  }

  /**
   * Writes an object, new or over the one of that name.
   * @throws ApiError with the status of a write that is refused.
   */
  put(path: Watched & { readonly name: string }, wanted: KubeObject): KubeObject {
    const { name } = path;
    const before = this.get(path, name);
    const object = tidied(wanted);
    // A write that changes nothing is none.
    if (before !== undefined && isDeepStrictEqual(before, object)) return structuredClone(before);
    refuse(name, before === undefined ? birthRefusal(object) : refusalOf(before, object));
    const after = counted(path, before, object);
    if (before !== undefined && isOver(after)) {
      this.#remove(path, before);
      return structuredClone(after);
    }
    refuse(name, storedRefusal(after));
    return structuredClone(this.#store(path, before, after));
  }

  /** DELETE: marks an object with finalizers, removes one without; nothing where it is marked already. */
  delete(kind: Watched, name: string, mark: Partial<ObjectMeta>): void {
    const before = this.get(kind, name);
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return;
    const marked = { ...before, metadata: { ...before.metadata, deletionGracePeriodSeconds: 0, ...mark } };
    if (isOver(marked)) this.#remove(kind, before);
    else this.#store(kind, before, counted(kind, before, marked));
  }

  /** Another object in the place of one that is gone, otherwise the same. */
  succeed(kind: Watched, name: string, uid: string): void {
    const before = this.get(kind, name);
    if (before === undefined) throw new Error(`following ${name}: it is not there`);
    this.#remove(kind, before);
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = before.metadata;
    this.#store(kind, undefined, counted(kind, undefined, { ...before, metadata: { ...metadata, uid } }));
  }

  /** What no write does: an object as it is given, under whatever generation, as storage that was restored has it. */
  restore(kind: Watched, object: KubeObject): void {
    this.#store(kind, this.get(kind, object.metadata.name), object);
  }

  #store(kind: Watched, before: KubeObject | undefined, { metadata, ...fields }: KubeObject): KubeObject {
    this.#version += 1;
    const after = { ...fields, metadata: { ...metadata, resourceVersion: String(this.#version) } };
    this.#objects.set(keyOf({ ...kind, namespace: metadata.namespace }, metadata.name), after);
    this.#tell(kind, { type: 'present', meta: after.metadata, isAdded: before === undefined });
    return after;
  }

  #remove(kind: Watched, before: KubeObject): void {
    this.#version += 1;
    this.#objects.delete(keyOf({ ...kind, namespace: before.metadata.namespace }, before.metadata.name));
    this.#tell(kind, { type: 'deleted', meta: lastWordOn(before, this.#version).metadata });
  }

  #tell(kind: KindRef, frame: Happening['frame']): void {
    this.#past.push({ version: this.#version, type: typeOf(kind), frame });
    this.onWrite();
  }
}

function refuse(name: string, status: number | undefined): void {
  if (status !== undefined) throw new ApiError(`writing ${name}`, status);
}

function isOver({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
}
