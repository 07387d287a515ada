/*
 * The real cluster port: watch, get and patch over undici, authentication from the Kubernetes client's KubeConfig
 * (token files, exec, OIDC, certificates, proxies). Plugged in by main.ts. The library's informer and typed calls are
 * not used for objects: they keep whole objects and know no metadata-only watch.
 */
import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { type Answer, type Call, decoded, type Http, isObjectMissing, refusal } from './cluster-http.ts';
import { isServed } from './cluster-kinds.ts';
import { cutToBytes, eventName, NOTE_MAX_BYTES } from './event-note.ts';
import { patchBody } from './patch-body.ts';
import {
  ApiError,
  type Clock,
  type Cluster,
  type EventInput,
  type KubeObject,
  type ListPage,
  type ObjectPath,
  type PageWanted,
  type PatchHow,
  type PatchOperation,
  type PatchOutcome,
  type Watched,
  type WatchFrame,
} from './ports.ts';
import { apiPath, decodeList, decodeMeta, decodeObject, kindPath, watchLine } from './wire.ts';

/** The API server ends a watch after this long, in seconds; the restart is cheap. */
const WATCH_SECONDS = 540;
/** How the bridge's writes are signed in managedFields. */
const FIELD_MANAGER = 'finalizer-bridge';
const META_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const META_LIST_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** What the adapter needs. `identity` names this process in Events. */
export interface ClusterOptions {
  readonly http: Http;
  readonly clock: Clock;
  readonly identity: string;
  /** How writes are signed in managedFields; as the bridge unless told. */
  readonly fieldManager?: string;
}

/** Creates the cluster port. */
export function createCluster({ http, clock, identity, fieldManager = FIELD_MANAGER }: ClusterOptions): Cluster {
  return {
    get: (path) => getObject(http, path),
    patch: (path, operations, how) => patchObject(http, path, { operations, how, fieldManager }),
    list: (kind, page) => listMetadata(http, kind, page),
    watch: (kind, resourceVersion, signal) => watchMetadata(http, { kind, resourceVersion, signal }),
    recordEvent: (event) => recordEvent(http, event, { identity, now: clock.now() }),
  };
}

async function getObject(http: Http, path: ObjectPath): Promise<KubeObject | undefined> {
  const call: Call = { method: 'GET', path: apiPath(path), doing: `getting ${describe(path)}` };
  const answer = await http.ask(call);
  if (answer.status === 200) return decoded(call, answer, decodeObject);
  if (answer.status === 404 && (await isMissing(http, answer, path))) return undefined;
  throw refusal(call, answer);
}

interface Patch {
  readonly operations: readonly PatchOperation[];
  readonly how: PatchHow | undefined;
  readonly fieldManager: string;
}

async function patchObject(
  http: Http,
  path: ObjectPath,
  { operations, how, fieldManager }: Patch,
): Promise<PatchOutcome> {
  const call: Call = {
    method: 'PATCH',
    path: `${apiPath(path)}${how === 'status' ? '/status' : ''}?fieldManager=${fieldManager}`,
    // What is stored of a status is shown by the whole object only.
    ...(how === undefined ? { accept: META_ONLY } : {}),
    contentType: 'application/json-patch+json',
    body: patchBody(operations),
    doing: `patching ${describe(path)}`,
  };
  const answer = await http.ask(call);
  switch (answer.status) {
    case 200:
      return patched(call, answer, how);
    case 409:
    case 422:
      return { kind: 'conflict', said: answer.text };
    case 404:
      if (await isMissing(http, answer, path)) return { kind: 'missing' };
      throw refusal(call, answer);
    default:
      throw refusal(call, answer);
  }
}

function patched(call: Call, answer: Answer, how: Patch['how']): PatchOutcome {
  if (how === undefined) return { kind: 'patched', meta: decoded(call, answer, decodeMeta) };
  const object = decoded(call, answer, decodeObject);
  const { metadata: meta, status } = object;
  return how === 'whole' ? { kind: 'patched', meta, object } : { kind: 'patched', meta, status };
}

/** An object is missing when the server says so of it, or does not serve its kind in any version any more (K8). */
async function isMissing(http: Http, answer: Answer, { group, resource, name }: ObjectPath): Promise<boolean> {
  return isObjectMissing(answer, name) || !(await isServed(http, { group, resource }));
}

async function listMetadata(http: Http, watched: Watched, { limit, next }: PageWanted): Promise<ListPage> {
  const path = pathOf(watched, { limit: String(limit), ...(next === undefined ? {} : { continue: next }) });
  const call: Call = { method: 'GET', path, accept: META_LIST_ONLY, doing: `listing ${watched.resource}` };
  const answer = await http.ask(call);
  if (answer.status !== 200) throw refusal(call, answer);
  return decoded(call, answer, decodeList);
}

/** One object is asked for as a list of that name, which rights on the name allow. */
function pathOf({ namespace, name, ...kind }: Watched, query: Readonly<Record<string, string>>): string {
  const only = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  return `${kindPath(kind, namespace)}?${new URLSearchParams({ ...query, ...only })}`;
}

interface Watching {
  readonly kind: Watched;
  readonly resourceVersion: string | undefined;
  readonly signal: AbortSignal;
}

async function* watchMetadata(http: Http, { kind, resourceVersion, signal }: Watching): AsyncGenerator<WatchFrame> {
  const from: Record<string, string> =
    resourceVersion === undefined
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion };
  const fixed = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: String(WATCH_SECONDS) };
  const path = pathOf(kind, { ...fixed, ...from });
  const call: Call = { method: 'GET', path, accept: META_ONLY, doing: `watching ${kind.resource}` };
  const body = await http.open(call, signal);
  yield { type: 'opened' };
  try {
    for await (const text of lines(body)) {
      const line = watchLine(text);
      if (line.type !== 'error') yield line;
      else throw new ApiError(call.doing, line.code, { retryAfter: line.retryAfter, body: line.message });
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError(call.doing, 0, { cause });
  }
}

async function recordEvent(http: Http, event: EventInput, told: Omit<EventContext, 'namespace'>): Promise<void> {
  // The namespace of a cluster-scoped object's Event is `default`, as the API server demands.
  const namespace = event.object.namespace ?? 'default';
  const call: Call = {
    method: 'POST',
    path: kindPath({ group: 'events.k8s.io', version: 'v1', resource: 'events' }, namespace),
    contentType: 'application/json',
    body: JSON.stringify(eventOf(event, { ...told, namespace })),
    doing: `recording an Event on ${event.object.kind}/${event.object.name}`,
  };
  const answer = await http.ask(call);
  if (answer.status !== 201) throw refusal(call, answer);
}

async function* lines(body: Dispatcher.ResponseData['body']): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      if (end > start) yield rest.slice(start, end);
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}

function describe({ resource, namespace, name }: ObjectPath): string {
  return [resource, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

interface EventContext {
  readonly namespace: string;
  readonly identity: string;
  readonly now: number;
}

function eventOf({ object, type, reason, action, message }: EventInput, { namespace, identity, now }: EventContext) {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(object.name, randomUUID()), namespace },
    eventTime: new Date(now).toISOString().replace('Z', '000Z'),
    reportingController: 'finalizer-bridge.dev/bridge',
    reportingInstance: identity,
    action,
    reason,
    type,
    note: cutToBytes(message, NOTE_MAX_BYTES),
    regarding: object,
  };
}
