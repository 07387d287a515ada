/*
 * Watches one kind for as long as the bridge runs: list, follow, and on any end follow again (K10 to K14, K17).
 * One restart loop per kind with capped, jittered back-off; a silent watch is cut by a watchdog; 410 means a new list.
 * Called by bridge.ts; what it sees goes to intake.ts. The initial list streams; older servers are listed in pages.
 */
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { ApiError, type Clock, type Cluster, type Random, type Watched, type WatchFrame } from './ports.ts';
import type { Sink } from './watch-sink.ts';
import { backoff, RETRY_AFTER_MAX_MS } from './work-queue.ts';

/** A watch without a single line (bookmarks come about every minute) for this long is cut. */
export const STALL_MS = 150_000;
/** A full list is made again this often, jittered by a fifth: what a watch lost is found. */
export const RELIST_MS = 30 * 60_000;
/** A watch that ends sooner after it was open has failed, however quietly: what ends at once must not be restarted at once (K11). */
export const SHORT_LIVED_MS = 10_000;
const PAGE = 500;
const SYNC_RETRY_STATUSES = new Set([400, 422]);

/** What a watcher needs. */
export interface WatcherOptions {
  readonly kind: Watched;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly sink: Sink;
  readonly metrics: Metrics;
  readonly log: Log;
}

const STALLED = 'Stalled';
const EXPIRED = 'Expired';
const RELIST: End = { cause: 'Relist', failed: false };

type End = { readonly cause: string; readonly retryAfter?: number | undefined; readonly failed: boolean };

/** Watches a kind until stopped. */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #stop = new AbortController();
  #resourceVersion: string | undefined;
  #relistAt = 0;
  #pages = false;
  /** By cause, how often it has failed since it has last held: whoever answers again is not made to wait for the silence before. */
  readonly #failures = new Map<string, number>();
  /** Monotonic ms; undefined until the server has answered. */
  #openedAt: number | undefined;
  #isWatching = false;
  #wake = () => {};
  #done: Promise<void> | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  get kind(): Watched {
    return this.#options.kind;
  }

  /** Whether what it hands over is the present: the list was complete, and no end since has left it blind. */
  get isWatching(): boolean {
    return this.#isWatching;
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
      // Silent again where it was resumed after a failure: that it can be opened is no proof that it sees (K10).
      if (end.cause === STALLED && this.#failures.size > 0) this.#resourceVersion = undefined;
      else if (end.cause !== STALLED) this.#forgive();
      if (!end.failed) continue;
      const failures = (this.#failures.get(end.cause) ?? 0) + 1;
      this.#failures.set(end.cause, failures);
      // A version that is too old is answered by a list at once (K12), if not again and again.
      if (end.cause === EXPIRED && failures === 1) continue;
      this.#isWatching = false;
      sink.blind(kind, end.cause);
      const pause = Math.max(Math.min(end.retryAfter ?? 0, RETRY_AFTER_MAX_MS), backoff(failures, random));
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
    this.#openedAt = undefined;
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
    this.#synced();
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
      cancel = clock.after(STALL_MS, () => cutShort({ cause: STALLED, failed: true }));
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
      return cutFor ?? { cause: 'Ended', failed: !this.#hasHeld() };
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
    this.#forgive();
    switch (frame.type) {
      case 'opened':
        this.#openedAt = clock.monotonic();
        if (this.#resourceVersion === undefined) return 'go on';
        this.#isWatching = true;
        sink.resumed(kind);
        return 'go on';
      case 'bookmark':
        // Inside the initial list a version is no place to resume from: the list is in no order.
        if (frame.synced || this.#resourceVersion !== undefined) this.#resourceVersion = frame.resourceVersion;
        if (frame.synced) this.#synced();
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

  #synced(): void {
    const { kind, sink } = this.#options;
    this.#isWatching = true;
    sink.synced(kind);
  }

  /** Failures are forgotten when a watch has held; a list that is never complete is no proof of that. */
  #forgive(): void {
    if (this.#hasHeld()) this.#failures.clear();
  }

  #hasHeld(): boolean {
    return this.#resourceVersion !== undefined && !this.#isShortLived();
  }

  #isShortLived(): boolean {
    return this.#openedAt === undefined || this.#options.clock.monotonic() - this.#openedAt < SHORT_LIVED_MS;
  }

  #endOf(error: unknown): End {
    const { kind, log } = this.#options;
    const status = error instanceof ApiError ? error.status : 0;
    if (!this.#stop.signal.aborted) log.debug({ ...kind, err: explain(error) }, `watching ${kind.resource}: ended`);
    if (status === 410) {
      this.#forgive();
      this.#resourceVersion = undefined;
      return { cause: EXPIRED, failed: true };
    }
    if (SYNC_RETRY_STATUSES.has(status) && this.#resourceVersion === undefined && !this.#pages) {
      this.#pages = true;
      return { cause: 'NoStreamingList', failed: false };
    }
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    return { cause: status === 0 ? 'Broken' : `Http${status}`, retryAfter, failed: true };
  }
}
