/*
 * The bridge's Cluster port over the model of the API server: every call passes a fault point of its process.
 * Made by world.ts for each bridge incarnation. Watches begin with the objects as they are or with the history after a
 * version, send bookmarks, lag as their process's settings say, and end by themselves as the real ones do.
 */
import {
  ApiError,
  type Cluster,
  type EventInput,
  type KindRef,
  type PatchOutcome,
  type Watched,
  type WatchFrame,
} from '../../bridge/ports.ts';
import { isWithin } from '../support/stored-object.ts';
import type { ApiServer } from './api-server.ts';
import { Line } from './line.ts';
import type { Refusal, SimulatedProcess } from './process.ts';
import { shuffled, type WatchFaults } from './watch-faults.ts';

const CONFLICTS = new Set([409, 422]);

/** What a cluster port is made of. */
export interface ClusterPortInput {
  readonly server: ApiServer;
  readonly process: SimulatedProcess;
  readonly random: () => number;
  /** How far behind its watches are, in ms, beyond the usual few. */
  readonly watchLag: () => number;
  readonly watchFaults?: WatchFaults | undefined;
  /** What is served, and what this process may do; all of it unless told. */
  readonly access?: Access;
  /** The product's own class of errors, where that is another copy's. */
  readonly ApiError?: typeof ApiError | undefined;
  /** Takes what the bridge tells people. */
  readonly onEvent: (event: EventInput) => void;
}

/** What an API server serves and allows. Both are asked at the moment at which a call takes effect. */
export interface Access {
  isServed(place: Watched): boolean;
  /** The status with which a call is refused; undefined when it is allowed. */
  refusal(verb: 'get' | 'patch' | 'list' | 'watch', place: Watched): number | undefined;
  /** Whether no Event can be created in a namespace: it is being deleted, or the process has no rights there. */
  isClosed(namespace: string): boolean;
  /** Called when the server ends every watch of a kind; returns what forgets it. */
  onEnd(kind: KindRef, end: () => void): () => void;
}

const OPEN: Access = { isServed: () => true, refusal: () => undefined, isClosed: () => false, onEnd: () => () => {} };

/** Makes the cluster port of one incarnation. */
export function createClusterPort(input: ClusterPortInput): Cluster {
  const { server, process, onEvent, access = OPEN } = input;
  const call = <T>(doing: string, effect: () => T): Promise<T> => {
    const answer = process.call({ point: doing, effect, lost: (told) => failureOf(doing, told) });
    return input.ApiError === undefined
      ? answer
      : answer.catch((error: unknown) => Promise.reject(ownOf(input, error)));
  };
  const check = (verb: 'get' | 'patch' | 'list', place: Watched) => {
    const status = access.refusal(verb, place);
    if (status !== undefined) throw failureOf(`${verb} ${place.resource}`, { status });
  };
  return {
    get: (path) =>
      call(`get ${path.resource}/${path.name}`, () => {
        check('get', path);
        return access.isServed(path) ? server.get(path) : undefined;
      }),
    patch: (path, operations, how) =>
      call<PatchOutcome>(`patch ${path.resource}/${path.name}`, () => {
        check('patch', path);
        const by = process.identity.name;
        const subresource = how === 'status' ? how : undefined;
        const after = access.isServed(path) ? server.patch(path, operations, by, subresource) : undefined;
        if (after === undefined) return { kind: 'missing' };
        const shown = how === undefined ? {} : how === 'status' ? { status: after.status } : { object: after };
        return { kind: 'patched', meta: after.metadata, ...shown };
      }).catch((error: unknown) => {
        if (error instanceof ApiError && CONFLICTS.has(error.status)) return { kind: 'conflict' };
        throw error;
      }),
    list: (kind, page) =>
      call(`list ${kind.resource}`, () => {
        check('list', kind);
        if (!access.isServed(kind)) throw new ApiError(`list ${kind.resource}`, 404);
        return server.list(kind, page);
      }),
    watch: (kind, resourceVersion, signal) => watchAsOwn(input, { kind, resourceVersion, signal }),
    recordEvent: (event) =>
      call(`event ${event.reason}`, () => {
        if (access.isClosed(event.object.namespace ?? 'default')) throw new ApiError(`event ${event.reason}`, 403);
        onEvent(event);
      }),
  };
}

