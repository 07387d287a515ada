/*
 * The queue port in memory: what was sent is kept, what is delivered by hand says which messages may be deleted.
 * `sending` runs ahead of each call and gives the entries that the queue does not take, or throws.
 */
import type { Consumption, IncomingMessage, OutgoingMessage, Queue, SendFailure } from '../../bridge/ports.ts';

type Handle = (batch: readonly IncomingMessage[]) => Promise<ReadonlySet<string>>;

/** The fake queue. */
export class FakeQueue implements Queue {
  /** Every call that came in, in order. */
  readonly calls: { readonly queueUrl: string; readonly batch: readonly OutgoingMessage[] }[] = [];
  /** Bodies that the queue took, in order. */
  readonly taken: string[] = [];
  sending: (batch: readonly OutgoingMessage[]) => Promise<readonly SendFailure[]> = async () => [];
  #handle: Handle | undefined;
  #received = 0;

  async send(queueUrl: string, batch: readonly OutgoingMessage[]): Promise<readonly SendFailure[]> {
    this.calls.push({ queueUrl, batch });
    const failures = await this.sending(batch);
    const failed = new Set(failures.map(({ id }) => id));
    this.taken.push(...batch.filter(({ id }) => !failed.has(id)).map(({ body }) => body));
    return failures;
  }

  consume(_queueUrl: string, handle: Handle): Consumption {
    this.#handle = handle;
    return {
      stop: async () => {
        this.#handle = undefined;
      },
    };
  }

  get isConsumed(): boolean {
    return this.#handle !== undefined;
  }

  /** Hands one message over; resolves to whether it may be deleted. */
  async deliver(body: string, sender: string): Promise<boolean> {
    if (this.#handle === undefined) throw new Error('delivering a result: nobody consumes the queue');
    this.#received += 1;
    const messageId = `m-${this.#received}`;
    return (await this.#handle([{ messageId, body, sender, receiveCount: 1 }])).has(messageId);
  }
}
