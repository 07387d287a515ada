/*
 * The very function that Lambda calls, with Lambda's event and context, talking to a real SQS server.
 * Time stands still; queue, sender ids and SDK client are real.
 */

import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent, SQSHandler } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { decodeResult, encodeRequest } from '../../bridge/contract.ts';
import { createEntry, type LambdaContext, type LambdaHandler } from '../../functions/entry.ts';
import { gone, type Handler, pending } from '../../functions/handler.ts';
import type { Clock } from '../../functions/ports.ts';
import { type QueueServer, startQueueServer } from '../../infra/local/queue-server.ts';
import { json, startScriptedAws } from '../support/scripted-aws.ts';
import { ACCOUNT, CLUSTER, NOW, REGION, rawConfig, requestOf, SENDER, thing, virtualClock } from './fixtures.ts';
import { realClock, useNoCredentials } from './runs.ts';

let server: QueueServer;
let client: SQSClient;
let requests: string;
let results: string;
let queueNumber = 0;
const SENDER_ID = `${SENDER}:bridge`;
/** The account of all queues of the emulator. */
const QUEUE_ACCOUNT = '000000000000';

beforeAll(async () => {
  useNoCredentials();
  server = await startQueueServer({ region: REGION, senders: { test: SENDER_ID, stranger: 'AROASTRANGER:x' } });
  client = new SQSClient({ region: REGION, endpoint: server.endpoint });
});
afterAll(() => server.close());
afterEach(() => {
  vi.unstubAllEnvs();
});
beforeEach(async () => {
  queueNumber += 1;
  requests = await create(`requests-${queueNumber}`);
  results = await create(`results-${queueNumber}`);
});

async function create(name: string): Promise<string> {
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }));
  return QueueUrl ?? '';
}

const context: LambdaContext = {
  invokedFunctionArn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:thing`,
  awsRequestId: 'lambda-1',
  getRemainingTimeInMillis: () => 300_000,
};

/** Time that goes on from there. */
function realClockFrom(start: number): Clock {
  const began = Date.now();
  return { ...realClock, now: () => start + Date.now() - began };
}

function entry(handler: Handler, changes: Readonly<Record<string, unknown>> = {}, clock: Clock = virtualClock(NOW)) {
  const lines: string[] = [];
  const config = rawConfig({
    clusters: [{ uid: CLUSTER, sender: SENDER, resultQueueUrl: results }],
    endpoints: { sqs: server.endpoint },
    logLevel: 'info',
    ...changes,
  });
  const environment = { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config), _X_AMZN_TRACE_ID: 'Root=1-2-3;Sampled=0' };
  // Time stands still, so that the request of the fixtures is in time; nothing here waits for it.
  const invoke = createEntry(handler, { environment, clock, write: (line) => lines.push(line) });
  return { invoke, lines };
}

const deletes = thing(async () => gone('deleted'));

/** Sends a body through the real queue and gives the event that Lambda would make of it. */
async function received(...bodies: readonly string[]): Promise<SQSEvent> {
  for (const MessageBody of bodies) await client.send(new SendMessageCommand({ QueueUrl: requests, MessageBody }));
  return await receive(bodies.length);
}

async function receive(count: number): Promise<SQSEvent> {
  const Records: SQSEvent['Records'] = [];
  while (Records.length < count) {
    const answer = await client.send(
      new ReceiveMessageCommand({ QueueUrl: requests, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
    );
    for (const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} } of answer.Messages ?? []) {
      Records.push({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: {
          ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? '',
          SentTimestamp: Attributes.SentTimestamp ?? '',
          SenderId: Attributes.SenderId ?? '',
          ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? '',
        },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:${REGION}:${QUEUE_ACCOUNT}:requests-${queueNumber}`,
        awsRegion: REGION,
      });
    }
  }
  return { Records };
}

async function sentResults() {
  const answer = await client.send(new ReceiveMessageCommand({ QueueUrl: results, MaxNumberOfMessages: 10 }));
  return (answer.Messages ?? []).map(({ Body = '' }) => {
    const decoded = decodeResult(Body);
    return decoded.ok ? decoded.message.data : decoded;
  });
}

it('is what Lambda takes for a handler of SQS events', () => {
  expectTypeOf<LambdaHandler>().parameter(1).toEqualTypeOf<LambdaContext>();
  expectTypeOf<Context>().toExtend<LambdaContext>();
  expectTypeOf<ReturnType<LambdaHandler>>().toExtend<
    ReturnType<SQSHandler> | Promise<{ batchItemFailures: { itemIdentifier: string }[] }>
  >();
});

