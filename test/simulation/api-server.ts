/*
 * A model of the API server's storage: uids, resourceVersions, finalizers and deletion as Kubernetes has them, JSON
 * patches, and the history that watches read. Made by world.ts; bridges reach it through cluster-port.ts, people and
 * other controllers (the scenarios) directly. Every write is told to `onWrite`, where promises.ts looks on.
 */
import { isDeepStrictEqual } from 'node:util';
import { ApiError, type KindRef, type KubeObject, type ObjectPath, type PatchOperation } from '../../bridge/ports.ts';
import { decodeObject } from '../../bridge/wire.ts';
import type { VirtualTime } from './clock.ts';
import { applyPatch, PatchFailed } from './json-patch.ts';

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
/** What no update may change. */
const FIXED = ['uid', 'resourceVersion', 'name', 'creationTimestamp', 'deletionTimestamp'] as const;

/** The storage of one cluster. */
export class ApiServer {
  readonly #time: VirtualTime;
  readonly #objects = new Map<string, KubeObject>();
  readonly #history = new Map<string, HistoryEvent[]>();
  readonly #past = new Map<string, HistoryEvent[]>();
  readonly #listeners = new Set<(write: Write) => void>();
  #version = FIRST_VERSION;
  #compacted = FIRST_VERSION;
  #uids = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get version(): number {
    return this.#version;
  }

  /** Told after every change, until the returned function is called. */
  onWrite(listener: (write: Write) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get(path: ObjectPath): KubeObject | undefined {
    return this.#objects.get(keyOf(path));
  }

  /** All objects of a kind. */
  all(kind: KindRef): readonly KubeObject[] {
    const prefix = `${kindOf(kind)}|`;
    return [...this.#objects].flatMap(([key, object]) => (key.startsWith(prefix) ? [object] : []));
  }

  create({ path, apiVersion, kind, fields, ...meta }: NewObject, by: string): KubeObject {
    if (this.get(path) !== undefined) throw new ApiError(`creating ${path.name}`, 409);
    this.#uids += 1;
    const object = decodeObject({
      ...structuredClone(fields),
      apiVersion,
      kind,
      metadata: {
        name: path.name,
        ...(path.namespace === undefined ? {} : { namespace: path.namespace }),
        ...structuredClone(meta),
        uid: `00000000-0000-4000-8000-${this.#uids.toString(16).padStart(12, '0')}`,
        resourceVersion: '',
        creationTimestamp: this.#second(),
      },
    });
    return this.#store({ path, by }, undefined, object);
  }

  /** A person's or a controller's update, made from the object as it is. Undefined: there is no such object. */
  update(path: ObjectPath, by: string, change: (object: KubeObject) => KubeObject): KubeObject | undefined {
    const before = this.get(path);
    return before && this.#replace({ path, by }, before, change(structuredClone(before)));
  }

  /** DELETE: at once without finalizers, otherwise the object is marked and waits for them. */
  delete(path: ObjectPath, by: string): void {
    const before = this.get(path);
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return;
    const deletion = { deletionTimestamp: this.#second(), deletionGracePeriodSeconds: 0 };
    if ((before.metadata.finalizers ?? []).length === 0) this.#remove({ path, by }, before, before);
    else this.#store({ path, by }, before, { ...before, metadata: { ...before.metadata, ...deletion } });
  }

  /**
   * PATCH. Undefined: there is no such object.
   * @throws ApiError 422 for a failed test and for what the server never accepts.
   */
  patch(path: ObjectPath, operations: readonly PatchOperation[], by: string): KubeObject | undefined {
    const before = this.get(path);
    if (before === undefined) return undefined;
    try {
      return this.#replace({ path, by, operations }, before, decodeObject(applyPatch(before, operations)));
    } catch (error) {
      if (!(error instanceof PatchFailed)) throw error;
      throw new ApiError(`patching ${path.name}`, 422, { cause: error });
    }
  }

  /** What happened to a kind after a version; undefined when that was compacted away. */
  since(kind: KindRef, version: number): readonly HistoryEvent[] | undefined {
    if (version < this.#compacted) return undefined;
    return (this.#history.get(kindOf(kind)) ?? []).filter(({ resourceVersion }) => resourceVersion > version);
  }

  /** All that ever happened to a kind; no real server knows, but what is late or comes twice is a part of it. */
  past(kind: KindRef): readonly HistoryEvent[] {
    return this.#past.get(kindOf(kind)) ?? [];
  }

  /** Forgets all history: a watch from an older version gets 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history.clear();
  }

  #replace(origin: Origin, before: KubeObject, after: KubeObject): KubeObject {
    if (isDeepStrictEqual(before, after)) return before;
    const isDeleting = before.metadata.deletionTimestamp !== undefined;
    const added = (after.metadata.finalizers ?? []).filter((entry) => !before.metadata.finalizers?.includes(entry));
    const isMoved = FIXED.some((field) => before.metadata[field] !== after.metadata[field]);
    if (isMoved || (isDeleting && added.length > 0)) throw new ApiError(`updating ${before.metadata.name}`, 422);
    const isOver = isDeleting && (after.metadata.finalizers ?? []).length === 0;
    if (!isOver) return this.#store(origin, before, after);
    this.#remove(origin, before, after);
    return after;
  }

  #store(origin: Origin, before: KubeObject | undefined, wanted: KubeObject): KubeObject {
    this.#version += 1;
    const after = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: String(this.#version) } };
    this.#objects.set(keyOf(origin.path), after);
    this.#log(origin.path, { type: 'present', resourceVersion: this.#version, object: after });
    this.#tell({ ...origin, before, after });
    return after;
  }

  #remove(origin: Origin, before: KubeObject, last: KubeObject): void {
    this.#version += 1;
    const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(this.#version) } };
    this.#objects.delete(keyOf(origin.path));
    this.#log(origin.path, { type: 'deleted', resourceVersion: this.#version, object });
    this.#tell({ ...origin, before, after: undefined });
  }

  #log(kind: KindRef, event: HistoryEvent): void {
    for (const kept of [this.#history, this.#past]) {
      const events = kept.get(kindOf(kind)) ?? [];
      events.push(event);
      kept.set(kindOf(kind), events);
    }
  }

  #tell(write: Write): void {
    for (const listener of this.#listeners) listener(write);
  }

  /** The API writes times in whole seconds. */
  #second(): string {
    return new Date(this.#time.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

function kindOf({ group, version, resource }: KindRef): string {
  return `${group}/${version}/${resource}`;
}

function keyOf(path: ObjectPath): string {
  return `${kindOf(path)}|${path.namespace ?? ''}|${path.name}`;
}
