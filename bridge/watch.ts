/*
 * Watches one kind for as long as the bridge runs: list, follow, and on any end follow again (K10 to K14, K17).
 * One restart loop per kind with capped, jittered back-off; a silent watch is cut by a watchdog; 410 means a new list.
 * Called by bridge.ts; what it sees goes to intake.ts. The initial list streams; older servers are listed in pages.
 */
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import {
  ApiError,
  type Clock,
  type Cluster,
  type KindRef,
  type ObjectMeta,
  type Random,
  type WatchFrame,
} from './ports.ts';
import { backoff, RETRY_AFTER_MAX_MS } from './work-queue.ts';

/** A watch without a single line (bookmarks come about every minute) for this long is cut. */
export const STALL_MS = 150_000;
/** A full list is made again this often, jittered by a fifth: what a watch lost is found. */
export const RELIST_MS = 30 * 60_000;
/** A watch that ends sooner has failed, however quietly: what ends at once must not be restarted at once (K11, K12). */
export const SHORT_LIVED_MS = 10_000;
const PAGE = 500;
const SYNC_RETRY_STATUSES = new Set([400, 422]);

/** Where what is seen goes. */
export interface Sink {
  /** A new complete list begins. */
  listing(kind: KindRef): void;
  /** `isNew`: it was created just now, and is shown as it was created; in a list nobody can tell. */
  present(kind: KindRef, meta: ObjectMeta, isNew?: boolean): void;
  deleted(kind: KindRef, meta: ObjectMeta): void;
  /** The list is complete: what was not present in it is gone. */
  synced(kind: KindRef): void;
  /** The kind is not being watched any more, until `synced` comes again or the watch goes on. */
  blind(kind: KindRef, cause: string): void;
  /** The watch is open again without a new list. */
  resumed(kind: KindRef): void;
}

/** What a watcher needs. */
export interface WatcherOptions {
  readonly kind: KindRef;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly sink: Sink;
  readonly metrics: Metrics;
  readonly log: Log;
}

const RELIST: End = { cause: 'Relist', failed: false };

type End = { readonly cause: string; readonly retryAfter?: number | undefined; readonly failed: boolean };

