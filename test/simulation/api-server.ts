/*
 * A model of the API server's storage: uids, resourceVersions, finalizers and deletion as Kubernetes has them, JSON
 * patches, and the history that watches read. Made by world.ts; bridges reach it through cluster-port.ts, people and
 * other controllers (the scenarios) directly. Every write is told to `onWrite`, where promises.ts looks on.
 */
import {
  ApiError,
  type KindRef,
  type KubeObject,
  type ListPage,
  type ObjectPath,
  type PageWanted,
  type PatchOperation,
  type Watched,
} from '../../bridge/ports.ts';
import { isWithin } from '../support/stored-object.ts';
import type { VirtualTime } from './clock.ts';
import { applyPatch, isSame, PatchFailed } from './json-patch.ts';
import { ListPages } from './list-pages.ts';
import { birthRefusal, bornFrom, hasOwnStatus, OBJECT_RULES, type ObjectRules } from './object-rules.ts';
import { patchRefusal } from './size-limits.ts';

/** Who writes where; `operations` if it is a JSON patch. */
export interface Origin {
  readonly path: ObjectPath;
  /** The process that writes, or who else. */
  readonly by: string;
  readonly operations?: readonly PatchOperation[];
}

/** One change of one object. `after` is undefined when the object is gone with it. */
export interface Write extends Origin {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** One entry of a kind's history. */
export interface HistoryEvent {
  readonly type: 'present' | 'deleted';
  readonly resourceVersion: number;
  readonly object: KubeObject;
  /** It came with this. */
  readonly isAdded: boolean;
}

/** What an object is made from; the server adds the rest. */
export interface NewObject {
  readonly path: ObjectPath;
  readonly apiVersion: string;
  readonly kind: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

const FIRST_VERSION = 1_000;

/** What is kept of one kind. */
interface Shelf {
  readonly objects: Map<string, KubeObject>;
  /** All that ever happened, by rising version. */
  readonly past: HistoryEvent[];
  readonly listeners: Set<(write: Write) => void>;
}

/** The storage of one cluster. */
export class ApiServer {
  readonly #time: VirtualTime;
  readonly #rules: ObjectRules;
  readonly #shelves = new Map<string, Shelf>();
  readonly #listeners = new Set<(write: Write) => void>();
  #version = FIRST_VERSION;
  #compacted = FIRST_VERSION;
  #uids = 0;
  readonly #pages = new ListPages();

  constructor(time: VirtualTime, rules: Partial<ObjectRules> = {}) {
    this.#time = time;
    this.#rules = { ...OBJECT_RULES, ...rules };
  }

  get version(): number {
    return this.#version;
  }

  /** Told after every change, of one kind if it is named, until the returned function is called. */
  onWrite(listener: (write: Write) => void, kind?: KindRef): () => void {
    const listeners = kind === undefined ? this.#listeners : this.#shelfOf(kind).listeners;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  get(path: ObjectPath): KubeObject | undefined {
    return this.#shelfOf(path).objects.get(nameIn(path));
  }

  /** Whether an object of a kind is so. */
  has(kind: KindRef, isSo: (object: KubeObject) => boolean): boolean {
    return this.#shelfOf(kind).objects.values().some(isSo);
  }

