/*
 * Deletes results that have come to their end, ten to a call: nobody waits for it, so they are collected over all
 * polls for a moment. Used by sqs.ts and sqs-polling.ts. One that is not deleted comes again, and does no harm (P6).
 */
import * as z from 'zod/mini';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock } from './ports.ts';
import type { SqsClient } from './sqs-client.ts';

const BATCH = 10;
/** Far below the visibility timeout of any result queue. */
const COLLECT_MS = 200;

const deleted = z.object({ Failed: z.nullish(z.array(z.object({ Code: z.string() }))) });

/** What deleting needs. */
export interface AcknowledgingOptions {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Deletes messages of one queue. */
export class Acknowledger {
  readonly #options: AcknowledgingOptions;
  readonly #calls = new Set<Promise<void>>();
  #receipts: string[] = [];
  #cancel = () => {};

  constructor(options: AcknowledgingOptions) {
    this.#options = options;
  }

  /** Has a received message deleted, soon. */
  add(receiptHandle: string): void {
    this.#receipts.push(receiptHandle);
    if (this.#receipts.length >= BATCH) this.#go();
    else if (this.#receipts.length === 1) this.#cancel = this.#options.clock.after(COLLECT_MS, () => this.#go());
  }

  /** Deletes what is left, and resolves when no call is under way. */
  async flush(): Promise<void> {
    this.#go();
    await Promise.all(this.#calls);
  }

  #go(): void {
    this.#cancel();
    const receipts = this.#receipts.splice(0);
    if (receipts.length === 0) return;
    const call = this.#delete(receipts).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async #delete(receipts: readonly string[]): Promise<void> {
    const { client, queueUrl, metrics, log } = this.#options;
    const Entries = receipts.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
    try {
      const answer = await client.ask({ action: 'DeleteMessageBatch', queueUrl, input: { Entries } });
      const failed = deleted.parse(answer).Failed ?? [];
      metrics.queueCalls.inc({ call: 'delete', outcome: outcomeOf(failed.length, receipts.length) });
      if (failed.length === 0) return;
      const codes = [...new Set(failed.map(({ Code }) => Code))].join(', ');
      log.warn({ queueUrl, failed: failed.length, codes }, 'deleting results: some come again');
    } catch (error) {
      metrics.queueCalls.inc({ call: 'delete', outcome: 'failed' });
      log.warn({ queueUrl, results: receipts.length, err: explain(error) }, 'deleting results: they come again');
    }
  }
}

function outcomeOf(failed: number, all: number): 'ok' | 'partial' | 'failed' {
  if (failed === 0) return 'ok';
  return failed === all ? 'failed' : 'partial';
}
