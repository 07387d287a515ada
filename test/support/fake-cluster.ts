/*
 * A tiny API server in memory behind the cluster port: resourceVersions, finalizers, JSON patches, watches that replay.
 * `before` runs ahead of every call, may change the store, and may throw what the API server would answer.
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
  type PatchOperation,
  type PatchOutcome,
  type WatchFrame,
} from '../../bridge/ports.ts';
import { applyPatch, PatchFailed } from './json-patch.ts';
import { START, stamp } from './manual-clock.ts';

/** A call as it came in. */
export interface Call {
  readonly verb: 'get' | 'patch' | 'list' | 'watch' | 'event';
  readonly name: string;
  readonly operations?: readonly PatchOperation[];
}

interface Happening {
  readonly version: number;
  readonly resource: string;
  readonly frame: Exclude<WatchFrame, { type: 'bookmark' }>;
}

/** What an object is made of; the rest the API server fills in. */
export interface NewObject extends Partial<Omit<ObjectMeta, 'uid' | 'resourceVersion'>> {
  readonly name: string;
  readonly uid?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The fake API server. Objects are of one kind, `buckets` of `storage.example.com/v1`. */
export class FakeCluster implements Cluster {
  readonly calls: Call[] = [];
  readonly events: EventInput[] = [];
  before: (call: Call) => void = () => {};
  readonly #objects = new Map<string, KubeObject>();
  readonly #past: Happening[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 100;
  #broken: { readonly error: Error | undefined } | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => START) {
    this.#now = now;
  }

  /** How many calls of a verb came in. */
  count(verb: Call['verb']): number {
    return this.calls.filter((call) => call.verb === verb).length;
  }

  peek(name: string): KubeObject | undefined {
    return this.#objects.get(name);
  }

  create({ name, uid = `uid-${name}`, spec = {}, ...meta }: NewObject): KubeObject {
    const metadata = {
      ...{ name, namespace: 'team-a', uid, creationTimestamp: stamp(this.#now() - 3_600_000) },
      ...meta,
      resourceVersion: '',
    };
    return this.#store({ apiVersion: 'storage.example.com/v1', kind: 'Bucket', metadata, spec });
  }

  /** DELETE: marks an object with finalizers, removes one without. */
  delete(name: string, meta: Partial<ObjectMeta> = {}): void {
    const deletionTimestamp = stamp(this.#now());
    this.change(name, ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, deletionTimestamp, ...meta } }));
  }

  /** Any write by somebody else. */
  change(name: string, edit: (object: KubeObject) => KubeObject): void {
    const object = this.#objects.get(name);
    if (object === undefined) throw new Error(`changing ${name}: it is not there`);
    this.#store(edit(structuredClone(object)));
  }

  /** An annotation written by somebody else; undefined takes it off. */
  annotate(name: string, key: string, value: string | undefined): void {
    this.change(name, ({ metadata, ...rest }) => {
      const { [key]: _, ...others } = metadata.annotations ?? {};
      return {
        ...rest,
        metadata: { ...metadata, annotations: value === undefined ? others : { ...others, [key]: value } },
      };
    });
  }

  /** Ends every watch, quietly or with an error; the next ones go on. */
  endWatches(error?: Error): void {
    this.#broken = { error };
    for (const wake of [...this.#watchers]) wake();
    this.#broken = undefined;
  }

  async get(path: ObjectPath): Promise<KubeObject | undefined> {
    this.#called({ verb: 'get', name: path.name });
    return structuredClone(this.#objects.get(path.name));
  }

  async patch(path: ObjectPath, operations: readonly PatchOperation[]): Promise<PatchOutcome> {
    this.#called({ verb: 'patch', name: path.name, operations });
    const object = this.#objects.get(path.name);
    if (object === undefined) return { kind: 'missing' };
    try {
      return { kind: 'patched', meta: this.#store(applyPatch(object, operations)).metadata };
    } catch (error) {
      if (error instanceof PatchFailed) return { kind: 'conflict' };
      throw error;
    }
  }

  async list(kind: KindRef): Promise<ListPage> {
    this.#called({ verb: 'list', name: kind.resource });
    return {
      items: [...this.#objects.values()].map(({ metadata }) => metadata),
      resourceVersion: String(this.#version),
    };
  }

  async *watch(kind: KindRef, from: string | undefined, signal: AbortSignal): AsyncGenerator<WatchFrame> {
    this.#called({ verb: 'watch', name: kind.resource });
    let seen = Number(from ?? this.#version);
    if (from === undefined) {
      for (const { metadata } of [...this.#objects.values()]) yield { type: 'present', meta: metadata };
      yield { type: 'bookmark', resourceVersion: String(seen), synced: true };
    }
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
        const next = this.#past.find(({ version, resource }) => version > seen && resource === kind.resource);
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else {
          seen = next.version;
          yield next.frame;
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
  }

  #store(object: KubeObject): KubeObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata };
    const isOver = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (isOver) this.#objects.delete(metadata.name);
    else this.#objects.set(metadata.name, stored);
    const frame = { type: isOver ? ('deleted' as const) : ('present' as const), meta: metadata };
    this.#past.push({ version: this.#version, resource: 'buckets', frame });
    for (const wake of [...this.#watchers]) wake();
    return structuredClone(stored);
  }
}
