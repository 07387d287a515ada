/*
 * The queue port over the AWS SDK: results go out by it, visibilities are changed. Called by entry.ts and
 * dead-letter-entry.ts at cold start; report.ts and dispatch.ts see the port only.
 */
import { ChangeMessageVisibilityBatchCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Config } from './config.ts';
import type { EntryFault, Queue } from './ports.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const QUEUE_TIMEOUT_MS = 5_000;
const QUEUE_ATTEMPTS = 3;

/** The client for a queue, by the queue's URL. */
export type SqsClients = (queueUrl: string) => SQSClient;

/** The queue behind an event: its ARN comes from Lambda, not from a message. */
export function queueUrlOf(arn: string, { endpoints }: Pick<Config, 'endpoints'>): string {
  const [, partition, , region, account, name] = arn.split(':');
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  const base = endpoints.sqs?.replace(/\/$/, '') ?? `https://sqs.${region}.${suffix}`;
  return `${base}/${account}/${name}`;
}

/** One client per region, since a cluster's result queue may live in another region than the function. */
export function sqsClients({ endpoints, region }: Pick<Config, 'endpoints' | 'region'>): SqsClients {
  const clients = new Map<string, SQSClient>();
  return (queueUrl) => {
    const place = /^https:\/\/sqs\.([a-z0-9-]+)\.amazonaws\.com/.exec(queueUrl)?.[1] ?? region;
    const made =
      clients.get(place) ??
      new SQSClient({
        region: place,
        // The region decides the endpoint, so that AWS_ENDPOINT_URL_SQS and VPC endpoints count.
        useQueueUrlAsEndpoint: false,
        ...(endpoints.sqs === undefined ? {} : { endpoint: endpoints.sqs }),
        maxAttempts: QUEUE_ATTEMPTS,
        requestHandler: {
          connectionTimeout: CONNECT_TIMEOUT_MS,
          requestTimeout: QUEUE_TIMEOUT_MS,
          throwOnRequestTimeout: true,
        },
      });
    clients.set(place, made);
    return made;
  };
}

/** The queue port over the SDK; `requestQueueUrl` is the queue that feeds the function. */
export function sqsQueue(clients: SqsClients, requestQueueUrl: string): Queue {
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
      const answer = await clients(queueUrl).send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      const taken = new Set(answer.Successful?.map(({ Id }) => Id));
      const faults = new Map(answer.Failed?.map((failed) => [failed.Id, failed]));
      return entries
        .filter(({ id }) => !taken.has(id))
        .map(({ id }): EntryFault => {
          const fault = faults.get(id);
          return { id, code: fault?.Code ?? 'NotConfirmed', senderFault: fault?.SenderFault ?? false };
        });
    },
    async changeVisibility(entries) {
      const Entries = entries.map(({ receiptHandle, seconds }, index) => ({
        ...{ Id: String(index), ReceiptHandle: receiptHandle, VisibilityTimeout: seconds },
      }));
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: requestQueueUrl, Entries });
      const answer = await clients(requestQueueUrl).send(command);
      const [fault] = answer.Failed ?? [];
      if (fault === undefined) return;
      throw new Error(`changing visibilities in ${requestQueueUrl}: ${answer.Failed?.length} refused, ${fault.Code}`);
    },
  };
}
