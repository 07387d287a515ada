/*
 * A tiny API server in memory behind the cluster port: kinds, resourceVersions, generations, finalizers, JSON patches, the
 * status subresource of rules, pages, watches that replay. `before` runs ahead of every call, may change the store, and may
 * throw what the API server would answer. Names are unique within a kind, whatever the namespace.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  ApiError,
  type Cluster,
  type EventInput,
  type KindRef,
  type KubeObject,
  type ListPage,
  type ObjectMeta,
  type ObjectPath,
  type PageWanted,
  type PatchOperation,
  type PatchOutcome,
  type Watched,
  type WatchFrame,
} from '../../bridge/ports.ts';
import { BUCKETS } from './bridge-builders.ts';
import { applyPatch, PatchFailed } from './json-patch.ts';
import { START, stamp } from './manual-clock.ts';
import {
  asksFor,
  type Call,
  generationMoved,
  type Happening,
  isRules,
  isWithin,
  keyOf,
  kindWord,
  throughSubresource,
  typeOf,
} from './stored-object.ts';

/** What an object is made of; the rest the API server fills in. */
export interface NewObject extends Partial<Omit<ObjectMeta, 'uid' | 'resourceVersion'>> {
  readonly name: string;
  readonly uid?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** `buckets` of `storage.example.com/v1` unless told. */
  readonly kind?: KindRef;
}

export type { Call };

