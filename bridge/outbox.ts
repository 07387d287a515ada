/*
 * Sends requests: collects what is ready into batches by count and by bytes, and accounts for every entry (Q2).
 * Called by publishing.ts; each entry is asked once more, directly before the call, whether it may still go (trap V3).
 * No lingering: a batch leaves as soon as a call is free, so batches fill by themselves under load.
 */
import { utf8Bytes } from './contract.ts';
import type { Queue } from './ports.ts';

/** SQS takes 10 entries a call; the byte limit stays below the smallest that SQS has had for a whole batch. */
export const BATCH_MAX_ENTRIES = 10;
export const BATCH_MAX_BYTES = 250_000;
const CALLS_IN_FLIGHT = 4;

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
  resolve(outcome: SendOutcome): void;
}

/** Told how many entries a call carried and how it ended. */
export type OnCall = (call: { readonly entries: number; readonly failed: number }) => void;

/** Batches requests per queue. */
export class Outbox {
  readonly #queue: Queue;
  readonly #onCall: OnCall;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #inFlight = new Map<string, number>();

  constructor(queue: Queue, onCall: OnCall) {
    this.#queue = queue;
    this.#onCall = onCall;
  }

  /** Resolves when the queue has confirmed or refused the entry; never rejects. */
  send(outgoing: Outgoing): Promise<SendOutcome> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(outgoing.queueUrl) ?? [];
      waiting.push({ ...outgoing, mayGo: () => outgoing.mayGo(), bytes: utf8Bytes(outgoing.body), resolve });
      this.#waiting.set(outgoing.queueUrl, waiting);
      // Requests that became ready in the same breath travel together.
      if (waiting.length === 1) queueMicrotask(() => this.#pump(outgoing.queueUrl));
    });
  }

  #pump(queueUrl: string): void {
    const waiting = this.#waiting.get(queueUrl) ?? [];
    const inFlight = this.#inFlight.get(queueUrl) ?? 0;
    if (waiting.length === 0 || inFlight >= CALLS_IN_FLIGHT) return;
    const batch = takeBatch(waiting).filter((entry) => {
      const goes = entry.mayGo();
      if (!goes) entry.resolve({ kind: 'stale' });
      return goes;
    });
    if (batch.length > 0) {
      this.#inFlight.set(queueUrl, inFlight + 1);
      void this.#call(queueUrl, batch).finally(() => {
        this.#inFlight.set(queueUrl, (this.#inFlight.get(queueUrl) ?? 1) - 1);
        this.#pump(queueUrl);
      });
    }
    this.#pump(queueUrl);
  }

  async #call(queueUrl: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const failures = await this.#queue.send(
        queueUrl,
        batch.map(({ body }, index) => ({ id: String(index), body })),
      );
      const failed = new Map(failures.map((failure) => [failure.id, failure]));
      this.#onCall({ entries: batch.length, failed: failed.size });
      batch.forEach((entry, index) => {
        const failure = failed.get(String(index));
        entry.resolve(
          failure === undefined ? { kind: 'sent' } : { kind: 'failed', detail: `${failure.code}: ${failure.detail}` },
        );
      });
    } catch (cause) {
      this.#onCall({ entries: batch.length, failed: batch.length });
      const detail = cause instanceof Error ? cause.message : String(cause);
      for (const entry of batch) entry.resolve({ kind: 'failed', detail, cause });
    }
  }
}

/** Takes the head of the line, as many as one call carries. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const entry of waiting) {
    if (count === BATCH_MAX_ENTRIES || (count > 0 && bytes + entry.bytes > BATCH_MAX_BYTES)) break;
    bytes += entry.bytes;
    count += 1;
  }
  return waiting.splice(0, count);
}
