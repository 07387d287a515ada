/*
 * The real cluster port: watch, get and patch over undici, authentication from the Kubernetes client's KubeConfig
 * (token files, exec, OIDC, certificates, proxies). Plugged in by main.ts. The library's informer and typed calls are
 * not used for objects: they keep whole objects and know no metadata-only watch.
 */
import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { CredentialSource, Credentials } from './cluster-credentials.ts';
import type { Metrics } from './metrics.ts';
import {
  ApiError,
  type Clock,
  type Cluster,
  type EventInput,
  type KindRef,
  type ObjectPath,
  type PatchOperation,
  type PatchOutcome,
  type WatchFrame,
} from './ports.ts';
import { apiPath, decodeList, decodeMeta, decodeObject, kindPath, watchLine } from './wire.ts';

/** A call that has not answered for this long has failed. */
const CALL_TIMEOUT_MS = 15_000;
/** The API server ends a watch after this long, in seconds; the restart is cheap. */
const WATCH_SECONDS = 540;
/** How our writes are signed in managedFields. */
const FIELD_MANAGER = 'finalizer-bridge';
const META_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const META_LIST_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** What the adapter needs. `identity` names this process in Events. */
export interface ClusterOptions {
  readonly credentials: CredentialSource;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly identity: string;
}

interface Call {
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly doing: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
}

/** Creates the cluster port. */
export function createCluster(options: ClusterOptions): Cluster {
  const { credentials, metrics } = options;

  async function open(call: Call, signal?: AbortSignal): Promise<Dispatcher.ResponseData> {
    const send = async (current: Credentials) => {
      const headers = {
        ...current.headers,
        accept: call.accept ?? 'application/json',
        ...(call.contentType === undefined ? {} : { 'content-type': call.contentType }),
      };
      const isStream = signal !== undefined;
      return await current.dispatcher.request({
        origin: current.origin,
        path: current.prefix + call.path,
        method: call.method,
        headers,
        body: call.body ?? null,
        headersTimeout: CALL_TIMEOUT_MS,
        bodyTimeout: isStream ? 0 : CALL_TIMEOUT_MS,
        signal: signal ?? null,
      });
    };
    try {
      const first = await send(await credentials.current());
      metrics.apiCalls.inc({ verb: call.method, status: String(first.statusCode) });
      if (first.statusCode !== 401) return first;
      // A rotated token: read it again, once (K14).
      await first.body.dump();
      const second = await send(await credentials.renewed());
      metrics.apiCalls.inc({ verb: call.method, status: String(second.statusCode) });
      return second;
    } catch (cause) {
      metrics.apiCalls.inc({ verb: call.method, status: '0' });
      throw new ApiError(call.doing, 0, { cause });
    }
  }

  async function ask(call: Call): Promise<Answer> {
    const { statusCode: status, headers, body } = await open(call);
    try {
      return { status, headers, text: await body.text() };
    } catch (cause) {
      throw new ApiError(call.doing, 0, { cause });
    }
  }

  function refusal(call: Call, { status, headers, text }: Answer): ApiError {
    return new ApiError(call.doing, status, { retryAfter: retryAfterOf(headers), body: text });
  }

  return {
    async get(path: ObjectPath) {
      const call: Call = { method: 'GET', path: apiPath(path), doing: `getting ${describe(path)}` };
      const answer = await ask(call);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw refusal(call, answer);
      return decodeObject(JSON.parse(answer.text));
    },

    async patch(path: ObjectPath, operations: readonly PatchOperation[]): Promise<PatchOutcome> {
      const call: Call = {
        method: 'PATCH',
        path: `${apiPath(path)}?fieldManager=${FIELD_MANAGER}`,
        accept: META_ONLY,
        contentType: 'application/json-patch+json',
        body: JSON.stringify(operations),
        doing: `patching ${describe(path)}`,
      };
      const answer = await ask(call);
      if (answer.status === 200) return { kind: 'patched', meta: decodeMeta(JSON.parse(answer.text)) };
      if (answer.status === 404) return { kind: 'missing' };
      if (answer.status === 409 || answer.status === 422) return { kind: 'conflict' };
      throw refusal(call, answer);
    },

    async list(kind: KindRef, { limit, next }) {
      const query = new URLSearchParams({ limit: String(limit), ...(next === undefined ? {} : { continue: next }) });
      const path = `${kindPath(kind)}?${query}`;
      const call: Call = { method: 'GET', path, accept: META_LIST_ONLY, doing: `listing ${kind.resource}` };
      const answer = await ask(call);
      if (answer.status !== 200) throw refusal(call, answer);
      return decodeList(JSON.parse(answer.text));
    },

    async *watch(kind: KindRef, resourceVersion: string | undefined, signal: AbortSignal): AsyncGenerator<WatchFrame> {
      const from: Record<string, string> =
        resourceVersion === undefined
          ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
          : { resourceVersion };
      const fixed = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: String(WATCH_SECONDS) };
      const path = `${kindPath(kind)}?${new URLSearchParams({ ...fixed, ...from })}`;
      const call: Call = { method: 'GET', path, accept: META_ONLY, doing: `watching ${kind.resource}` };
      const { statusCode: status, headers, body } = await open(call, signal);
      if (status !== 200) throw refusal(call, { status, headers, text: await body.text() });
      try {
        for await (const text of lines(body)) {
          const line = watchLine(text);
          if (line.type === 'error') {
            throw new ApiError(call.doing, line.code, { retryAfter: line.retryAfter, body: line.message });
          }
          yield line;
        }
      } catch (cause) {
        if (cause instanceof ApiError) throw cause;
        throw new ApiError(call.doing, 0, { cause });
      }
    },

    async recordEvent(event: EventInput) {
      // The namespace of a cluster-scoped object's Event is `default`, as the API server demands.
      const namespace = event.object.namespace ?? 'default';
      const call: Call = {
        method: 'POST',
        path: kindPath({ group: 'events.k8s.io', version: 'v1', resource: 'events' }, namespace),
        contentType: 'application/json',
        body: JSON.stringify(eventOf(event, { namespace, identity: options.identity, now: options.clock.now() })),
        doing: `recording an Event on ${event.object.kind}/${event.object.name}`,
      };
      const answer = await ask(call);
      if (answer.status !== 201) throw refusal(call, answer);
    },
  };
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

function retryAfterOf(headers: Answer['headers']): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
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
    metadata: { name: `${object.name.slice(0, 200)}.${randomUUID()}`, namespace },
    eventTime: new Date(now).toISOString().replace('Z', '000Z'),
    reportingController: 'finalizer-bridge.dev/bridge',
    reportingInstance: identity,
    action,
    reason,
    type,
    note: message.slice(0, 1024),
    regarding: object,
  };
}
