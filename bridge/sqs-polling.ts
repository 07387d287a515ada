/*
 * Receives results by long polls: hands over batches, has deleted what the handler says is done. Used by sqs.ts.
 * A batch is not waited for before the next poll, so that one slow result stalls no other; how many are in hand is bounded.
 * One poll goes on and on. A spare one waits beside it, unless results come so fast that few polls with full batches are better.
 */
import * as z from 'zod/mini';
import type { WholeCheck } from './checksum.ts';
import { doubled } from './doubling.ts';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, IncomingMessage } from './ports.ts';
import type { QueueHealth } from './queue-health.ts';
import type { Acknowledger } from './sqs-acknowledging.ts';
import type { SqsClient } from './sqs-client.ts';

const LONG_POLL_SECONDS = 20;
const PAUSE_AFTER_ERROR_MS = 1_000;
/** An empty answer that came sooner was not waited for as asked: whoever answers so is asked ever less often. */
const EARLY_MS = 10_000;
const EARLY_PAUSE_MS = { first: 100, most: 2_000 };
const BATCH = 10;
/** Received and not yet settled, at most; what hangs is given up after seconds. */
const IN_HAND_MAX = 80;
/** From so many results on they come fast: fewer and fuller polls are better then. */
const SEVERAL = 3;
/** So long the next poll leaves them time, and so much longer while several are in hand. */
const FILL_MS = 20;
const SETTLE_MS = 250;
/** So long after that the spare poll stays away. */
const FAST_MS = 1_000;
const NEVER = () => false;

const received = z.object({
  Messages: z.nullish(
    z.array(
      z.object({
        MessageId: z.string(),
        ReceiptHandle: z.string(),
        Body: z.string(),
        MD5OfBody: z.optional(z.string()),
        Attributes: z.nullish(z.record(z.string(), z.string())),
      }),
    ),
  ),
});
type Message = NonNullable<z.output<typeof received>['Messages']>[number];

/** What polling needs. */
export interface PollingOptions {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly health: QueueHealth;
  readonly acknowledger: Acknowledger;
  readonly isWhole: WholeCheck;
  /** Resolves to the ids of the messages that may be deleted. */
  handle(batch: readonly IncomingMessage[]): Promise<ReadonlySet<string>>;
}