/** Watches a kind until stopped. */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #stop = new AbortController();
  #resourceVersion: string | undefined;
  #relistAt = 0;
  #pages = false;
  #failures = 0;
  #openedAt = 0;
  #wake = () => {};
  #done: Promise<void> | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  get kind(): KindRef {
    return this.#options.kind;
  }

  /** Begins; returns at once. */
  start(): void {
    this.#done = this.#run();
  }

  /** Lists again at once; a list that is under way comes to its end first. */
  relist(): void {
    this.#relistAt = 0;
    this.#wake();
  }

  /** Ends the watch and resolves when nothing more will be handed over. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { clock, random, sink, kind, metrics, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      const end = await this.#once();
      if (this.#stop.signal.aborted) return;
      metrics.watchRestarts.inc({ group: kind.group, resource: kind.resource, cause: end.cause });
      this.#failures = end.failed ? this.#failures + 1 : 0;
      if (!end.failed) continue;
      sink.blind(kind, end.cause);
      const pause = Math.max(Math.min(end.retryAfter ?? 0, RETRY_AFTER_MAX_MS), backoff(this.#failures, random));
      log.warn({ ...kind, cause: end.cause, pause }, `watching ${kind.resource}: starting again`);
      await new Promise<void>((resolve) => {
        const goOn = () => {
          cancel();
          this.#stop.signal.removeEventListener('abort', goOn);
          resolve();
        };
        const cancel = clock.after(pause, goOn);
        this.#stop.signal.addEventListener('abort', goOn, { once: true });
      });
    }
  }

  /** One list-and-follow; any end is described, never thrown. */
  async #once(): Promise<End> {
    const { clock, random, cluster, kind, sink } = this.#options;
    this.#openedAt = clock.monotonic();
    try {
      if (clock.monotonic() >= this.#relistAt) this.#resourceVersion = undefined;
      const isListing = this.#resourceVersion === undefined;
      if (isListing) {
        this.#relistAt = clock.monotonic() + RELIST_MS * (0.8 + 0.4 * random());
        sink.listing(kind);
        if (this.#pages) await this.#listPages();
      }
      return await this.#follow((signal) => cluster.watch(kind, this.#resourceVersion, signal));
    } catch (error) {
      return this.#endOf(error);
    }
  }

  async #listPages(): Promise<void> {
    const { cluster, kind, sink } = this.#options;
    let next: string | undefined;
    let resourceVersion: string;
    do {
      const page = await cluster.list(kind, { limit: PAGE, next });
      for (const meta of page.items) sink.present(kind, meta);
      ({ resourceVersion, next } = page);
    } while (next !== undefined);
    this.#resourceVersion = resourceVersion;
    sink.synced(kind);
  }

  async #follow(open: (signal: AbortSignal) => ReturnType<Cluster['watch']>): Promise<End> {
    const { clock } = this.#options;
    const cut = new AbortController();
    let cutFor: End | undefined;
    const cutShort = (end: End) => {
      cutFor ??= end;
      cut.abort();
    };
    let cancel = () => {};
    const rewind = () => {
      cancel();
      cancel = clock.after(STALL_MS, () => cutShort({ cause: 'Stalled', failed: true }));
    };
    const onStop = () => cut.abort();
    this.#wake = () => {
      // Cut short again and again, a list would never come to its end.
      if (this.#resourceVersion !== undefined) cutShort(RELIST);
    };
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    // Stopped, or asked for another list, while the pages were listed.
    if (this.#stop.signal.aborted) cut.abort();
    else if (clock.monotonic() >= this.#relistAt) this.#wake();
    try {
      rewind();
      for await (const frame of open(cut.signal)) {
        rewind();
        if (this.#take(frame) === 'relist') return RELIST;
      }
      return cutFor ?? { cause: 'Ended', failed: this.#resourceVersion === undefined || this.#isShortLived() };
    } catch (error) {
      if (cutFor !== undefined) return cutFor;
      throw error;
    } finally {
      cancel();
      cut.abort();
      this.#stop.signal.removeEventListener('abort', onStop);
    }
  }

  #take(frame: WatchFrame): 'relist' | 'go on' {
    const { clock, kind, sink } = this.#options;
    if (!this.#isShortLived()) this.#failures = 0;
    switch (frame.type) {
      case 'opened':
        if (this.#resourceVersion !== undefined) sink.resumed(kind);
        return 'go on';
      case 'bookmark':
        // Inside the initial list a version is no place to resume from: the list is in no order.
        if (frame.synced || this.#resourceVersion !== undefined) this.#resourceVersion = frame.resourceVersion;
        if (frame.synced) sink.synced(kind);
        return clock.monotonic() >= this.#relistAt ? 'relist' : 'go on';
      case 'present':
      case 'deleted':
        if (frame.type === 'deleted') sink.deleted(kind, frame.meta);
        else sink.present(kind, frame.meta, frame.isAdded === true && this.#resourceVersion !== undefined);
        if (this.#resourceVersion !== undefined) this.#resourceVersion = frame.meta.resourceVersion;
        return 'go on';
      default:
        return frame satisfies never;
    }
  }

  #isShortLived(): boolean {
    return this.#options.clock.monotonic() - this.#openedAt < SHORT_LIVED_MS;
  }

  #endOf(error: unknown): End {
    const { kind, log } = this.#options;
    const status = error instanceof ApiError ? error.status : 0;
    if (!this.#stop.signal.aborted) log.debug({ ...kind, err: explain(error) }, `watching ${kind.resource}: ended`);
    if (status === 410) {
      const isLoop = this.#resourceVersion === undefined || this.#isShortLived();
      this.#resourceVersion = undefined;
      return { cause: 'Expired', failed: isLoop };
    }
    if (SYNC_RETRY_STATUSES.has(status) && this.#resourceVersion === undefined && !this.#pages) {
      this.#pages = true;
      return { cause: 'NoStreamingList', failed: false };
    }
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    return { cause: status === 0 ? 'Broken' : `Http${status}`, retryAfter, failed: true };
  }
}
