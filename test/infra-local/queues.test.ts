/*
 * The local queues against the real AWS SDK: sender identity, digests, redelivery, dead letters, persistence.
 * Everything goes through the client that bridge and functions use.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../../infra/local/free-port.ts';
import { md5OfMessageAttributes } from '../../infra/local/message-attributes.ts';
import { type Queues, startQueues } from '../../infra/local/queues.ts';

const senders = { bridge: 'AROAEXAMPLEBRIDGE:bridge', intruder: 'AROAEXAMPLEOTHER:somebody' };
const opened: SQSClient[] = [];

afterEach(() => {
  for (const client of opened.splice(0)) client.destroy();
});

function open(queues: Queues, accessKeyId: string): SQSClient {
  const client = queues.client(accessKeyId);
  opened.push(client);
  return client;
}

function receive(client: SQSClient, url: string, more: { attributes?: string[]; wait?: number } = {}) {
  const { attributes = ['All'], wait = 0 } = more;
  return client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: wait,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: attributes,
    }),
  );
}

describe('the local queues', () => {
  let queues: Queues;
  beforeAll(async () => {
    queues = await startQueues({ senders });
  });
  afterAll(() => queues.stop());

  it('say of each message who sent it, by the access key that signed the call (Q11)', async () => {
    const { url } = await queues.createQueue('by-key', { visibilityTimeout: 30 });
    await open(queues, 'bridge').send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'one' }));
    await open(queues, 'intruder').send(
      new SendMessageBatchCommand({ QueueUrl: url, Entries: [{ Id: 'a', MessageBody: 'two' }] }),
    );

    const { Messages = [] } = await receive(open(queues, 'bridge'), url);

    const seen = Object.fromEntries(Messages.map(({ Body, Attributes }) => [Body, Attributes?.SenderId]));
    expect(seen).toEqual({ one: senders.bridge, two: senders.intruder });
    expect(Messages.every((message) => message.MessageAttributes === undefined)).toBe(true);
    expect((await queues.inspect(url)).inFlight.map(({ senderId }) => senderId)).toContain(senders.bridge);
  });

  it('refuse an access key they do not know', async () => {
    const { url } = await queues.createQueue('unknown-key', { visibilityTimeout: 30 });
    const sending = open(queues, 'nobody').send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' }));
    await expect(sending).rejects.toMatchObject({
      name: 'InvalidClientTokenId',
      $metadata: { httpStatusCode: 403 },
    });
    expect((await queues.inspect(url)).ready).toEqual([]);
  });

  it("return the sender's own message attributes with their digest, and none that were not asked for", async () => {
    const { url } = await queues.createQueue('attributes', { visibilityTimeout: 0 });
    const MessageAttributes = {
      traceparent: { DataType: 'String', StringValue: '00-1-2-01' },
      raw: { DataType: 'Binary', BinaryValue: Buffer.from('bytes') },
    };
    const bridge = open(queues, 'bridge');
    const sent = await bridge.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x', MessageAttributes }));

    const all = (await receive(bridge, url)).Messages?.[0];
    const none = (await receive(bridge, url, { attributes: [] })).Messages?.[0];

    const digest = md5OfMessageAttributes({
      traceparent: { DataType: 'String', StringValue: '00-1-2-01' },
      raw: { DataType: 'Binary', BinaryValue: Buffer.from('bytes').toString('base64') },
    });
    expect(Object.keys(all?.MessageAttributes ?? {}).sort()).toEqual(['raw', 'traceparent']);
    expect([sent.MD5OfMessageAttributes, all?.MD5OfMessageAttributes]).toEqual([digest, digest]);
    expect([none?.MessageAttributes, none?.MD5OfMessageAttributes]).toEqual([undefined, undefined]);
    expect(none?.Attributes?.SenderId).toBe(senders.bridge);
  });

  it('digest message attributes as the SQS developer guide describes', () => {
    // Computed by hand from the guide: length-prefixed name, type, transport byte 1, length-prefixed value.
    expect(md5OfMessageAttributes({ a: { DataType: 'String', StringValue: 'b' } })).toBe(
      'bef8bf215374a0a228d67533b1a488be',
    );
  });

  it('move a message that was received too often to the dead-letter queue, with its sender and its first times (Q-b)', async () => {
    const dead = await queues.createQueue('work-dead', { visibilityTimeout: 30 });
    const { url } = await queues.createQueue('work', {
      visibilityTimeout: 0,
      deadLetter: { arn: dead.arn, maxReceiveCount: 2 },
    });
    const bridge = open(queues, 'bridge');
    await bridge.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'poison' }));
    const counts: (string | undefined)[] = [];
    for (let round = 0; round < 3; round++) {
      const { Messages = [] } = await receive(bridge, url);
      counts.push(Messages[0]?.Attributes?.ApproximateReceiveCount);
    }

    const { Messages = [] } = await receive(bridge, dead.url);

    expect(counts).toEqual(['1', '2', undefined]);
    expect(Messages.map(({ Body, Attributes }) => [Body, Attributes?.SenderId])).toEqual([['poison', senders.bridge]]);
  });

  it('keep a message for others when its receiver is gone before the long poll ends (P5)', async () => {
    const { url } = await queues.createQueue('killed', { visibilityTimeout: 600 });
    const killed = open(queues, 'bridge');
    const abort = new AbortController();
    const command = new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 20 });
    const polling = killed.send(command, { abortSignal: abort.signal }).catch((error: unknown) => error);
    // A later call that is answered: by then the poll waits at the server.
    await open(queues, 'bridge').send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 0 }));
    abort.abort();
    await polling;
    await open(queues, 'bridge').send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' }));

    const { Messages = [] } = await receive(open(queues, 'bridge'), url, { wait: 5 });

    // Had the one that is gone kept it, it would be hidden for ten minutes; most often it does not even get it.
    expect(Messages.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount])).toEqual([
      ['x', expect.stringMatching(/^[12]$/)],
    ]);
  });
});

it('keep messages, senders, receive counts and receipt handles over a restart from the same folder (P5)', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
  // One that nobody is given meanwhile.
  const [port = 0] = await freePorts(1);
  const before = await startQueues({ senders, dataDir, port });
  const { url } = await before.createQueue('kept', { visibilityTimeout: 600 });
  const sender = open(before, 'bridge');
  await sender.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' }));
  const handle = (await receive(sender, url)).Messages?.[0]?.ReceiptHandle;
  await before.stop();

  const after = await startQueues({ senders, dataDir, port });
  try {
    const reader = open(after, 'intruder');
    expect((await after.inspect(url)).inFlight).toHaveLength(1);
    await reader.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle: handle, VisibilityTimeout: 0 }),
    );
    const again = (await receive(reader, url, { wait: 5 })).Messages?.[0];
    await reader.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: again?.ReceiptHandle }));
    expect(again?.Attributes).toMatchObject({ SenderId: senders.bridge, ApproximateReceiveCount: '2' });
    expect(await after.inspect(url)).toEqual({ ready: [], delayed: [], inFlight: [] });
  } finally {
    await after.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
