/*
 * The small ports through which the bridge reaches the world: clock, random, cluster, queue, lease.
 * main.ts plugs in the real ones (clock.ts, cluster.ts, sqs.ts); the simulation plugs in models under virtual time.
 * Expected outcomes are values; a port throws only what is to be tried again.
 */
import type { KindSchema } from './kind-schema.ts';
import type { LeaseRecord, StoredLease } from './leader-state.ts';

/** Time: `now` in ms since the epoch (UTC), `monotonic` in ms from an arbitrary origin, never stepping back. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `task` after `ms`; the returned function cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** A number in [0, 1). */
export type Random = () => number;

/** A resource type by its API path. `group` is "" for the core group. */
export interface KindRef {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** What is watched or listed: a kind, all of it or within one namespace, or the one object of a name. */
export interface Watched extends KindRef {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** A kind as a configuration names it; without a version, whichever the API server prefers. */
export interface ListedKind extends Pick<KindRef, 'group' | 'resource'> {
  readonly version?: string | undefined;
}

/** Where an object stands in the API. */
export interface ObjectPath extends KindRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The part of ObjectMeta that the bridge reads. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  /** Who wrote what, as the API server sent it, not decoded; only of what a watch shows being added, and of what is read whole. */
  readonly managedFields?: unknown;
}

/** A whole object as the API server returned it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** One operation of a JSON patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * `conflict`: a `test` failed, the object moved, or somebody refuses the write (409, 422); only a fresh GET tells which.
 * `said` is the server's answer: words for a person, never to be concluded from.
 */
export type PatchOutcome =
  | {
      readonly kind: 'patched';
      readonly meta: ObjectMeta;
      /** As it is stored now, which may be less than what was written; only of a write to the subresource `status`. */
      readonly status?: unknown;
      /** The object as a GET would show it now; only where the whole was asked for. */
      readonly object?: KubeObject;
    }
  | { readonly kind: 'conflict'; readonly said?: string }
  | { readonly kind: 'missing' };

/** `status`: a write to that subresource. `whole`: of the object itself, all of which is answered, not its metadata only. */
export type PatchHow = 'status' | 'whole';

/** One line of a watch, decoded. `opened` comes first: the server has answered. `synced`: the initial list is complete. */
export type WatchFrame =
  | { readonly type: 'opened' }
  | {
      readonly type: 'present';
      readonly meta: ObjectMeta;
      /** It was created just now, unless it is a part of the initial list. */
      readonly isAdded?: boolean;
    }
  | { readonly type: 'deleted'; readonly meta: ObjectMeta }
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly synced: boolean };

/** One page of a metadata-only list. */
export interface ListPage {
  readonly items: readonly ObjectMeta[];
  readonly resourceVersion: string;
  readonly next?: string | undefined;
}

/** Which page of a list: after `next` of the one before, or the first. */
export interface PageWanted {
  readonly limit: number;
  readonly next?: string | undefined;
}

/** What goes into a Kubernetes Event about an object. */
export interface EventInput {
  readonly object: { readonly apiVersion: string; readonly kind: string } & Pick<
    ObjectMeta,
    'name' | 'namespace' | 'uid' | 'resourceVersion'
  >;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly message: string;
}

/** The API server answered with an error status, or not at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  /** From Retry-After, in ms. */
  readonly retryAfter: number | undefined;
  /** What the server said, not clipped; empty when it said nothing. */
  readonly body: string;

  constructor(
    doing: string,
    status: number,
    detail: { retryAfter?: number | undefined; cause?: unknown; body?: string } = {},
  ) {
    const said = detail.body ? `: ${detail.body.slice(0, 300)}` : '';
    super(`${doing}: ${status === 0 ? 'no answer' : `HTTP ${status}`}${said}`, { cause: detail.cause });
    this.name = 'ApiError';
    this.status = status;
    this.retryAfter = detail.retryAfter;
    this.body = detail.body ?? '';
  }
}

