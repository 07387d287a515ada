/*
 * The local event source on local queues: what a function is given, and what becomes of its messages by how it ends.
 * Time-outs are real but short; conditions are polled, nothing sleeps.
 */
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SqsClient } from '../../bridge/sqs-client.ts';
import {
  type EventSource,
  type EventSourceOptions,
  type InvocationReport,
  startEventSource,
} from '../../infra/local/event-source.ts';
import { type QueueName, type Queues, startQueues } from '../../infra/local/queues.ts';

const senders = { bridge: 'AROAEXAMPLEBRIDGE:bridge', function: 'AROAEXAMPLEFUNCTION:function' };
type Invoke = EventSourceOptions['invoke'];

let queues: Queues;
let client: SqsClient;
let sender: SQSClient;
const sources: EventSource[] = [];
let made = 0;

beforeAll(async () => {
  queues = await startQueues({ senders });
  client = queues.plainClient('function');
  sender = queues.client('bridge');
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.stop(0)));
});
afterAll(async () => {
  sender.destroy();
  await queues.stop();
});

function newQueue(options: Partial<Parameters<Queues['createQueue']>[1]> = {}): Promise<QueueName> {
  return queues.createQueue(`requests-${made++}`, { visibilityTimeout: 600, ...options });
}

async function send(queue: QueueName, bodies: readonly string[]): Promise<void> {
  const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
  await sender.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries }));
}

/** Starts a source and resolves with the reports of its first `count` invocations. */
function feed(queue: QueueName, invoke: Invoke, more: Partial<EventSourceOptions> & { count?: number } = {}) {
  const { count = 1, ...options } = more;
  const reports: InvocationReport[] = [];
  let source: EventSource | undefined;
  const first = new Promise<readonly InvocationReport[]>((resolve, reject) => {
    source = startEventSource({
      ...{ client, queueUrl: queue.url, queueArn: queue.arn, functionName: 'finalizer-bridge-test' },
      ...{ batchSize: 10, functionTimeoutMs: 10_000, concurrency: 1, invoke, onError: reject, ...options },
      onInvocation: (report) => {
        reports.push(report);
        if (reports.length === count) resolve(reports);
      },
    });
    sources.push(source);
  });
  if (source === undefined) throw new Error('the executor of a promise runs at once');
  return { first, source };
}

async function held(queue: QueueName): Promise<readonly string[]> {
  const { ready, inFlight } = await queues.inspect(queue.url);
  return [...ready, ...inFlight].map(({ body }) => body).sort();
}