function failureOf(doing: string, { status, retryAfter }: Refusal = { status: 0 }): ApiError {
  return new ApiError(doing, status, { retryAfter });
}

interface WatchInput {
  readonly kind: Watched;
  readonly resourceVersion: string | undefined;
  readonly signal: AbortSignal;
}

/** What is thrown at a copy of the product is an error of that copy, or it would not know it. */
function ownOf({ ApiError: Own }: ClusterPortInput, error: unknown): unknown {
  if (Own === undefined || !(error instanceof ApiError)) return error;
  return new Own(error.message, error.status, { retryAfter: error.retryAfter, body: error.body });
}

async function* watchAsOwn(input: ClusterPortInput, from: WatchInput): AsyncGenerator<WatchFrame> {
  try {
    yield* watch(input, from);
  } catch (error) {
    throw ownOf(input, error);
  }
}

async function* watch(
  input: ClusterPortInput,
  { kind, resourceVersion, signal }: WatchInput,
): AsyncGenerator<WatchFrame> {
  const { server, process, random } = input;
  const doing = `watch ${kind.resource}`;
  const line = new Line(input, signal);
  await process.call({
    point: resourceVersion === undefined ? `${doing} from the start` : doing,
    effect: () => {
      const { access = OPEN } = input;
      const status = access.refusal('watch', kind) ?? (access.isServed(kind) ? undefined : 404);
      if (status !== undefined) throw failureOf(doing, { status });
      line.until(access.onEnd(kind, () => line.strike({ kind: 'end', afterMs: 0 }, { doing, echoes: () => [] })));
      follow(server, line, { kind, resourceVersion });
    },
    lost: (told) => failureOf(doing, told),
  });
  yield { type: 'opened' };
  const fault = input.watchFaults?.();
  if (fault !== undefined) {
    const told = () => server.past(kind).filter(({ object }) => isWithin(kind, object.metadata));
    const past = () => told().map(({ type, object }) => ({ type, meta: object.metadata }));
    const strike = () => line.strike(fault, { doing, echoes: () => shuffled(past(), random) });
    if (fault.severedBy !== undefined) fault.severedBy(strike);
    else if (fault.afterLines === undefined) process.later(fault.afterMs, strike);
    else line.strikeAfter(fault.afterLines, strike);
  }
  for (;;) {
    const frame = await line.next();
    if (frame === undefined) return;
    yield frame;
  }
}

/** Puts a line on a kind: first what there is, then what happens. */
function follow(server: ApiServer, line: Line, { kind, resourceVersion }: Omit<WatchInput, 'signal'>): void {
  let seen: number;
  if (resourceVersion === undefined) {
    const there = server.all(kind).filter(({ metadata }) => isWithin(kind, metadata));
    for (const { metadata: meta } of there) line.put({ type: 'present', meta, isAdded: true });
    seen = server.version;
    line.put({ type: 'bookmark', resourceVersion: String(seen), synced: true });
  } else {
    seen = Number(resourceVersion);
    // It is opened all the same, and then told so.
    if (server.since(kind, seen) === undefined) {
      line.put(new ApiError(`watch ${kind.resource}`, 410));
      return;
    }
  }
  let stop = () => {};
  const send = () => {
    if (line.isOver) return stop();
    for (const { type, object, isAdded, resourceVersion: version } of server.since(kind, seen) ?? []) {
      seen = version;
      if (!isWithin(kind, object.metadata)) continue;
      line.put({ type, meta: object.metadata, ...(isAdded ? { isAdded } : {}) });
    }
  };
  send();
  stop = server.onWrite(send, kind);
  line.open(stop, () => {
    send();
    line.put({ type: 'bookmark', resourceVersion: String(server.version), synced: false });
  });
}
