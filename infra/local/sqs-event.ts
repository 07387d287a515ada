/*
 * What Lambda hands to a function for a batch of SQS messages: the event and the context. Pure. Used by event-source.
 * Shapes: Lambda developer guide, "Using Lambda with Amazon SQS" and "Using the Lambda context object".
 */
import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent, SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import { LOCAL_ACCOUNT_ID } from './places.ts';

export interface EventOrigin {
  readonly queueArn: string;
}

/** The event, as it is after Lambda's own JSON. Throws when SQS left out what it always sends. */
export function sqsEvent(messages: readonly Message[], { queueArn }: EventOrigin): SQSEvent {
  return { Records: messages.map((message) => record(message, queueArn)) };
}

function record(message: Message, queueArn: string): SQSRecord {
  const attributes = message.Attributes ?? {};
  return {
    messageId: present(message.MessageId, 'MessageId'),
    receiptHandle: present(message.ReceiptHandle, 'ReceiptHandle'),
    body: message.Body ?? '',
    attributes: {
      ApproximateReceiveCount: present(attributes.ApproximateReceiveCount, 'ApproximateReceiveCount'),
      SentTimestamp: present(attributes.SentTimestamp, 'SentTimestamp'),
      SenderId: present(attributes.SenderId, 'SenderId'),
      ApproximateFirstReceiveTimestamp: present(
        attributes.ApproximateFirstReceiveTimestamp,
        'ApproximateFirstReceiveTimestamp',
      ),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, messageAttribute(value)]),
    ),
    md5OfBody: present(message.MD5OfBody, 'MD5OfBody'),
    ...(message.MD5OfMessageAttributes === undefined ? {} : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

function messageAttribute(value: MessageAttributeValue): SQSMessageAttribute {
  return {
    dataType: value.DataType ?? 'String',
    stringListValues: [],
    binaryListValues: [],
    ...(value.StringValue === undefined ? {} : { stringValue: value.StringValue }),
    ...(value.BinaryValue === undefined ? {} : { binaryValue: Buffer.from(value.BinaryValue).toString('base64') }),
  };
}

function present(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`reading a received SQS message: ${name} is missing`);
  return value;
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
