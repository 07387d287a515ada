/*
 * Sends requests: collects what is ready into batches by count and by bytes, and accounts for every entry (Q2).
 * Called by publishing.ts; each entry is asked once more, directly before the call, whether it may still go (trap V3).
 * A request never waits for company, except under load: behind a batch of several, the next one fills up for a moment.
 */
import { utf8Bytes } from './contract.ts';
import type { Clock, Queue } from './ports.ts';

/** SQS takes 10 entries a call; the byte limit stays below the smallest that SQS has had for a whole batch. */
export const BATCH_MAX_ENTRIES = 10;
export const BATCH_MAX_BYTES = 250_000;
const CALLS_IN_FLIGHT = 4;
/** How long after a batch of several the next one may fill up, in ms; about what a call to SQS takes. */
export const FILL_MS = 20;
/** The same while so much is in hand that nobody waits for this one. */
export const FILL_BUSY_MS = 60;

/** `stale`: the lease or the read behind it was too old at the moment of sending; nothing was sent. */
export type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'failed'; readonly detail: string; readonly cause?: unknown };

/** One request on its way. */
export interface Outgoing {
  readonly queueUrl: string;
  readonly body: string;
  /** Asked directly before the call. */
  mayGo(): boolean;
}

interface Waiting extends Outgoing {
  readonly bytes: number;
  /** Monotonic ms. */
  readonly since: number;
  resolve(outcome: SendOutcome): void;
}

/** Told how many entries a call carried and how it ended. */
export type OnCall = (call: { readonly entries: number; readonly failed: number }) => void;

/** What the outbox needs. */
export interface OutboxOptions {
  readonly queue: Queue;
  readonly clock: Clock;
  readonly onCall: OnCall;
  /** Whether so many deletions are in hand that more requests are sure to come; never unless told. */
  isBusy?(): boolean;
}

/** The requests of one queue. */
interface Line {
  readonly waiting: Waiting[];
  inFlight: number;
  /** Monotonic ms: until then a batch that is not full waits for more. */
  fillsUntil: number;
  /** Ends the waiting; set while a batch fills up. */
  cancel: (() => void) | undefined;
}

/** Batches requests per queue. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Resolves when the queue has confirmed or refused the entry; never rejects. */
  send(outgoing: Outgoing): Promise<SendOutcome> {
    const { queueUrl, body } = outgoing;
    const line = this.#lines.get(queueUrl) ?? { waiting: [], inFlight: 0, fillsUntil: 0, cancel: undefined };
    this.#lines.set(queueUrl, line);
    const since = this.#options.clock.monotonic();
    return new Promise((resolve) => {
      line.waiting.push({ ...outgoing, mayGo: () => outgoing.mayGo(), bytes: utf8Bytes(body), since, resolve });
      // Requests that became ready in the same breath travel together.
      const { length } = line.waiting;
      if (length === 1 || length % BATCH_MAX_ENTRIES === 0) queueMicrotask(() => this.#pump(queueUrl, line));
    });
  }

  #pump(queueUrl: string, line: Line): void {
    while (line.waiting.length > 0 && line.inFlight < CALLS_IN_FLIGHT && !this.#fillsUp(queueUrl, line)) {
      const batch = takeBatch(line.waiting).filter((entry) => {
        const goes = entry.mayGo();
        if (!goes) entry.resolve({ kind: 'stale' });
        return goes;
      });
      if (batch.length === 0) continue;
      line.fillsUntil = batch.length > 1 ? this.#options.clock.monotonic() + FILL_MS : 0;
      line.inFlight += 1;
      void this.#call(queueUrl, batch).finally(() => {
        line.inFlight -= 1;
        this.#pump(queueUrl, line);
      });
    }
  }

  /** Whether what waits is better left to fill up; then it goes when the time is over, or when it is full. */
  #fillsUp(queueUrl: string, line: Line): boolean {
    const { clock, isBusy } = this.#options;
    const { waiting } = line;
    line.cancel?.();
    line.cancel = undefined;
    const isFull = countOfBatch(waiting) < waiting.length || waiting.length >= BATCH_MAX_ENTRIES;
    const since = isBusy?.() === true ? waiting[0]?.since : undefined;
    const until = Math.max(since === undefined ? 0 : since + FILL_BUSY_MS, line.fillsUntil);
    const left = until - clock.monotonic();
    if (isFull || left <= 0) return false;
    line.cancel = clock.after(left, () => {
      line.cancel = undefined;
      this.#pump(queueUrl, line);
    });
    return true;
  }

  async #call(queueUrl: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const failures = await this.#options.queue.send(
        queueUrl,
        batch.map(({ body }, index) => ({ id: String(index), body })),
      );
      const failed = new Map(failures.map((failure) => [failure.id, failure]));
      this.#options.onCall({ entries: batch.length, failed: failed.size });
      batch.forEach((entry, index) => {
        const failure = failed.get(String(index));
        entry.resolve(
          failure === undefined ? { kind: 'sent' } : { kind: 'failed', detail: `${failure.code}: ${failure.detail}` },
        );
      });
    } catch (cause) {
      this.#options.onCall({ entries: batch.length, failed: batch.length });
      const detail = cause instanceof Error ? cause.message : String(cause);
      for (const entry of batch) entry.resolve({ kind: 'failed', detail, cause });
    }
  }
}

/** Takes the head of the line, as many as one call carries. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  return waiting.splice(0, countOfBatch(waiting));
}

function countOfBatch(waiting: readonly Waiting[]): number {
  let bytes = 0;
  let count = 0;
  for (const entry of waiting) {
    if (count === BATCH_MAX_ENTRIES || (count > 0 && bytes + entry.bytes > BATCH_MAX_BYTES)) break;
    bytes += entry.bytes;
    count += 1;
  }
  return count;
}
