/*
 * The real queue port: SQS. Plugged in by main.ts. What is acknowledged is decided by the handler's return value alone; this
 * file and those that it puts together (sqs-client, sqs-polling, sqs-acknowledging) only carry it out.
 */
import * as z from 'zod/mini';
import { createWholeCheck } from './checksum.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, Queue } from './ports.ts';
import type { QueueHealth } from './queue-health.ts';
import { Acknowledger } from './sqs-acknowledging.ts';
import { createSqsClient } from './sqs-client.ts';
import { Polling } from './sqs-polling.ts';

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

const sent = z.object({
  Successful: z.nullish(z.array(z.object({ Id: z.string(), MD5OfMessageBody: z.optional(z.string()) }))),
  Failed: z.nullish(z.array(z.object({ Id: z.string(), Code: z.string(), Message: z.nullish(z.string()) }))),
});

/** Creates the queue port. */
export function createSqsQueue({ region, endpoint, ...told }: SqsOptions): Queue {
  const isWhole = createWholeCheck();
  const client = createSqsClient({ region, endpoint, clock: told.clock });

  return {
    async send(queueUrl, batch) {
      const Entries = batch.map(({ id, body }) => ({ Id: id, MessageBody: body }));
      const answer = sent.parse(await client.ask({ action: 'SendMessageBatch', queueUrl, input: { Entries } }));
      const taken = new Map(answer.Successful?.map(({ Id, MD5OfMessageBody }) => [Id, MD5OfMessageBody]));
      const failed = new Map(answer.Failed?.map((failure) => [failure.Id, failure]));
      return batch.flatMap(({ id, body }) => {
        // What is not confirmed is not sent, whether or not the answer speaks of it.
        if (!taken.has(id)) {
          const { Code = 'Unconfirmed', Message } = failed.get(id) ?? {};
          return [{ id, code: Code, detail: Message ?? 'the queue did not speak of it' }];
        }
        return isWhole(body, taken.get(id))
          ? []
          : [{ id, code: 'Altered', detail: 'what the queue took has another checksum' }];
      });
    },

    consume(queueUrl, handle) {
      const acknowledger = new Acknowledger({ ...told, client, queueUrl });
      const polling = new Polling({ ...told, client, queueUrl, handle, acknowledger, isWhole });
      told.health.begins();
      polling.start();
      return {
        async stop() {
          await polling.stop();
          await acknowledger.flush();
        },
      };
    },
  };
}
