/*
 * A watcher over streams that a test writes by hand: each watch it opens is a stream here, with what it asked for.
 * What it hands over is noted in order, in words.
 */
import { createMetrics } from '../../bridge/metrics.ts';
import type { Cluster, KindRef, ListPage, ObjectMeta, WatchFrame } from '../../bridge/ports.ts';
import { ApiError } from '../../bridge/ports.ts';
import { Watcher } from '../../bridge/watch.ts';
import type { Sink } from '../../bridge/watch-sink.ts';
import { BUCKETS, keptLog, metaOf } from './bridge-builders.ts';
import { ManualClock, settled } from './manual-clock.ts';

/** One open watch. */
export class Stream {
  readonly from: string | undefined;
  readonly signal: AbortSignal;
  readonly #frames: WatchFrame[] = [];
  #ended: { readonly error: Error | undefined } | undefined;
  #wake = () => {};

  constructor(from: string | undefined, signal: AbortSignal) {
    this.from = from;
    this.signal = signal;
    const onAbort = () => this.end(new ApiError('watching', 0));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  async say(...frames: readonly WatchFrame[]): Promise<void> {
    this.#frames.push(...frames);
    this.#wake();
    await settled();
  }

  /** Ends quietly, or with an error. */
  end(error?: Error): void {
    this.#ended ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchFrame> {
    yield { type: 'opened' };
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) yield frame;
      else if (this.#ended === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else {
        if (this.#ended.error !== undefined) throw this.#ended.error;
        return;
      }
    }
  }
}

/** A bookmark; the one that ends the initial list when `synced`. */
export function bookmark(resourceVersion: string, synced = false): WatchFrame {
  return { type: 'bookmark', resourceVersion, synced };
}

/** An object seen at a version. */
export function present(name: string, resourceVersion: string): WatchFrame {
  return { type: 'present', meta: metaOf({ name, uid: `uid-${name}`, resourceVersion }) };
}

/** An object shown as it is added: to the list, or to the world. */
export function added(name: string, resourceVersion: string): WatchFrame {
  return { type: 'present', isAdded: true, meta: metaOf({ name, uid: `uid-${name}`, resourceVersion }) };
}

/** A watcher and its world. */
export class WatchBench implements Sink {
  readonly clock = new ManualClock();
  readonly metrics = createMetrics();
  readonly streams: Stream[] = [];
  readonly seen: string[] = [];
  pages: readonly ListPage[] = [];
  readonly listed: { readonly limit: number; readonly next?: string | undefined }[] = [];
  /** Runs before a page is given. */
  paging: () => void = () => {};
  readonly watcher: Watcher;

  constructor(random = 0.5) {
    const never = async (): Promise<never> => {
      throw new Error('a watcher neither reads nor writes objects');
    };
    const cluster: Cluster = {
      ...{ get: never, patch: never, recordEvent: never },
      watch: (_kind, from, signal) => {
        const stream = new Stream(from, signal);
        this.streams.push(stream);
        return stream;
      },
      list: async (_kind, page) => {
        this.paging();
        this.listed.push(page);
        const [found] = this.pages.slice(Number(page.next ?? 0));
        if (found === undefined) throw new ApiError('listing', 500);
        return found;
      },
    };
    this.watcher = new Watcher({
      ...{ kind: BUCKETS, cluster, clock: this.clock, random: () => random },
      ...{ sink: this, metrics: this.metrics, log: keptLog().log },
    });
  }

  /** The newest stream. */
  get stream(): Stream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no watch is open');
    return stream;
  }

  /** Starts the watcher and lists one object at version 5. */
  static async synced(): Promise<WatchBench> {
    const bench = new WatchBench();
    await bench.start();
    await bench.stream.say(present('logs', '3'), bookmark('5', true));
    return bench;
  }

  async start(): Promise<void> {
    this.watcher.start();
    await settled();
  }

  /** Ends the newest stream after it lived for a while. */
  async endAfter(ms: number, error?: Error): Promise<void> {
    await this.clock.advance(ms);
    this.stream.end(error);
    await settled();
  }

  listing(_kind: KindRef): void {
    this.seen.push('listing');
  }
  present(_kind: KindRef, { name, resourceVersion }: ObjectMeta, isNew: boolean): void {
    this.seen.push(`${isNew ? 'new' : 'present'} ${name}@${resourceVersion}`);
  }
  deleted(_kind: KindRef, { name }: ObjectMeta): void {
    this.seen.push(`deleted ${name}`);
  }
  synced(_kind: KindRef): void {
    this.seen.push('synced');
  }
  blind(_kind: KindRef, cause: string): void {
    this.seen.push(`blind ${cause}`);
  }
  resumed(_kind: KindRef): void {
    this.seen.push('resumed');
  }
}
