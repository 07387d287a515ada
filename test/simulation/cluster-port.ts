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
  type KubeObject,
  type WatchFrame,
} from '../../bridge/ports.ts';
import { decodeMeta, decodeObject } from '../../bridge/wire.ts';
import type { ApiServer } from './api-server.ts';
import type { Refusal, SimulatedProcess } from './process.ts';
import { endOf, shuffled, type WatchFault, type WatchFaults } from './watch-faults.ts';

const BOOKMARK_MS = 60_000;
const WATCH_ENDS_MS = 540_000;
const CONFLICTS = new Set([409, 422]);

/** What a cluster port is made of. */
export interface ClusterPortInput {
  readonly server: ApiServer;
  readonly process: SimulatedProcess;
  readonly random: () => number;
  /** How far behind its watches are, in ms, beyond the usual few. */
  readonly watchLag: () => number;
  readonly watchFaults?: WatchFaults | undefined;
  /** Takes what the bridge tells people. */
  readonly onEvent: (event: EventInput) => void;
}

/** Makes the cluster port of one incarnation. */
export function createClusterPort(input: ClusterPortInput): Cluster {
  const { server, process, onEvent } = input;
  const call = <T>(doing: string, effect: () => T): Promise<T> =>
    process.call({ point: doing, effect, lost: (told) => failureOf(doing, told) });
  return {
    get: (path) => call(`get ${path.resource}/${path.name}`, () => copyOf(server.get(path))),
    patch: (path, operations) =>
      call(`patch ${path.resource}/${path.name}`, () => {
        try {
          const after = server.patch(path, structuredClone(operations), process.identity.name);
          return after === undefined ? { kind: 'missing' } : { kind: 'patched', meta: decodeMeta(after) };
        } catch (error) {
          if (error instanceof ApiError && CONFLICTS.has(error.status)) return { kind: 'conflict' };
          throw error;
        }
      }),
    list: (kind, { limit, next }) =>
      call(`list ${kind.resource}`, () => {
        const all = server.all(kind);
        const from = Number(next ?? 0);
        const items = all.slice(from, from + limit).map(decodeMeta);
        const rest = from + limit < all.length ? { next: String(from + limit) } : {};
        return { items, resourceVersion: String(server.version), ...rest };
      }),
    watch: (kind, resourceVersion, signal) => watch(input, { kind, resourceVersion, signal }),
    recordEvent: (event) => call(`event ${event.reason}`, () => onEvent(event)),
  };
}

function failureOf(doing: string, { status, retryAfter }: Refusal = { status: 0 }): ApiError {
  return new ApiError(doing, status, { retryAfter });
}

function copyOf(object: KubeObject | undefined): KubeObject | undefined {
  return object === undefined ? undefined : decodeObject(structuredClone(object));
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
    effect: () => follow(server, line, { kind, resourceVersion }),
    lost: (told) => failureOf(doing, told),
  });
  yield { type: 'opened' };
  const fault = input.watchFaults?.();
  if (fault !== undefined) {
    const past = () => server.past(kind).map(({ type, object }) => ({ type, meta: decodeMeta(object) }));
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
    for (const object of server.all(kind)) line.put({ type: 'present', meta: decodeMeta(object) });
    seen = server.version;
    line.put({ type: 'bookmark', resourceVersion: String(seen), synced: true });
  } else {
    seen = Number(resourceVersion);
    if (server.since(kind, seen) === undefined) throw new ApiError(`watch ${kind.resource}`, 410);
  }
  let stop = () => {};
  const send = () => {
    if (line.isOver) return stop();
    for (const { type, object, resourceVersion: version } of server.since(kind, seen) ?? []) {
      seen = version;
      line.put({ type, meta: decodeMeta(object) });
    }
  };
  send();
  stop = server.onWrite(send);
  line.open(stop, () => {
    send();
    line.put({ type: 'bookmark', resourceVersion: String(server.version), synced: false });
  });
}

/** The connection of one watch: frames arrive in order, each some time after it was sent. */
class Line {
  readonly #input: ClusterPortInput;
  readonly #signal: AbortSignal;
  readonly #arrived: (WatchFrame | ApiError | undefined)[] = [];
  #last = 0;
  #ended = false;
  #isSilent = false;
  #isBroken = false;
  #passed = 0;
  #due: { readonly lines: number; readonly strike: () => void } | undefined;
  #stop = () => {};
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
    process.later(this.#last - now, () => this.#arrive(frame));
  }

  /** A fault in the place of the line after so many: that one and what comes behind it are lost. */
  strikeAfter(lines: number, strike: () => void): void {
    this.#due = { lines, strike };
  }

  #arrive(frame: WatchFrame | ApiError | undefined): void {
    const isLine = frame !== undefined && !(frame instanceof ApiError);
    if (this.#isSilent || (this.#isBroken && isLine)) return;
    const due = this.#due;
    if (due !== undefined && isLine && this.#passed >= due.lines) {
      this.#due = undefined;
      this.#isBroken = true;
      due.strike();
      return;
    }
    this.#passed += 1;
    this.#arrived.push(frame);
    this.#wake?.();
  }

  /** What a fault does to it: what is on its way arrives before an end, and not at all in silence. */
  strike({ kind }: WatchFault, { doing, echoes }: { doing: string; echoes: () => readonly WatchFrame[] }): void {
    if (this.#ended) return;
    const end = endOf(kind, doing);
    if (kind === 'echo') this.#isBroken = false;
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

  /** The next frame; undefined at the end. */
  async next(): Promise<WatchFrame | undefined> {
    while (this.#arrived.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#signal.aborted) return undefined;
    const arrived = this.#arrived.shift();
    if (arrived instanceof ApiError) throw arrived;
    return arrived;
  }

  #end(): void {
    this.#ended = true;
    this.#stop();
    this.#wake?.();
  }
}
