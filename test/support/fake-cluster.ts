/*
 * A tiny API server in memory behind the cluster port: JSON patches, the status subresource of rules, pages, watches that replay.
 * `before` runs ahead of every call, may change the store, and may throw what the API server would answer. Names are unique within
 * a kind, whatever the namespace. It is held against the scripts that real servers follow by test/simulation/agreement-fake.test.ts.
 */
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
  type PatchHow,
  type PatchOperation,
  type PatchOutcome,
  type Watched,
  type WatchFrame,
} from '../../bridge/ports.ts';
import { applyPatch, PatchFailed } from '../simulation/json-patch.ts';
import { hasOwnStatus, keepingStatus } from '../simulation/object-rules.ts';
import { patchRefusal } from '../simulation/size-limits.ts';
import { BUCKETS } from './bridge-builders.ts';
import { FakeStore } from './fake-store.ts';
import { START, stamp } from './manual-clock.ts';
import { asksFor, type Call, kindWord } from './stored-object.ts';

/** What an object is made of; the rest the API server fills in. */
export interface NewObject extends Partial<Omit<ObjectMeta, 'uid' | 'resourceVersion'>> {
  readonly name: string;
  readonly uid?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** All beside the metadata, instead of the spec alone. */
  readonly fields?: Readonly<Record<string, unknown>>;
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
  /** Fields that the definition of rules lacks in its schema of the status: what is written there is dropped. */
  readonly dropped = new Set<string>();
  /** What is read in another version than it was made in. */
  converted: (object: KubeObject, version: string) => KubeObject = (object) => object;
  /** The status of the last PATCH. */
  patchStatus: number | undefined;
  readonly #store = new FakeStore();
  readonly #watchers = new Set<() => void>();
  #bookmarks = 0;
  #broken: { readonly error: Error | undefined } | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => START) {
    this.#now = now;
    this.#store.onWrite = () => this.#wake();
  }

  /** How many calls of a verb came in. */
  count(verb: Call['verb']): number {
    return this.calls.filter((call) => call.verb === verb).length;
  }

  peek(name: string, kind: Watched = BUCKETS): KubeObject | undefined {
    return this.#store.get(kind, name);
  }

  create({ name, uid = `uid-${name}`, kind = BUCKETS, spec = {}, fields = { spec }, ...meta }: NewObject): KubeObject {
    const { namespace, ...others } = { namespace: 'team-a', ...meta };
    const metadata = {
      ...{ name, uid, creationTimestamp: stamp(this.#now() - 3_600_000), resourceVersion: '' },
      ...(hasOwnStatus(kind) || namespace === undefined ? {} : { namespace }),
      ...others,
    };
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return this.#store.put({ ...kind, namespace, name }, { apiVersion, kind: kindWord(kind), ...fields, metadata });
  }

  /** DELETE: marks an object with finalizers, removes one without. */
  delete(name: string, meta: Partial<ObjectMeta> = {}, kind: Watched = BUCKETS): void {
    this.#store.delete(kind, name, { deletionTimestamp: stamp(this.#now()), ...meta });
  }

  /** Any write by somebody else, who may write the status as well. */
  change(name: string, edit: (object: KubeObject) => KubeObject, kind: Watched = BUCKETS): KubeObject {
    const object = this.peek(name, kind);
    if (object === undefined) throw new Error(`changing ${name}: it is not there`);
    return this.#store.put({ ...kind, name }, edit(structuredClone(object)));
  }

  /** Somebody deletes an object, nothing holds it, and another one of that name is made like it. */
  succeed(name: string, uid: string, kind: KindRef = BUCKETS): void {
    this.#store.succeed(kind, name, uid);
  }

  /** The storage is restored from a copy: an object is another one under the same generation. */
  restore(kind: KindRef, object: KubeObject): void {
    this.#store.restore(kind, object);
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
    this.#wake();
  }

  /** Ends every watch, quietly or with an error; the next ones go on. */
  endWatches(error?: Error): void {
    this.#broken = { error };
    this.#wake();
    this.#broken = undefined;
  }

  async get(path: ObjectPath): Promise<KubeObject | undefined> {
    this.#called({ verb: 'get', name: path.name, kind: path });
    const object = structuredClone(this.peek(path.name, path));
    return object === undefined ? undefined : this.converted(object, path.version);
  }

  async patch(path: ObjectPath, operations: readonly PatchOperation[], how?: PatchHow): Promise<PatchOutcome> {
    const subresource = how === 'status' ? how : undefined;
    const written = subresource === undefined ? {} : { subresource };
    this.#called({ verb: 'patch', name: path.name, operations, kind: path, ...written });
    const before = this.peek(path.name, path);
    const tooLarge = patchRefusal(operations, before !== undefined);
    if (tooLarge !== undefined) throw new ApiError(`patching ${path.name}`, tooLarge);
    this.patchStatus = 404;
    if (before === undefined || (subresource !== undefined && !hasOwnStatus(path))) return { kind: 'missing' };
    try {
      const patched = applyPatch(before, operations);
      const after = subresource ? { ...before, status: patched.status } : keepingStatus(path, before, patched);
      const stored = this.#store.put(path, subresource ? this.#pruned(after) : after);
      const { metadata: meta, status } = stored;
      this.patchStatus = 200;
      if (how === 'whole')
        return { kind: 'patched', meta, object: this.converted(structuredClone(stored), path.version) };
      return { kind: 'patched', meta, ...(subresource ? { status: structuredClone(status) } : {}) };
    } catch (error) {
      const status = error instanceof PatchFailed ? 422 : error instanceof ApiError ? error.status : 0;
      this.patchStatus = status;
      if (status === 409 || status === 422) return { kind: 'conflict' };
      throw error;
    }
  }

  /** Pages of one list show the objects as they were at its first page. */
  async list(kind: Watched, { limit = 500, next }: Partial<PageWanted> = {}): Promise<ListPage> {
    this.#called({ verb: 'list', name: kind.resource, kind });
    return this.#store.page(kind, { limit, next });
  }

  async *watch(kind: Watched, from: string | undefined, signal: AbortSignal): AsyncGenerator<WatchFrame> {
    this.#called({ verb: 'watch', name: kind.resource, kind });
    let seen = Number(from ?? this.#store.version);
    yield { type: 'opened' };
    if (from === undefined) {
      for (const { metadata } of this.#store.shown(kind)) yield { type: 'present', meta: metadata, isAdded: true };
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
        const next = this.#store.next(kind, seen);
        if (next !== undefined) {
          seen = next.version;
          yield next.frame;
        } else if (bookmarks < this.#bookmarks) {
          bookmarks = this.#bookmarks;
          seen = this.#store.version;
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

  #pruned({ status, ...rest }: KubeObject): KubeObject {
    const kept = Object.entries(Object(status)).filter(([field]) => !this.dropped.has(field));
    return { ...rest, status: Object.fromEntries(kept) };
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

  #wake(): void {
    for (const wake of [...this.#watchers]) wake();
  }
}