/** What a kubeconfig says to get credentials by did not give any: the API server was not asked. */
export class NoCredentials extends Error {
  constructor(of: string, cause: unknown) {
    super(`no credentials of ${of}`, { cause });
    this.name = 'NoCredentials';
  }
}

/** The API server. Every method throws ApiError for what its result does not name. */
export interface Cluster {
  get(path: ObjectPath): Promise<KubeObject | undefined>;
  patch(path: ObjectPath, operations: readonly PatchOperation[], how?: PatchHow): Promise<PatchOutcome>;
  /** Without `resourceVersion`, begins with the objects as they are, ended by a bookmark with `synced`. */
  watch(watched: Watched, resourceVersion: string | undefined, signal: AbortSignal): AsyncIterable<WatchFrame>;
  list(watched: Watched, page: PageWanted): Promise<ListPage>;
  recordEvent(event: EventInput): Promise<void>;
}

/** What the API server says of a kind. */
export interface KindFacts {
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The schema of a kind; or why it is not known, which is no fault of the kind, and whether it may be known soon. */
export type SchemaOutcome =
  | { readonly known: true; readonly schema: KindSchema }
  | { readonly known: false; readonly why: string; readonly mayCome: boolean };

/** What the API server says about kinds and about this process's rights. Throws ApiError. */
export interface Kinds {
  /** undefined: it does not serve the kind. */
  describe(kind: KindRef): Promise<KindFacts | undefined>;
  /** The kind in the version that is named, else in the group's preferred one, else in any; undefined: it is not served. */
  find(kind: ListedKind): Promise<KindRef | undefined>;
  /**
   * What objects of a kind can have; `kind` is the word that `describe` gives. It may be a minute old unless it is to be
   * fresh. Never throws.
   */
  schemaOf(ref: KindRef, kind: string, isFresh?: boolean): Promise<SchemaOutcome>;
  /** Whether it serves the kind in any version; while it does not, no object of it can be there. */
  isServed(kind: Pick<KindRef, 'group' | 'resource'>): Promise<boolean>;
  /** The verbs on a kind, in all namespaces unless one is named, that this process lacks. */
  lacking(watched: Watched, verbs: readonly string[]): Promise<readonly string[]>;
}

/** A message to send; `id` is unique within its batch. */
export interface OutgoingMessage {
  readonly id: string;
  readonly body: string;
}

/** What the queue said of one entry of a batch that it did not take. */
export interface SendFailure {
  readonly id: string;
  readonly code: string;
  readonly detail: string;
}

/** A message as it was received; `sender` is what the queue itself says of who sent it. */
export interface IncomingMessage {
  readonly messageId: string;
  readonly body: string;
  readonly sender: string;
  readonly receiveCount: number;
}

/** The queue. `send` throws when the whole call failed, and reports per entry otherwise. */
export interface Queue {
  send(queueUrl: string, batch: readonly OutgoingMessage[]): Promise<readonly SendFailure[]>;
  /** Hands over batches until stopped; only the messages whose ids are returned are deleted. */
  consume(queueUrl: string, handle: (batch: readonly IncomingMessage[]) => Promise<ReadonlySet<string>>): Consumption;
}

/** A running consumer. `stop` resolves when the batches in hand are done. */
export interface Consumption {
  stop(): Promise<void>;
}

/**
 * The lease that makes one of several bridges the leader. `conflict`: it has moved, come or gone meanwhile. Throws ApiError,
 * also when the signal aborts; then the write may have taken effect or not.
 */
export interface Leases {
  get(signal: AbortSignal): Promise<StoredLease | undefined>;
  create(record: LeaseRecord, signal: AbortSignal): Promise<StoredLease | 'conflict'>;
  replace(stored: StoredLease, record: LeaseRecord, signal: AbortSignal): Promise<StoredLease | 'conflict'>;
}

/** The right to act: looked at directly before each send and each PATCH. */
export interface Lease {
  /** True while no other process can hold it, by the monotonic clock. */
  holds(): boolean;
}