describe('with a real queue', () => {
  it('answers a request, and fails none', async () => {
    const request = requestOf();
    const { invoke } = entry(deletes);
    expect(await invoke(await received(encodeRequest(request)), context)).toEqual({ batchItemFailures: [] });
    expect(await sentResults()).toMatchObject([
      { requestId: request.id, result: { outcome: 'gone', evidence: 'deleted' } },
    ]);
  });

  it.each([
    ['its configuration', () => ({ sqs: server.endpoint })],
    ['the environment of the SDK', () => ({})],
  ])(
    'leaves a pending message in the queue that %s leads to, and it comes back when asked for',
    async (_what, endpoints) => {
      vi.stubEnv('AWS_ENDPOINT_URL_SQS', server.endpoint);
      const slow = thing(async ({ inSeconds }) => pending({ reason: 'Slow', retryAt: inSeconds(1) }));
      const { invoke } = entry(slow, { endpoints: endpoints() });
      const event = await received(encodeRequest(requestOf()));
      const { batchItemFailures } = await invoke(event, context);
      expect(batchItemFailures).toEqual([{ itemIdentifier: event.Records[0]?.messageId }]);
      const again = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: requests,
          WaitTimeSeconds: 5,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
        }),
      );
      expect(again.Messages?.[0]?.Attributes?.ApproximateReceiveCount).toBe('2');
    },
  );

  it('keeps what it cannot read, and works the rest of the batch (Q3)', async () => {
    const { invoke, lines } = entry(deletes);
    const event = await received('junk', encodeRequest(requestOf()));
    const junk = event.Records.find(({ body }) => body === 'junk');
    expect(await invoke(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: junk?.messageId }] });
    expect(await sentResults()).toHaveLength(1);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: 'error',
        handler: 'thing',
        awsRequestId: 'lambda-1',
        xrayTraceId: '1-2-3',
        failure: 'NotJson',
      }),
    );
  });
});

it('does not act on a request that somebody else put into the queue (Q11)', async () => {
  const credentials = { accessKeyId: 'stranger', secretAccessKey: 'x' };
  const stranger = new SQSClient({ region: REGION, endpoint: server.endpoint, credentials });
  await stranger.send(new SendMessageCommand({ QueueUrl: requests, MessageBody: encodeRequest(requestOf()) }));
  stranger.destroy();
  let runs = 0;
  const { invoke } = entry(
    thing(async () => {
      runs += 1;
      return gone('deleted');
    }),
  );
  const { batchItemFailures } = await invoke(await receive(1), context);
  expect(batchItemFailures).toHaveLength(1);
  expect(runs).toBe(0);
  expect(await sentResults()).toEqual([]);
});

it('does not take a 200 for a confirmation of entries that it does not name (Q2)', async () => {
  const sqs = await startScriptedAws();
  sqs.on('sqs:ChangeMessageVisibilityBatch', json({ Successful: [], Failed: [] }));
  sqs.on('sqs:SendMessageBatch', json({ Successful: [], Failed: [] }));
  const event = await received(encodeRequest(requestOf()));
  const { invoke } = entry(deletes, { endpoints: { sqs: sqs.endpoint } }, realClockFrom(NOW));
  const { batchItemFailures } = await invoke(event, context);
  await sqs.close();
  expect(batchItemFailures).toHaveLength(1);
  expect(sqs.operations().filter((operation) => operation === 'sqs:SendMessageBatch')).toHaveLength(3);
});

describe('an event that is not as it should be', () => {
  const usual = async () => (await received(encodeRequest(requestOf()))).Records[0];

  it.each([['attributes'], ['receiptHandle'], ['body'], ['eventSourceARN']])(
    'fails a record without %s, and works the others (Q3)',
    async (missing) => {
      const { invoke } = entry(deletes);
      const record = await usual();
      const broken = { ...record, messageId: 'broken', [missing]: undefined };
      expect(await invoke({ Records: [broken, record] }, context)).toEqual({
        batchItemFailures: [{ itemIdentifier: 'broken' }],
      });
    },
  );

  it('makes no call when no record can be read, since nothing says where the queue is', async () => {
    const sqs = await startScriptedAws();
    const { invoke, lines } = entry(deletes, { endpoints: { sqs: sqs.endpoint } });
    const Records = [{ messageId: 'a' }, { messageId: 'b', body: 'x' }];
    const failures = { batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'b' }] };
    expect(await invoke({ Records }, context)).toEqual(failures);
    await sqs.close();
    expect(sqs.operations()).toEqual([]);
    expect(lines.join()).toContain('"unread":2');
  });

  it.each([[undefined], [{}], [{ Records: 'x' }], [{ Records: [{}] }], [{ Records: [{ messageId: '' }] }]])(
    'fails as a whole, so that nothing is deleted: %j',
    async (event) => {
      const { invoke } = entry(deletes);
      await expect(invoke(event, context)).rejects.toThrow();
    },
  );

  it('fails as a whole when the own account is not to be had', async () => {
    const { invoke } = entry(deletes);
    await expect(invoke({ Records: [await usual()] }, { ...context, invokedFunctionArn: 'arn' })).rejects.toThrow(
      'own account',
    );
  });
});

it('does not start with a bad configuration, and says all that is wrong with it', () => {
  expect(() => entry(deletes, { allow: {}, surprise: 1 })).toThrow(/allow\.accounts.*surprise/s);
});