  /** All objects of a kind. */
  all(kind: KindRef): readonly KubeObject[] {
    return [...this.#shelfOf(kind).objects.values()];
  }

  /**
   * A page of a list, by name; all pages of one list show the same moment.
   * @throws ApiError 410 when that moment is forgotten.
   */
  list(watched: Watched, page: PageWanted): ListPage {
    return this.#pages.read(page, () => {
      const named = [...this.#shelfOf(watched).objects].toSorted(([left], [right]) => (left < right ? -1 : 1));
      const all = named.map(([, object]) => object).filter(({ metadata }) => isWithin(watched, metadata));
      return { all, version: this.#version };
    });
  }

  create(wanted: NewObject, by: string): KubeObject {
    const { path } = wanted;
    if (this.get(path) !== undefined) throw new ApiError(`creating ${path.name}`, 409);
    this.#uids += 1;
    const uid = `00000000-0000-4000-8000-${this.#uids.toString(16).padStart(12, '0')}`;
    const object = bornFrom(wanted, { uid, creationTimestamp: this.#second() });
    refuse(`creating ${path.name}`, birthRefusal(object));
    return this.#store({ path, by }, undefined, this.#rules.tidied(object));
  }

  /** A person's or a controller's update, made from the object as it is. Undefined: there is no such object. */
  update(path: ObjectPath, by: string, change: (object: KubeObject) => KubeObject): KubeObject | undefined {
    const before = this.get(path);
    return before && this.#replace({ path, by }, before, this.#rules.keepingStatus(path, before, change(before)));
  }

  /** DELETE: at once without finalizers, otherwise the object is marked and waits for them. */
  delete(path: ObjectPath, by: string): void {
    const before = this.get(path);
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return;
    const deletion = { deletionTimestamp: this.#second(), deletionGracePeriodSeconds: 0 };
    if ((before.metadata.finalizers ?? []).length === 0) this.#remove({ path, by }, before);
    else this.#store({ path, by }, before, { ...before, metadata: { ...before.metadata, ...deletion } });
  }

  /**
   * PATCH. Undefined: there is no such object, or no such resource of its kind.
   * @throws ApiError 422 for a failed test and for what is never accepted, 413 and 500 for what is too large.
   */
  patch(
    path: ObjectPath,
    operations: readonly PatchOperation[],
    ...[by, subresource]: readonly [by: string, subresource?: 'status' | undefined]
  ): KubeObject | undefined {
    const before = this.get(path);
    refuse(`patching ${path.name}`, patchRefusal(operations, before !== undefined));
    if (before === undefined || (subresource !== undefined && !hasOwnStatus(path))) return undefined;
    try {
      const patched = applyPatch(before, operations);
      const after =
        subresource === undefined
          ? this.#rules.keepingStatus(path, before, patched)
          : { ...before, status: patched.status };
      return this.#replace({ path, by, operations }, before, after);
    } catch (error) {
      if (!(error instanceof PatchFailed)) throw error;
      throw new ApiError(`patching ${path.name}`, 422, { cause: error });
    }
  }

  /** What happened to a kind after a version; undefined when that was compacted away. */
  since(kind: KindRef, version: number): readonly HistoryEvent[] | undefined {
    if (version < this.#compacted) return undefined;
    const { past } = this.#shelfOf(kind);
    let first = past.length;
    while (first > 0 && (past[first - 1]?.resourceVersion ?? 0) > version) first -= 1;
    return past.slice(first);
  }

  /** All that ever happened to a kind; no real server knows, but what is late or comes twice is a part of it. */
  past(kind: KindRef): readonly HistoryEvent[] {
    return this.#shelfOf(kind).past;
  }

  /** Forgets all history: a watch from an older version gets 410, and so does the next page of an older list. */
  compact(): void {
    this.#compacted = this.#version;
    this.#pages.forget(this.#compacted);
  }

  #replace(origin: Origin, before: KubeObject, wanted: KubeObject): KubeObject {
    const after = this.#rules.tidied(wanted);
    refuse(`updating ${origin.path.name}`, this.#rules.refusalOf(before, after));
    if (isSame(before, after)) return before;
    if (before.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0) {
      this.#remove(origin, before);
      return this.#rules.counted(origin.path, before, after);
    }
    refuse(`updating ${origin.path.name}`, this.#rules.storedRefusal(after));
    return this.#store(origin, before, after);
  }

  #store(origin: Origin, before: KubeObject | undefined, wanted: KubeObject): KubeObject {
    this.#version = this.#rules.versionAfter(this.#version);
    const counted = this.#rules.counted(origin.path, before, wanted);
    const after = { ...counted, metadata: { ...counted.metadata, resourceVersion: String(this.#version) } };
    const shelf = this.#shelfOf(origin.path);
    shelf.objects.set(nameIn(origin.path), after);
    const isAdded = before === undefined;
    shelf.past.push({ type: 'present', resourceVersion: this.#version, object: after, isAdded });
    this.#tell(shelf, { ...origin, before, after });
    return after;
  }

  #remove(origin: Origin, before: KubeObject): void {
    this.#version = this.#rules.versionAfter(this.#version);
    const object = this.#rules.lastWordOn(before, this.#version);
    const shelf = this.#shelfOf(origin.path);
    shelf.objects.delete(nameIn(origin.path));
    shelf.past.push({ type: 'deleted', resourceVersion: this.#version, object, isAdded: false });
    this.#tell(shelf, { ...origin, before, after: undefined });
  }

  #tell(shelf: Shelf, write: Write): void {
    for (const listener of this.#listeners) listener(write);
    for (const listener of shelf.listeners) listener(write);
  }

  #shelfOf(kind: KindRef): Shelf {
    const key = `${kind.group}/${kind.version}/${kind.resource}`;
    const known = this.#shelves.get(key);
    if (known !== undefined) return known;
    const shelf: Shelf = { objects: new Map(), past: [], listeners: new Set() };
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** The API writes times in whole seconds. */
  #second(): string {
    return new Date(this.#time.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

/** Names sort as etcd's keys do. */
function nameIn({ namespace, name }: ObjectPath): string {
  return `${namespace ?? ''}/${name}`;
}

function refuse(doing: string, status: number | undefined): void {
  if (status !== undefined) throw new ApiError(doing, status);
}
