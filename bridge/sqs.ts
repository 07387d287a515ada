/*
 * The real queue port: SQS by the AWS SDK, polling by sqs-consumer. Plugged in by main.ts. What is acknowledged is
 * decided by the handler's return value alone; this file only carries it out.
 */
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, Queue } from './ports.ts';
import type { QueueHealth } from './queue-health.ts';
import { Acknowledger } from './sqs-acknowledging.ts';
import { PollingConsumer } from './sqs-polling.ts';

/** Several consumers, since one handles a batch whole before it polls again (one slow result stalls nine others). */
const CONSUMERS = 4;
const CALL_TIMEOUT_MS = 25_000;

/** Where the queues are. Credentials come from the SDK's own chain. */
export interface SqsOptions {
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Told of every poll. */
  readonly health: QueueHealth;
}

/** Creates the queue port. */
export function createSqsQueue({ region, endpoint, ...told }: SqsOptions): Queue {
  const client = new SQSClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint, useQueueUrlAsEndpoint: false }),
    // What a command goes through is the same every time; put together anew it costs a seventh of a call's CPU.
    cacheMiddleware: true,
    // Repeating is for those who know whether it may still be done: the work queue and the next poll.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5_000, requestTimeout: CALL_TIMEOUT_MS, throwOnRequestTimeout: true },
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
      const acknowledger = new Acknowledger({ ...told, client, queueUrl });
      const start = () => new PollingConsumer({ ...told, client, queueUrl, handle, acknowledger });
      told.health.begins();
      const consumers = Array.from({ length: CONSUMERS }, start);
      return {
        async stop() {
          await Promise.all(consumers.map((consumer) => consumer.stop()));
          await acknowledger.flush();
        },
      };
    },
  };
}