/** The fake API server. */
export class FakeCluster implements Cluster {
  readonly calls: Call[] = [];
  readonly events: EventInput[] = [];
  before: (call: Call) => void = () => {};
  /** What cannot be listed or watched, by `group/resource` or `group/resource@namespace`: 403, or 404 for one that is not served. */
  readonly refused = new Map<string, 403 | 404>();
  readonly #lists = new Map<string, readonly ObjectMeta[]>();
  readonly #objects = new Map<string, KubeObject>();
  readonly #past: Happening[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 100;
  #bookmarks = 0;
  #broken: { readonly error: Error | undefined } | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => START) {
    this.#now = now;
  }

  /** How many calls of a verb came in. */
  count(verb: Call['verb']): number {
    return this.calls.filter((call) => call.verb === verb).length;
  }

  peek(name: string, kind: Watched = BUCKETS): KubeObject | undefined {
    return this.#objects.get(keyOf(kind, name));
  }

  create({ name, uid = `uid-${name}`, spec = {}, kind = BUCKETS, ...meta }: NewObject): KubeObject {
    const metadata = {
      ...{ name, namespace: 'team-a', uid, creationTimestamp: stamp(this.#now() - 3_600_000) },
      ...meta,
      ...(isRules(kind) ? { generation: 1, namespace: undefined } : {}),
      resourceVersion: '',
    };
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return this.#store(kind, { apiVersion, kind: kindWord(kind), metadata, spec });
  }

  /** DELETE: marks an object with finalizers, removes one without. */
  delete(name: string, meta: Partial<ObjectMeta> = {}, kind: Watched = BUCKETS): void {
    const deletionTimestamp = stamp(this.#now());
    const edit = ({ metadata, ...rest }: KubeObject) => ({
      ...rest,
      metadata: { ...metadata, deletionTimestamp, ...meta },
    });
    this.change(name, edit, kind);
  }

  /** Any write by somebody else. */
  change(name: string, edit: (object: KubeObject) => KubeObject, kind: Watched = BUCKETS): void {
    const object = this.peek(name, kind);
    if (object === undefined) throw new Error(`changing ${name}: it is not there`);
    this.#store(kind, edit(structuredClone(object)));
  }

  /** An annotation written by somebody else; undefined takes it off. */
  annotate(name: string, key: string, value: string | undefined, kind: Watched = BUCKETS): void {
    const edit = ({ metadata, ...rest }: KubeObject) => {
      const { [key]: _, ...others } = metadata.annotations ?? {};
      const annotations = value === undefined ? others : { ...others, [key]: value };
      return { ...rest, metadata: { ...metadata, annotations } };
    };
    this.change(name, edit, kind);
  }

  /** A bookmark for every watch, as an API server sends one about every minute. */
  bookmark(): void {
    this.#bookmarks += 1;
    for (const wake of [...this.#watchers]) wake();
  }

  /** Ends every watch, quietly or with an error; the next ones go on. */
  endWatches(error?: Error): void {
    this.#broken = { error };
    for (const wake of [...this.#watchers]) wake();
    this.#broken = undefined;
  }

  async get(path: ObjectPath): Promise<KubeObject | undefined> {
    this.#called({ verb: 'get', name: path.name, kind: path });
    return structuredClone(this.peek(path.name, path));
  }

  async patch(path: ObjectPath, operations: readonly PatchOperation[], subresource?: 'status'): Promise<PatchOutcome> {
    const written = subresource === undefined ? {} : { subresource };
    this.#called({ verb: 'patch', name: path.name, operations, kind: path, ...written });
    const object = this.peek(path.name, path);
    if (object === undefined) return { kind: 'missing' };
    try {
      const patched = applyPatch(object, operations);
      return {
        kind: 'patched',
        meta: this.#store(path, throughSubresource(path, { before: object, after: patched, subresource })).metadata,
      };
    } catch (error) {
      if (error instanceof PatchFailed) return { kind: 'conflict' };
      throw error;
    }
  }

  /** Pages of one list show the objects as they were at its first page. */
  async list(kind: Watched, { limit = 500, next }: Partial<PageWanted> = {}): Promise<ListPage> {
    this.#called({ verb: 'list', name: kind.resource, kind });
    const [version = String(this.#version), start = '0'] = next?.split('+') ?? [];
    const all = this.#lists.get(version) ?? this.#ofKind(kind);
    this.#lists.set(version, all);
    const end = Number(start) + limit;
    if (end >= all.length) this.#lists.delete(version);
    return {
      items: all.slice(Number(start), end),
      resourceVersion: version,
      ...(end < all.length ? { next: `${version}+${end}` } : {}),
    };
  }

  async *watch(kind: Watched, from: string | undefined, signal: AbortSignal): AsyncGenerator<WatchFrame> {
    this.#called({ verb: 'watch', name: kind.resource, kind });
    let seen = Number(from ?? this.#version);
    yield { type: 'opened' };
    if (from === undefined) {
      for (const meta of this.#ofKind(kind)) yield { type: 'present', meta };
      yield { type: 'bookmark', resourceVersion: String(seen), synced: true };
    }
    let bookmarks = this.#bookmarks;
    let broken: { readonly error: Error | undefined } | undefined;
    let wake = () => {};
    const onChange = () => {
      broken ??= this.#broken;
      wake();
    };
    this.#watchers.add(onChange);
    signal.addEventListener('abort', onChange, { once: true });
    try {
      while (!signal.aborted && broken === undefined) {
        const isNext = (one: Happening) =>
          one.version > seen && one.type === typeOf(kind) && isWithin(kind, one.frame.meta);
        const next = this.#past.find(isNext);
        if (next !== undefined) {
          seen = next.version;
          yield next.frame;
        } else if (bookmarks < this.#bookmarks) {
          bookmarks = this.#bookmarks;
          seen = this.#version;
          yield { type: 'bookmark', resourceVersion: String(seen), synced: false };
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      if (broken?.error !== undefined) throw broken.error;
      if (signal.aborted) throw new ApiError(`watching ${kind.resource}`, 0);
    } finally {
      this.#watchers.delete(onChange);
    }
  }

  async recordEvent(event: EventInput): Promise<void> {
    this.#called({ verb: 'event', name: event.object.name });
    this.events.push(event);
  }

  #called(call: Call): void {
    this.calls.push(call);
    this.before(call);
    if (call.verb !== 'list' && call.verb !== 'watch') return;
    for (const asked of call.kind === undefined ? [] : asksFor(call.kind)) {
      const status = this.refused.get(asked);
      if (status !== undefined) throw new ApiError(`${call.verb} ${call.name}`, status);
    }
  }

  #ofKind(kind: Watched): readonly ObjectMeta[] {
    const prefix = `${typeOf(kind)}/`;
    const all = [...this.#objects].filter(([key]) => key.startsWith(prefix));
    return all.map(([, { metadata }]) => metadata).filter((meta) => isWithin(kind, meta));
  }

  #store(kind: KindRef, object: KubeObject): KubeObject {
    const { name, namespace } = object.metadata;
    const key = keyOf({ ...kind, namespace }, name);
    const before = this.#objects.get(key);
    // A write that changes nothing is none.
    if (before !== undefined && isDeepStrictEqual(before, object)) return structuredClone(before);
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = generationMoved(before, { ...object, metadata });
    const isOver = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (isOver) this.#objects.delete(key);
    else this.#objects.set(key, stored);
    const { metadata: meta } = stored;
    const frame: Happening['frame'] = isOver
      ? { type: 'deleted', meta }
      : { type: 'present', meta, isAdded: before === undefined };
    this.#past.push({ version: this.#version, type: typeOf(kind), frame });
    for (const wake of [...this.#watchers]) wake();
    return structuredClone(stored);
  }
}
