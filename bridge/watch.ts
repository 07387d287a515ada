/*
 * Watches one kind for as long as the bridge runs: list, follow, and on any end follow again (K10 to K14, K17).
 * One restart loop per kind with capped, jittered back-off; a silent watch is cut by a watchdog; 410 means a new list.
 * Called by bridge.ts; what it sees goes to intake.ts. The initial list streams; older servers are listed in pages.
 */
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { ApiError, type Clock, type Cluster, type KindRef, type ObjectMeta, type Random } from './ports.ts';
import { backoff } from './work-queue.ts';

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
  present(kind: KindRef, meta: ObjectMeta): void;
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
  #done: Promise<void> | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  /** Begins; returns at once. */
  start(): void {
    this.#done = this.#run();
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
      metrics.watchRestarts.inc({ resource: kind.resource, cause: end.cause });
      this.#failures = end.failed ? this.#failures + 1 : 0;
      if (!end.failed) continue;
      sink.blind(kind, end.cause);
      const pause = Math.max(end.retryAfter ?? 0, backoff(this.#failures, random));
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
      } else {
        sink.resumed(kind);
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
    const { clock, kind, sink } = this.#options;
    const cut = new AbortController();
    let stalled = false;
    let cancel = () => {};
    const rewind = () => {
      cancel();
      cancel = clock.after(STALL_MS, () => {
        stalled = true;
        cut.abort();
      });
    };
    const onStop = () => cut.abort();
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    // Stopped while the pages were listed: no event comes any more.
    if (this.#stop.signal.aborted) cut.abort();
    try {
      rewind();
      for await (const frame of open(cut.signal)) {
        rewind();
        if (frame.type === 'bookmark') {
          this.#resourceVersion = frame.resourceVersion;
          if (frame.synced) sink.synced(kind);
          if (clock.monotonic() >= this.#relistAt) return { cause: 'Relist', failed: false };
        } else {
          sink[frame.type](kind, frame.meta);
          // Inside the initial list a version is no place to resume from: the list is in no order.
          if (this.#resourceVersion !== undefined) this.#resourceVersion = frame.meta.resourceVersion;
        }
        if (!this.#isShortLived()) this.#failures = 0;
      }
      return stalled
        ? { cause: 'Stalled', failed: true }
        : { cause: 'Ended', failed: this.#resourceVersion === undefined || this.#isShortLived() };
    } catch (error) {
      if (stalled) return { cause: 'Stalled', failed: true };
      throw error;
    } finally {
      cancel();
      cut.abort();
      this.#stop.signal.removeEventListener('abort', onStop);
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
