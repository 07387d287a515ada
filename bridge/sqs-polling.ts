/*
 * One long-polling consumer of a queue, by sqs-consumer: hands over batches, has deleted what the handler says is done.
 * Used by sqs.ts, several at a time, since one handles a batch whole before it polls again.
 */
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, IncomingMessage } from './ports.ts';
import type { QueueHealth } from './queue-health.ts';
import type { Acknowledger } from './sqs-acknowledging.ts';

const LONG_POLL_SECONDS = 20;
const PAUSE_AFTER_ERROR_MS = 1_000;

/** What a consumer needs. */
export interface PollingOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly health: QueueHealth;
  readonly acknowledger: Acknowledger;
  /** Resolves to the ids of the messages that may be deleted. */
  handle(batch: readonly IncomingMessage[]): Promise<ReadonlySet<string>>;
}

/** A consumer; polls from its creation on. */
export class PollingConsumer {
  readonly #options: PollingOptions;
  readonly #consumer: Consumer;
  #isTroubled = false;
  #isBusy = false;
  #isStopping = false;

  constructor(options: PollingOptions) {
    this.#options = options;
    this.#consumer = Consumer.create({
      queueUrl: options.queueUrl,
      sqs: options.client,
      batchSize: 10,
      waitTimeSeconds: LONG_POLL_SECONDS,
      messageSystemAttributeNames: ['SenderId', 'ApproximateReceiveCount'],
      preReceiveMessageCallback: () => this.#pauseAfterTrouble(),
      handleMessageBatch: (messages) => this.#handle(messages),
      shouldDeleteMessages: false,
    });
    this.#consumer.on('empty', () => this.#answered('empty'));
    this.#consumer.on('error', (error) => this.#onTrouble(error, 'queue'));
    this.#consumer.on('processing_error', (error) => this.#onTrouble(error, 'handler'));
    this.#consumer.on('response_processed', () => {
      this.#isBusy = false;
    });
    this.#consumer.start();
  }

  /** Cuts a poll that waits; a batch in hand is ended first. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#isStopping = true;
        this.#consumer.once('stopped', () => resolve());
        this.#consumer.stop({ abort: true });
      };
      if (this.#isBusy) this.#consumer.once('response_processed', end);
      else end();
    });
  }

  async #handle(messages: readonly Message[]): Promise<undefined> {
    this.#isBusy = true;
    this.#answered('ok');
    const batch = messages.map(({ MessageId = '', Body = '', Attributes = {} }) => ({
      messageId: MessageId,
      body: Body,
      sender: Attributes.SenderId ?? '',
      receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    }));
    const done = await this.#options.handle(batch);
    for (const { MessageId = '', ReceiptHandle } of messages) {
      if (done.has(MessageId) && ReceiptHandle !== undefined) this.#options.acknowledger.add(ReceiptHandle);
    }
  }

  /** The library polls again at once after most errors; an outage must not become a storm. */
  async #pauseAfterTrouble(): Promise<void> {
    if (!this.#isTroubled) return;
    this.#isTroubled = false;
    await new Promise<void>((resolve) => void this.#options.clock.after(PAUSE_AFTER_ERROR_MS, resolve));
  }

  #onTrouble(error: Error, whose: 'queue' | 'handler'): void {
    // The poll that a stop cuts is no trouble.
    if (this.#isStopping) return;
    this.#isTroubled = true;
    this.#count('poll', 'failed');
    if (whose === 'queue') this.#options.health.fails(explain(error));
    this.#options.log.warn(
      { queueUrl: this.#options.queueUrl, err: explain(error) },
      'polling for results: trying again',
    );
  }

  #answered(outcome: 'ok' | 'empty'): void {
    this.#options.health.answers();
    this.#count('receive', outcome);
  }

  #count(call: string, outcome: string): void {
    this.#options.metrics.queueCalls.inc({ call, outcome });
  }
}
