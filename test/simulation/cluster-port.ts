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
  type WatchFrame,
} from '../../bridge/ports.ts';
import type { ApiServer } from './api-server.ts';
import type { SimulatedProcess } from './process.ts';
import { endOf, shuffled, type WatchFault, type WatchFaults } from './watch-faults.ts';

const BOOKMARK_MS = 60_000;
const WATCH_ENDS_MS = 540_000;
const RETRY_AFTER_MS = 2_000;
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
  /** Takes what the bridge tells people. */
  readonly onEvent: (event: EventInput) => void;
}

/** What an API server serves and allows. Both are asked at the moment at which a call takes effect. */
export interface Access {
  isServed(kind: KindRef): boolean;
  /** The status with which a call is refused; undefined when it is allowed. */
  refusal(verb: 'get' | 'patch' | 'list' | 'watch', kind: KindRef): number | undefined;
  /** Called when the server ends every watch of a kind; returns what forgets it. */
  onEnd(kind: KindRef, end: () => void): () => void;
}

const OPEN: Access = { isServed: () => true, refusal: () => undefined, onEnd: () => () => {} };

/** Makes the cluster port of one incarnation. */
export function createClusterPort(input: ClusterPortInput): Cluster {
  const { server, process, onEvent, access = OPEN } = input;
  const call = <T>(doing: string, effect: () => T): Promise<T> =>
    process.call({ point: doing, effect, lost: (status) => errorOf(doing, status) });
  const check = (verb: 'get' | 'patch' | 'list', kind: KindRef) => {
    const status = access.refusal(verb, kind);
    if (status !== undefined) throw errorOf(`${verb} ${kind.resource}`, status);
  };
  return {
    get: (path) =>
      call(`get ${path.resource}/${path.name}`, () => {
        check('get', path);
        return access.isServed(path) ? server.get(path) : undefined;
      }),
    patch: (path, operations, subresource) =>
      call<PatchOutcome>(`patch ${path.resource}/${path.name}`, () => {
        check('patch', path);
        const by = process.identity.name;
        const after = access.isServed(path) ? server.patch(path, operations, by, subresource) : undefined;
        return after === undefined ? { kind: 'missing' } : { kind: 'patched', meta: after.metadata };
      }).catch((error: unknown) => {
        if (error instanceof ApiError && CONFLICTS.has(error.status)) return { kind: 'conflict' };
        throw error;
      }),
    list: (kind, { limit, next }) =>
      call(`list ${kind.resource}`, () => {
        check('list', kind);
        if (!access.isServed(kind)) throw new ApiError(`list ${kind.resource}`, 404);
        return server.list(kind, limit, next);
      }),
    watch: (kind, resourceVersion, signal) => watch(input, { kind, resourceVersion, signal }),
    recordEvent: (event) => call(`event ${event.reason}`, () => onEvent(event)),
  };
}

/** Servers that are busy say how long. */
function errorOf(doing: string, status: number): ApiError {
  return new ApiError(doing, status, status === 429 || status === 503 ? { retryAfter: RETRY_AFTER_MS } : {});
}

interface WatchInput {
  readonly kind: KindRef;
  readonly resourceVersion: string | undefined;
  readonly signal: AbortSignal;
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
      if (status !== undefined) throw errorOf(doing, status);
      line.until(access.onEnd(kind, () => line.strike({ kind: 'end', afterMs: 0 }, { doing, echoes: () => [] })));
      follow(server, line, { kind, resourceVersion });
    },
    lost: (status) => errorOf(doing, status),
  });
  yield { type: 'opened' };
  const fault = input.watchFaults?.();
  if (fault !== undefined) {
    const past = () => server.past(kind).map(({ type, object }) => ({ type, meta: object.metadata }));
    process.later(fault.afterMs, () => line.strike(fault, { doing, echoes: () => shuffled(past(), random) }));
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
    for (const object of server.all(kind)) line.put({ type: 'present', meta: object.metadata });
    seen = server.version;
    line.put({ type: 'bookmark', resourceVersion: String(seen), synced: true });
  } else {
    seen = Number(resourceVersion);
    if (server.since(kind, seen) === undefined) throw new ApiError(`watch ${kind.resource}`, 410);
  }
  let stop = () => {};
  const send = () => {
    if (line.isOver) return stop();
    for (const { type, object, isAdded, resourceVersion: version } of server.since(kind, seen) ?? []) {
      seen = version;
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

/** The connection of one watch: frames arrive in order, each some time after it was sent. */
class Line {
  readonly #input: ClusterPortInput;
  readonly #signal: AbortSignal;
  #arrived: (WatchFrame | ApiError | undefined)[] = [];
  #taken = 0;
  #last = 0;
  #ended = false;
  #isSilent = false;
  #stop = () => {};
  #forget = () => {};
  #wake: (() => void) | undefined;

  constructor(input: ClusterPortInput, signal: AbortSignal) {
    this.#input = input;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Nobody listens any more. */
  get isOver(): boolean {
    return this.#ended || !this.#input.process.isAlive;
  }

  put(frame: WatchFrame | ApiError | undefined): void {
    if (this.#isSilent) return;
    const { process, random, watchLag } = this.#input;
    const now = process.clock().monotonic();
    this.#last = Math.max(this.#last, now + 1 + random() * 10 + watchLag());
    process.later(this.#last - now, () => {
      if (this.#isSilent) return;
      this.#arrived.push(frame);
      this.#wake?.();
    });
  }

  /** What a fault does to it: what is on its way arrives before an end, and not at all in silence. */
  strike({ kind }: WatchFault, { doing, echoes }: { doing: string; echoes: () => readonly WatchFrame[] }): void {
    if (this.#ended) return;
    const end = endOf(kind, doing);
    if (kind === 'silent') this.#isSilent = true;
    else if (kind === 'echo') for (const frame of echoes()) this.put(frame);
    else this.put(end === 'end' ? undefined : end);
    if (end !== undefined) this.#stop();
  }

  /** Keeps it going: bookmarks, and the end that the server puts to every watch. */
  open(stop: () => void, bookmark: () => void): void {
    const { process } = this.#input;
    this.#stop = stop;
    if (this.#ended) stop();
    const tick = () => {
      if (this.#ended) return;
      bookmark();
      process.later(BOOKMARK_MS, tick);
    };
    process.later(BOOKMARK_MS, tick);
    process.later(WATCH_ENDS_MS, () => {
      stop();
      this.put(undefined);
    });
  }

  /** What is to be called when nobody listens any more. */
  until(forget: () => void): void {
    this.#forget = forget;
    if (this.#ended) forget();
  }

  /** The next frame; undefined at the end. */
  async next(): Promise<WatchFrame | undefined> {
    while (this.#taken === this.#arrived.length && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#signal.aborted) return undefined;
    const arrived = this.#arrived[this.#taken];
    this.#taken += 1;
    if (this.#taken === this.#arrived.length) {
      this.#arrived = [];
      this.#taken = 0;
    }
    if (arrived instanceof ApiError) throw arrived;
    return arrived;
  }

  #end(): void {
    this.#ended = true;
    this.#stop();
    this.#forget();
    this.#wake?.();
  }
}
