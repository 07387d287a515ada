/*
 * The real queue port: SQS by the AWS SDK, polling by sqs-consumer. Plugged in by main.ts. What is acknowledged is
 * decided by the handler's return value alone; this file only carries it out.
 */
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { explain, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, Consumption, IncomingMessage, Queue } from './ports.ts';

/** Several consumers, since one handles a batch whole before it polls again (one slow result stalls nine others). */
const CONSUMERS = 4;
const LONG_POLL_SECONDS = 20;
const PAUSE_AFTER_ERROR_MS = 1_000;
const CALL_TIMEOUT_MS = 25_000;

/** Where the queues are. Credentials come from the SDK's own chain. */
export interface SqsOptions {
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Creates the queue port. */
export function createSqsQueue({ region, endpoint, clock, metrics, log }: SqsOptions): Queue {
  const client = new SQSClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint, useQueueUrlAsEndpoint: false }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 5_000, requestTimeout: CALL_TIMEOUT_MS },
  });

  return {
    async send(queueUrl, batch) {
      const Entries = batch.map(({ id, body }) => ({ Id: id, MessageBody: body }));
      const answer = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      const taken = new Set(answer.Successful?.map(({ Id }) => Id));
      const failed = new Map(answer.Failed?.map((failure) => [failure.Id, failure]));
      // What is not confirmed is not sent, whether or not the answer speaks of it.
      return batch
        .filter(({ id }) => !taken.has(id))
        .map(({ id }) => {
          const { Code = 'Unconfirmed', Message = 'the queue did not speak of it' } = failed.get(id) ?? {};
          return { id, code: Code, detail: Message };
        });
    },

    consume(queueUrl, handle) {
      const start = () => startConsumer({ client, queueUrl, handle, clock, metrics, log });
      const consumers = Array.from({ length: CONSUMERS }, start);
      return { stop: async () => void (await Promise.all(consumers.map((consumer) => consumer.stop()))) };
    },
  };
}

interface ConsumerInput extends Pick<SqsOptions, 'clock' | 'metrics' | 'log'> {
  readonly client: SQSClient;
  readonly queueUrl: string;
  handle(batch: readonly IncomingMessage[]): Promise<ReadonlySet<string>>;
}

function startConsumer({ client, queueUrl, handle, clock, metrics, log }: ConsumerInput): Consumption {
  let isTroubled = false;
  let isBusy = false;
  let isStopping = false;
  const consumer = Consumer.create({
    queueUrl,
    sqs: client,
    batchSize: 10,
    waitTimeSeconds: LONG_POLL_SECONDS,
    messageSystemAttributeNames: ['SenderId', 'ApproximateReceiveCount'],
    // The library polls again at once after most errors; an outage must not become a storm.
    preReceiveMessageCallback: async () => {
      if (!isTroubled) return;
      isTroubled = false;
      await new Promise<void>((resolve) => void clock.after(PAUSE_AFTER_ERROR_MS, resolve));
    },
    handleMessageBatch: async (messages) => {
      isBusy = true;
      metrics.queueCalls.inc({ call: 'receive', outcome: 'ok' });
      const batch = messages.map(({ MessageId = '', Body = '', Attributes = {} }) => ({
        messageId: MessageId,
        body: Body,
        sender: Attributes.SenderId ?? '',
        receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
      }));
      const done = await handle(batch);
      if (done.size > 0) metrics.queueCalls.inc({ call: 'delete', outcome: 'ok' });
      return messages.filter(({ MessageId = '' }) => done.has(MessageId));
    },
  });
  consumer.on('empty', () => metrics.queueCalls.inc({ call: 'receive', outcome: 'empty' }));
  const onTrouble = (error: Error) => {
    // The poll that a stop cuts is no trouble.
    if (isStopping) return;
    isTroubled = true;
    metrics.queueCalls.inc({ call: 'receive', outcome: 'failed' });
    log.warn({ queueUrl, err: explain(error) }, 'polling for results: trying again');
  };
  consumer.on('error', onTrouble);
  consumer.on('processing_error', onTrouble);
  consumer.on('response_processed', () => {
    isBusy = false;
  });
  consumer.start();
  return {
    // A poll that waits is cut; a batch in hand is ended first, its deletions included.
    stop: () =>
      new Promise((resolve) => {
        const end = () => {
          isStopping = true;
          consumer.once('stopped', () => resolve());
          consumer.stop({ abort: true });
        };
        if (isBusy) consumer.once('response_processed', end);
        else end();
      }),
  };
}
