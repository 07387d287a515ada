/*
 * What Lambda calls. Builds configuration, clock, clients and log once per cold start, then hands each batch to dispatch.
 * A function's bundle is a module that calls createEntry with its one handler, so nothing of another handler is loaded.
 */
import { ChangeMessageVisibilityBatchCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { type Config, type Environment, readConfig } from './config.ts';
import { createDispatch, type QueueRecord } from './dispatch.ts';
import type { AwsClientInput, Handler } from './handler.ts';
import { createLog } from './log.ts';
import type { Clock, EntryFault, Queue, Random } from './ports.ts';

/** What the entry reads of Lambda's context. */
export interface LambdaContext {
  readonly invokedFunctionArn: string;
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** The messages that stay in the queue; all others are deleted by Lambda. */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** A Lambda handler for SQS events with ReportBatchItemFailures. */
export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<BatchResponse>;

/** The outside world, for tests and local systems; everything has its real default. */
export interface EntryOverrides {
  readonly environment?: Environment;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Takes one line of the log. */
  readonly write?: (line: string) => void;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Below the 30 s that the protocol reckons with for one call. */
const REQUEST_TIMEOUT_MS = 25_000;
const QUEUE_TIMEOUT_MS = 5_000;
const QUEUE_ATTEMPTS = 3;

const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, callback) {
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  },
};

const recordSchema = z.object({
  messageId: z.string().check(z.minLength(1)),
  receiptHandle: z.string(),
  body: z.string(),
  attributes: z.object({ SenderId: z.string(), ApproximateReceiveCount: z.string().check(z.regex(/^\d+$/)) }),
  eventSourceARN: z.string().check(z.regex(/^arn:[^:]+:sqs:[^:]+:[^:]+:[^:]+$/)),
});
const eventSchema = z.object({ Records: z.array(z.object({ messageId: z.string().check(z.minLength(1)) })) });
const eventOf = z.object({ Records: z.array(z.unknown()) });

/**
 * Makes the function of one handler. The configuration is read now, so a bad one stops the cold start.
 * @throws ConfigError with every fault and its path.
 */
export function createEntry(handler: Handler, overrides: EntryOverrides = {}): LambdaHandler {
  const config = readConfig(handler.name, overrides.environment);
  const clock = overrides.clock ?? systemClock;
  const write = overrides.write ?? ((line) => process.stdout.write(`${line}\n`));
  const log = createLog({ level: config.logLevel, now: clock.now, write, fields: { handler: handler.name } });
  const clients = sqsClients(config);
  const random = overrides.random ?? Math.random;
  return async (event, context) => {
    // Anything thrown from here on makes Lambda keep the whole batch, which is what a broken event deserves.
    const everyId = eventSchema.parse(event).Records.map(({ messageId }) => messageId);
    const received = eventOf.parse(event).Records.flatMap((record) => {
      const parsed = recordSchema.safeParse(record);
      return parsed.success ? [parsed.data] : [];
    });
    const unread = everyId.length - received.length;
    if (unread > 0) log.error('reading an event: records without the facts of a message stay in the queue', { unread });
    const [first] = received;
    if (first === undefined) return { batchItemFailures: everyId.map((itemIdentifier) => ({ itemIdentifier })) };
    const queueUrl = config.requestQueueUrl ?? queueUrlOf(first.eventSourceARN, config);
    const dispatch = createDispatch({
      ...{ handler, config, clock, random },
      queue: sqsQueue(clients, queueUrl),
      log: log.with({ awsRequestId: context.awsRequestId }),
      aws: (service, region) => clientInput(config, service, region),
    });
    const endsAt = clock.now() + context.getRemainingTimeInMillis();
    const stays = new Set(await dispatch(received.map(toRecord), { endsAt, account: ownAccount(config, context) }));
    const worked = new Set(received.map(({ messageId }) => messageId));
    const failed = everyId.filter((id) => stays.has(id) || !worked.has(id));
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

function toRecord({ messageId, receiptHandle, body, attributes }: z.output<typeof recordSchema>): QueueRecord {
  const { SenderId: senderId, ApproximateReceiveCount } = attributes;
  return { messageId, receiptHandle, body, senderId, receiveCount: Number(ApproximateReceiveCount) };
}

function ownAccount(config: Config, { invokedFunctionArn }: LambdaContext): string {
  const account = config.account ?? invokedFunctionArn.split(':')[4];
  if (account === undefined || account === '') {
    throw new Error(`reading the function's own account: ${invokedFunctionArn} names none`);
  }
  return account;
}

function clientInput({ endpoints }: Config, service: string, region: string): AwsClientInput {
  const endpoint = endpoints[service];
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  };
}

/** The queue behind an event: its ARN comes from Lambda, not from a message. */
function queueUrlOf(arn: string, { endpoints }: Config): string {
  const [, partition, , region, account, name] = arn.split(':');
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  const base = endpoints.sqs?.replace(/\/$/, '') ?? `https://sqs.${region}.${suffix}`;
  return `${base}/${account}/${name}`;
}

/** One client per region, since a cluster's result queue may live in another region than the function. */
function sqsClients({ endpoints, region }: Config): (queueUrl: string) => SQSClient {
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

function sqsQueue(clients: (queueUrl: string) => SQSClient, requestQueueUrl: string): Queue {
  return {
    async send(queueUrl, entries) {
      // A turn of the event loop: a rejection that a handler did not wait for ends the process before a result says
      // that all is well. Without it the request would already be on a connection that was kept open (F1).
      await new Promise(setImmediate);
      const Entries = entries.map(({ id, body }) => ({ Id: id, MessageBody: body }));
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
