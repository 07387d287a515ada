/*
 * The demo's objects as the API server's watch tells them, and their Events. Made by stage.ts, narrated by narrator.ts;
 * story.ts waits here for what is to happen.
 */
import { z } from 'zod/mini';
import type { KubeFacts } from '../local/kube-client.ts';
import { PATIENCE_MS } from './waiting.ts';
import { type Change, watch } from './watch.ts';

const RECORD_PREFIX = 'status.finalizer-bridge.dev/';

const watched = z.object({
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    deletionTimestamp: z.optional(z.string()),
    finalizers: z.optional(z.array(z.string())),
    annotations: z.optional(z.record(z.string(), z.string())),
  }),
});
const event = z.object({
  type: z.string(),
  reason: z.string(),
  note: z.string(),
  regarding: z.object({ kind: z.string(), name: z.string(), uid: z.string() }),
});
const recordText = z.object({
  phase: z.string(),
  reason: z.string(),
  message: z.string(),
  since: z.string(),
  firstPublished: z.optional(z.string()),
});

/** An object as it was last seen. */
export interface Observed {
  /** `Bucket/logs` */
  readonly object: string;
  readonly uid: string;
  readonly isPresent: boolean;
  readonly finalizers: readonly string[];
  /** RFC 3339; undefined while nobody has deleted it. */
  readonly deletionTimestamp: string | undefined;
  /** The bridge's record in the annotations, if there is one. */
  readonly record: BridgeRecord | undefined;
}

/** What the bridge has written down on the object. Times are RFC 3339. */
export type BridgeRecord = Readonly<z.output<typeof recordText>> & { readonly annotation: string };

/** An Event about one of the objects. */
export interface ObservedEvent {
  readonly object: string;
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

export interface WatchedObjects {
  /** The latest object of that name; undefined if none was ever seen. */
  get(object: string): Observed | undefined;
  readonly events: readonly ObservedEvent[];
  /** Resolves when the condition holds, which is asked after every change. @throws when it does not in time. */
  until(what: string, condition: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

export interface WatchedObjectsInput {
  readonly kube: KubeFacts;
  readonly namespace: string;
  /** API paths of the lists to watch. */
  readonly paths: readonly string[];
  readonly onObject: (now: Observed, before: Observed | undefined) => void;
  readonly onEvent: (event: ObservedEvent) => void;
}

/** Starts to watch. */
export function watchObjects(input: WatchedObjectsInput): WatchedObjects {
  const { kube, namespace, paths, onObject, onEvent } = input;
  const stopping = new AbortController();
  const { signal } = stopping;
  const objects = new Map<string, Observed>();
  const events: ObservedEvent[] = [];
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const ask of waiting) ask();
  };
  const onChange = (change: Change) => {
    const now = observedIn(change);
    const before = objects.get(now.object);
    objects.set(now.object, now);
    onObject(now, before?.uid === now.uid ? before : undefined);
    changed();
  };
  const watches = paths.map((path) => watch({ kube, path, signal, onChange }));
  const eventPath = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const onTold = (change: Change) => {
    if (change.type !== 'ADDED') return;
    const told = eventIn(change);
    events.push(told);
    onEvent(told);
    changed();
  };
  const all = Promise.all([...watches, watch({ kube, path: eventPath, signal, onChange: onTold })]);
  const failed = all.then(() => new Promise<never>(() => {}));
  failed.catch(() => undefined);
  return {
    get: (object) => objects.get(object),
    events,
    until: (what, condition) => Promise.race([failed, becomesTrue({ waiting, what, condition, objects })]),
    stop: async () => {
      stopping.abort();
      await all.catch(() => undefined);
    },
  };
}

interface Condition {
  readonly objects: ReadonlyMap<string, Observed>;
  readonly waiting: Set<() => void>;
  readonly what: string;
  readonly condition: () => boolean;
}

function becomesTrue({ waiting, what, condition, objects }: Condition): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (end: () => void) => {
      clearTimeout(timer);
      waiting.delete(ask);
      end();
    };
    const ask = () => {
      if (condition()) give(resolve);
    };
    const late = () =>
      reject(new Error(`waiting for ${what}: not within ${PATIENCE_MS / 1000} s; there is ${standings(objects)}`));
    const timer = setTimeout(() => give(late), PATIENCE_MS);
    waiting.add(ask);
    ask();
  });
}

/** What is there, and what each object says of itself. */
function standings(objects: ReadonlyMap<string, Observed>): string {
  const present = [...objects.values()].filter(({ isPresent }) => isPresent);
  const told = present.map(({ object, record }) =>
    record === undefined ? object : `${object} (${record.phase}: ${record.reason}: ${record.message})`,
  );
  return told.join(', ') || 'nothing';
}

function observedIn({ type, object }: Change): Observed {
  const { kind, metadata } = z.parse(watched, object);
  const { name, uid, deletionTimestamp, finalizers = [], annotations = {} } = metadata;
  return {
    ...{ object: `${kind}/${name}`, uid, finalizers, deletionTimestamp },
    isPresent: type !== 'DELETED',
    record: recordIn(annotations),
  };
}

function recordIn(annotations: Readonly<Record<string, string>>): BridgeRecord | undefined {
  const [annotation] = Object.keys(annotations).filter((key) => key.startsWith(RECORD_PREFIX));
  if (annotation === undefined) return undefined;
  return { annotation, ...z.parse(recordText, JSON.parse(annotations[annotation] ?? '')) };
}

function eventIn({ object }: Change): ObservedEvent {
  const { type, reason, note, regarding } = z.parse(event, object);
  return { object: `${regarding.kind}/${regarding.name}`, uid: regarding.uid, type, reason, note };
}
