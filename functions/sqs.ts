/*
 * The queue port over SQS: results go out by it, visibilities are changed. Called by entry.ts and dead-letter-entry.ts at cold
 * start; report.ts and dispatch.ts see the port only.
 */
import * as z from 'zod/mini';
import { partitionOf } from '../bridge/aws-partitions.ts';
import { createWholeCheck } from '../bridge/checksum.ts';
import { awsKeys, type Config, sqsEndpoint, traceHeaders } from './config.ts';
import type { Clock, EntryFault, Queue, Random } from './ports.ts';
import { type AskSqs, createSqsClient } from './sqs-client.ts';

const failed = z.optional(
  z.array(z.object({ Id: z.string(), Code: z.string(), SenderFault: z.optional(z.boolean()) })),
);
const sent = z.object({
  Successful: z.optional(z.array(z.object({ Id: z.string(), MD5OfMessageBody: z.optional(z.string()) }))),
  Failed: failed,
});
const changed = z.object({ Failed: failed });

/** The queue behind an event: its ARN comes from Lambda, not from a message. */
export function queueUrlOf(arn: string, { endpoints }: Pick<Config, 'endpoints'>): string {
  const [, , , region = '', account, name] = arn.split(':');
  const base = endpoints.sqs?.replace(/\/$/, '') ?? `https://sqs.${region}.${partitionOf(region).domain}`;
  return `${base}/${account}/${name}`;
}

/** Calls to the queues; the environment is asked before each. */
export function askSqs(
  { endpoints, region }: Pick<Config, 'endpoints' | 'region'>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): AskSqs {
  const endpoint = endpoints.sqs ?? sqsEndpoint();
  return createSqsClient({ region, endpoint, clock, random, keys: awsKeys, trace: traceHeaders });
}

/** The queue port; `requestQueueUrl` is the queue that feeds the function. */
export function sqsQueue(ask: AskSqs, requestQueueUrl: string): Queue {
  const isWhole = createWholeCheck();
  return {
    async send(queueUrl, entries) {
      // A turn of the event loop: a rejection that a handler did not wait for ends the process before a result says
      // that all is well. Without it the request would already be on a connection that was kept open (F1).
      await new Promise(setImmediate);
      const Entries = entries.map(({ id, body, attributes = {} }) => ({
        Id: id,
        MessageBody: body,
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, text]) => [name, { DataType: 'String', StringValue: text }]),
        ),
      }));
      const answer = sent.parse(await ask({ action: 'SendMessageBatch', queueUrl, input: { Entries } }));
      const taken = new Map(answer.Successful?.map(({ Id, MD5OfMessageBody }) => [Id, MD5OfMessageBody]));
      const faults = new Map(answer.Failed?.map((fault) => [fault.Id, fault]));
      return entries.flatMap(({ id, body }): readonly EntryFault[] => {
        if (taken.has(id)) {
          return isWhole(body, taken.get(id)) ? [] : [{ id, code: 'Altered', senderFault: false }];
        }
        const { Code = 'NotConfirmed', SenderFault = false } = faults.get(id) ?? {};
        return [{ id, code: Code, senderFault: SenderFault }];
      });
    },
    async changeVisibility(entries) {
      const Entries = entries.map(({ receiptHandle, seconds }, index) => ({
        ...{ Id: String(index), ReceiptHandle: receiptHandle, VisibilityTimeout: seconds },
      }));
      const call = { action: 'ChangeMessageVisibilityBatch', queueUrl: requestQueueUrl, input: { Entries } } as const;
      const refused = changed.parse(await ask(call)).Failed ?? [];
      const [fault] = refused;
      if (fault === undefined) return;
      throw new Error(`changing visibilities in ${requestQueueUrl}: ${refused.length} refused, ${fault.Code}`);
    },
  };
}
