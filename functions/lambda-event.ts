/*
 * What Lambda hands over and takes back for a batch of SQS messages. Called by entry.ts and dead-letter-entry.ts: a record
 * that lacks the facts of a message stays in its queue, whatever becomes of the others (Q3).
 */
import * as z from 'zod/mini';
import type { QueueRecord } from './dispatch.ts';
import type { Log } from './ports.ts';

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

/** A message as Lambda hands it over. */
export interface LambdaRecord extends QueueRecord {
  /** ARN of the queue that it comes from; Lambda says so, not the message. */
  readonly eventSourceARN: string;
}

/** The messages of an event: those that can be worked on, and the ids of all. */
export interface LambdaBatch {
  readonly everyId: readonly string[];
  readonly records: readonly LambdaRecord[];
}

const recordSchema = z.object({
  messageId: z.string().check(z.minLength(1)),
  receiptHandle: z.string(),
  body: z.string(),
  attributes: z.object({ SenderId: z.string(), ApproximateReceiveCount: z.string().check(z.regex(/^\d+$/)) }),
  eventSourceARN: z.string().check(z.regex(/^arn:[^:]+:sqs:[^:]+:[^:]+:[^:]+$/)),
});
const eventSchema = z.object({ Records: z.array(z.looseObject({ messageId: recordSchema.shape.messageId })) });

/**
 * Reads an event.
 * @throws ZodError when it is no event of SQS: Lambda then keeps the whole batch.
 */
export function readEvent(event: unknown, log: Log): LambdaBatch {
  const { Records } = eventSchema.parse(event);
  const everyId = Records.map(({ messageId }) => messageId);
  const records = Records.flatMap((record) => {
    const parsed = recordSchema.safeParse(record);
    return parsed.success ? [toRecord(parsed.data)] : [];
  });
  const unread = everyId.length - records.length;
  if (unread > 0) log.error('reading an event: records without the facts of a message stay in the queue', { unread });
  return { everyId, records };
}

/** The response: all messages stay but those that were worked on and are not among `stays`. */
export function batchResponse({ everyId, records }: LambdaBatch, stays: Iterable<string>): BatchResponse {
  const staying = new Set(stays);
  const worked = new Set(records.map(({ messageId }) => messageId));
  const failed = everyId.filter((id) => staying.has(id) || !worked.has(id));
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}

function toRecord({ messageId, receiptHandle, body, attributes, eventSourceARN }: z.output<typeof recordSchema>) {
  const { SenderId: senderId, ApproximateReceiveCount } = attributes;
  return { messageId, receiptHandle, body, senderId, receiveCount: Number(ApproximateReceiveCount), eventSourceARN };
}