describe('the local event source', () => {
  it('hands over the event and context that Lambda would', async () => {
    const queue = await newQueue();
    const attribute = { DataType: 'String', StringValue: '00-1-2-01' };
    await sender.send(
      new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'x', MessageAttributes: { traceparent: attribute } }),
    );
    const seen: { event: SQSEvent; context: Context; left: number }[] = [];
    const { first } = feed(queue, async (event, context) => {
      seen.push({ event, context, left: context.getRemainingTimeInMillis() });
    });
    const [report] = await first;

    expect(seen[0]?.event).toEqual({
      Records: [
        {
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          receiptHandle: expect.any(String),
          body: 'x',
          attributes: {
            ApproximateReceiveCount: '1',
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            SenderId: senders.bridge,
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          },
          messageAttributes: {
            traceparent: { dataType: 'String', stringValue: '00-1-2-01', stringListValues: [], binaryListValues: [] },
          },
          md5OfBody: '9dd4e461268c8034f5c8564e155c67a6',
          md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
          eventSource: 'aws:sqs',
          eventSourceARN: queue.arn,
          awsRegion: 'eu-central-1',
        },
      ],
    });
    expect(seen[0]?.context).toMatchObject({
      awsRequestId: report?.requestId,
      functionName: 'finalizer-bridge-test',
      invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:finalizer-bridge-test',
    });
    expect(seen[0]?.left).toBeGreaterThan(0);
    expect(seen[0]?.left).toBeLessThanOrEqual(10_000);
  });

  it('deletes what was received, whatever the function does to its event', async () => {
    const queue = await newQueue();
    await send(queue, ['one', 'two']);
    const { first } = feed(queue, async (event) => {
      for (const record of event.Records.splice(0)) Object.assign(record, { messageId: 'x', receiptHandle: 'x' });
    });
    const [report] = await first;
    expect(report?.outcome).toMatchObject({ kind: 'answered', deleted: report?.messageIds });
    expect(await held(queue)).toEqual([]);
  });

  it('deletes what succeeded and leaves what failed to its visibility (Q3)', async () => {
    const queue = await newQueue();
    await send(queue, ['good', 'bad', 'fine']);
    const { first } = feed(queue, async (event) => ({
      batchItemFailures: event.Records.filter(({ body }) => body === 'bad').map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    }));
    const [report] = await first;

    expect(report?.outcome).toMatchObject({ kind: 'answered', failed: [expect.any(String)] });
    expect(await held(queue)).toEqual(['bad']);
    expect((await queues.inspect(queue.url)).ready).toEqual([]);
  });

  it.each<[string, Invoke, string]>([
    ['throws', () => Promise.reject(new Error('boom')), 'threw'],
    [
      'throws before it returns a promise',
      () => {
        throw new Error('boom');
      },
      'threw',
    ],
    ['answers with an unknown identifier', async () => ({ batchItemFailures: [{ itemIdentifier: 'x' }] }), 'invalid'],
    ['does not answer in time', () => new Promise(() => undefined), 'timedOut'],
  ])('leaves the whole batch when the function %s (Q3)', async (_name, invoke, kind) => {
    const queue = await newQueue();
    await send(queue, ['a', 'b']);
    const { first } = feed(queue, invoke, { functionTimeoutMs: kind === 'timedOut' ? 50 : 10_000 });
    const [report] = await first;

    expect(report?.outcome.kind).toBe(kind);
    expect(await held(queue)).toEqual(['a', 'b']);
  });

  it('does not take back a time-out when the abandoned function answers later (Q1)', async () => {
    const queue = await newQueue();
    await send(queue, ['late']);
    const late = Promise.withResolvers<null>();
    const { first } = feed(queue, () => late.promise, { functionTimeoutMs: 50 });
    await first;
    late.resolve(null);
    // A further batch has been handled to its end since.
    await send(queue, ['next']);
    await vi.waitFor(async () => expect((await queues.inspect(queue.url)).ready).toEqual([]), { timeout: 60_000 });

    expect(await held(queue)).toContain('late');
  });

  it('delivers again after the visibility time-out, counts receives, and the queue dead-letters in the end (Q1)', async () => {
    const dead = await newQueue();
    const queue = await newQueue({ visibilityTimeout: 1, deadLetter: { arn: dead.arn, maxReceiveCount: 2 } });
    await send(queue, ['poison']);
    const counts: (string | undefined)[] = [];
    const { first } = feed(
      queue,
      async (event) => {
        counts.push(event.Records[0]?.attributes.ApproximateReceiveCount);
        throw new Error('boom');
      },
      { count: 2 },
    );
    await first;
    await vi.waitFor(async () => expect(await held(dead)).toEqual(['poison']), { timeout: 60_000 });

    expect(counts).toEqual(['1', '2']);
    expect(await held(queue)).toEqual([]);
  });

  it('gives a function of batch size 1 one message at a time, as many at once as its concurrency (F5)', async () => {
    const queue = await newQueue();
    await send(queue, ['a', 'b', 'c', 'd']);
    const sizes: number[] = [];
    const gate = Promise.withResolvers<void>();
    const invoke: Invoke = async (event) => {
      sizes.push(event.Records.length);
      await gate.promise;
    };
    const { first, source } = feed(queue, invoke, { batchSize: 1, concurrency: 3, count: 4 });
    await vi.waitFor(() => expect(source.running()).toBe(3), { timeout: 60_000 });
    expect((await queues.inspect(queue.url)).ready).toHaveLength(1);
    gate.resolve();
    await first;

    expect(sizes).toEqual([1, 1, 1, 1]);
    expect(await held(queue)).toEqual([]);
  });

  it('waits at stop for what is in work, and no longer than told', async () => {
    const queue = await newQueue();
    await send(queue, ['a']);
    const gate = Promise.withResolvers<null>();
    const { source, first } = feed(queue, () => gate.promise);
    await vi.waitFor(() => expect(source.running()).toBe(1), { timeout: 60_000 });
    expect(await source.stop(20)).toBe(false);
    gate.resolve(null);
    await first;
    expect(await source.stop()).toBe(true);
    expect(await held(queue)).toEqual([]);
  });

  it('reports a poll that failed, and goes on', async () => {
    const queue = await newQueue();
    const stranger = queues.plainClient('nobody');
    const errors: unknown[] = [];
    feed(queue, async () => null, { client: stranger, onError: (error) => errors.push(error) });
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(1), { timeout: 60_000 });
    expect(errors[0]).toMatchObject({ name: 'SqsError', code: 'InvalidClientTokenId' });
  });
});
