/*
 * What Lambda hands to a function for a batch of SQS messages: the event and the context. Pure. Used by event-source.
 * Shapes: Lambda developer guide, "Using Lambda with Amazon SQS" and "Using the Lambda context object".
 */
import type { Context, SQSEvent, SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import { z } from 'zod/mini';
import { LOCAL_ACCOUNT_ID } from './places.ts';

export interface EventOrigin {
  readonly queueArn: string;
}

const messageAttribute = z.object({
  DataType: z.string(),
  StringValue: z.optional(z.string()),
  /** base64, on both ways. */
  BinaryValue: z.optional(z.string()),
});

/** A message as SQS answers a receive that asks for all attributes, in its JSON protocol. */
export const receivedMessage = z.object({
  MessageId: z.string(),
  ReceiptHandle: z.string(),
  Body: z.string(),
  MD5OfBody: z.string(),
  MD5OfMessageAttributes: z.optional(z.string()),
  Attributes: z.object({
    ApproximateReceiveCount: z.string(),
    SentTimestamp: z.string(),
    SenderId: z.string(),
    ApproximateFirstReceiveTimestamp: z.string(),
  }),
  MessageAttributes: z.optional(z.record(z.string(), messageAttribute)),
});
export type ReceivedMessage = z.output<typeof receivedMessage>;

/** The event, as it is after Lambda's own JSON. */
export function sqsEvent(messages: readonly ReceivedMessage[], { queueArn }: EventOrigin): SQSEvent {
  return { Records: messages.map((message) => record(message, queueArn)) };
}

function record(message: ReceivedMessage, queueArn: string): SQSRecord {
  const { MD5OfMessageAttributes: digest, MessageAttributes = {} } = message;
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes,
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
    md5OfBody: message.MD5OfBody,
    ...(digest === undefined ? {} : { md5OfMessageAttributes: digest }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

function attributeOf({ DataType, StringValue, BinaryValue }: z.output<typeof messageAttribute>): SQSMessageAttribute {
  return {
    dataType: DataType,
    stringListValues: [],
    binaryListValues: [],
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: BinaryValue }),
  };
}

export interface Invocation {
  readonly requestId: string;
  readonly functionName: string;
  readonly region: string;
  /** ms left until the function's time-out. */
  readonly remaining: () => number;
}

export function lambdaContext({ requestId, functionName, region, remaining }: Invocation): Context {
  // Runtimes since Node.js 24 have no callbacks; a handler that calls one must fail here as it would there.
  const removed = () => {
    throw new Error('Callback-based handlers are not supported');
  };
  return {
    awsRequestId: requestId,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${region}:${LOCAL_ACCOUNT_ID}:function:${functionName}`,
    memoryLimitInMB: '512',
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: `local/[$LATEST]${requestId.replaceAll('-', '')}`,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: remaining,
    done: removed,
    fail: removed,
    succeed: removed,
  };
}