/** The polls of one queue. */
export class Polling {
  readonly #options: PollingOptions;
  readonly #stop = new AbortController();
  readonly #handling = new Set<Promise<void>>();
  /** Ends a pause when what it waits for has come. */
  readonly #wakes = new Set<() => void>();
  #loops: readonly Promise<void>[] = [];
  #inHand = 0;
  /** Monotonic ms; until then the spare poll stays away. */
  #isFastUntil = 0;
  /** Empty answers in a row that came early. */
  #early = 0;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loops = [this.#poll(() => 0), this.#poll(() => this.#isFastUntil - this.#options.clock.monotonic())];
  }

  /** Cuts polls that wait; what is in hand is ended first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#news();
    await Promise.all(this.#loops);
    await Promise.all(this.#handling);
  }

  /** Polls again and again; `restFor` says how long it should stay away, in ms. */
  async #poll(restFor: () => number): Promise<void> {
    const hasRoom = () => this.#inHand <= IN_HAND_MAX - BATCH;
    while (!this.#stop.signal.aborted) {
      const rest = restFor();
      if (rest > 0) await this.#pause(rest, () => restFor() <= 0);
      else if (!hasRoom()) await this.#pause(PAUSE_AFTER_ERROR_MS, hasRoom);
      else await this.#once();
    }
  }

  async #once(): Promise<void> {
    const began = this.#options.clock.monotonic();
    const messages = await this.#receive();
    if (messages === undefined) return await this.#pause(PAUSE_AFTER_ERROR_MS, NEVER);
    if (messages.length === 0) return await this.#rest(this.#options.clock.monotonic() - began);
    this.#early = 0;
    this.#take(messages);
    if (messages.length < BATCH) return await this.#fill(messages.length);
    // One poll is not enough.
    this.#isFastUntil = 0;
    this.#news();
  }

  /** After a poll that found nothing and took so many ms. */
  async #rest(ms: number): Promise<void> {
    if (ms >= EARLY_MS || this.#stop.signal.aborted) {
      this.#early = 0;
      return;
    }
    this.#count('poll', 'early');
    if (this.#early === 0) {
      const { log, queueUrl } = this.#options;
      log.info({ queueUrl, ms }, 'polling for results: an empty answer came before its time; pausing in between');
    }
    this.#early += 1;
    await this.#pause(doubled(EARLY_PAUSE_MS, this.#early - 1), () => this.#early === 0);
  }

  /** Leaves results time to come together, where they come fast. */
  async #fill(count: number): Promise<void> {
    if (Math.max(count, this.#inHand) < SEVERAL) return;
    this.#isFastUntil = this.#options.clock.monotonic() + FAST_MS;
    if (count >= SEVERAL) await this.#pause(FILL_MS, NEVER);
    const isSettled = () => this.#inHand < SEVERAL;
    if (!isSettled()) await this.#pause(SETTLE_MS, isSettled);
  }

  /** Undefined when the poll failed. */
  async #receive(): Promise<readonly Message[] | undefined> {
    const { client, queueUrl, health, log } = this.#options;
    const input = {
      MaxNumberOfMessages: BATCH,
      WaitTimeSeconds: LONG_POLL_SECONDS,
      MessageSystemAttributeNames: ['SenderId', 'ApproximateReceiveCount'],
    };
    try {
      const answer = await client.ask({ action: 'ReceiveMessage', queueUrl, input, signal: this.#stop.signal });
      const messages = received.parse(answer).Messages ?? [];
      health.answers();
      this.#count('receive', messages.length === 0 ? 'empty' : 'ok');
      return messages;
    } catch (error) {
      // The poll that a stop cuts is no trouble.
      if (this.#stop.signal.aborted) return [];
      this.#count('poll', 'failed');
      health.fails(explain(error));
      log.warn({ queueUrl, err: explain(error) }, 'polling for results: trying again');
      return undefined;
    }
  }

  #take(messages: readonly Message[]): void {
    this.#inHand += messages.length;
    const handling = this.#handle(messages).finally(() => {
      this.#handling.delete(handling);
      this.#inHand -= messages.length;
      this.#news();
    });
    this.#handling.add(handling);
  }

  async #handle(messages: readonly Message[]): Promise<void> {
    const { handle, acknowledger, queueUrl, log } = this.#options;
    // An altered body is left to come again.
    const whole = messages.filter(({ Body, MD5OfBody }) => this.#options.isWhole(Body, MD5OfBody));
    if (whole.length < messages.length) {
      log.warn(
        { queueUrl, altered: messages.length - whole.length },
        'receiving results: bodies were altered on the way',
      );
    }
    try {
      const done = await handle(whole.map(incoming));
      for (const { MessageId, ReceiptHandle } of whole) if (done.has(MessageId)) acknowledger.add(ReceiptHandle);
    } catch (error) {
      this.#count('poll', 'failed');
      log.warn({ queueUrl, err: explain(error) }, 'handling results: they come again');
    }
  }

  /** Waits so long, or until something has come. */
  async #pause(ms: number, hasCome: () => boolean): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        this.#wakes.delete(wake);
        resolve();
      };
      const wake = () => {
        if (this.#stop.signal.aborted || hasCome()) end();
      };
      const cancel = this.#options.clock.after(ms, end);
      this.#wakes.add(wake);
    });
  }

  #news(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  #count(call: string, outcome: string): void {
    this.#options.metrics.queueCalls.inc({ call, outcome });
  }
}

function incoming({ MessageId, Body, Attributes }: Message): IncomingMessage {
  const { SenderId = '', ApproximateReceiveCount = '1' } = Attributes ?? {};
  return { messageId: MessageId, body: Body, sender: SenderId, receiveCount: Number(ApproximateReceiveCount) };
}
