/*
 * What the local queues add to the emulator for measuring: an account of the calls that a user would be billed for, and
 * long polls that are woken as SQS wakes them, so that no load is measured that a real queue does not make.
 */
import {
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Queues, startQueues } from '../../infra/local/queues.ts';

let queues: Queues;
const clients: SQSClient[] = [];
beforeAll(async () => {
  queues = await startQueues({ senders: { bridge: 'AROABRIDGE:bridge', thing: 'AROATHING:thing' } });
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await queues.stop();
});

function as(key: string): SQSClient {
  const client = queues.client(key);
  clients.push(client);
  return client;
}

it('count calls by who made them and what they were, receives in vain apart', async () => {
  const { url } = await queues.createQueue('counted', { visibilityTimeout: 30 });
  const [bridge, thing] = [as('bridge'), as('thing')];
  await bridge.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' }));
  const receive = new ReceiveMessageCommand({ QueueUrl: url });
  for (let turn = 0; turn < 3; turn += 1) await thing.send(receive);
  const { bridge: bridgeCalls, thing: thingCalls } = await queues.calls();
  expect(bridgeCalls).toEqual({ SendMessage: 1 });
  expect(thingCalls).toEqual({ ReceiveMessage: 1, 'ReceiveMessage empty': 2 });
});

it('answer as few long polls as the messages need, and leave the others waiting', async () => {
  const { url } = await queues.createQueue('polled', { visibilityTimeout: 30 });
  const thing = as('thing');
  const vain = async () => (await queues.calls()).thing?.['ReceiveMessage empty'] ?? 0;
  const before = await vain();
  const answered: number[] = [];
  const leave = new AbortController();
  const poll = async () => {
    const command = new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 });
    const { Messages = [] } = await thing.send(command, { abortSignal: leave.signal });
    answered.push(Messages.length);
  };
  const polls = Array.from({ length: 4 }, () => poll().catch(() => undefined));
  const received = () => answered.reduce((sum, count) => sum + count, 0);
  for (const count of [3, 10]) {
    const due = received() + count;
    const Entries = Array.from({ length: count }, (_, index) => ({ Id: String(index), MessageBody: 'x' }));
    await as('bridge').send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    await vi.waitFor(() => expect(received()).toBe(due), { timeout: 60_000 });
  }
  // An emulator that wakes all has answered all by now.
  expect(await vain()).toBe(before);
  expect(answered.length).toBeLessThan(4);
  leave.abort();
  await Promise.all(polls);
});

it('forget a long poll whose caller has hung up: it takes no message, and none counts as received by it', async () => {
  const { url } = await queues.createQueue('left', { visibilityTimeout: 30 });
  const thing = as('thing');
  const leave = new AbortController();
  const polls = Array.from({ length: 3 }, () =>
    thing
      .send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 20 }), { abortSignal: leave.signal })
      .catch(() => undefined),
  );
  // A call on the same server that is answered says that those before it have come in.
  await queues.calls();
  leave.abort();
  await Promise.all(polls);
  await queues.calls();
  await as('bridge').send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x' }));
  await expect.poll(async () => (await queues.inspect(url)).ready).toHaveLength(1);
  const [message] = (await queues.inspect(url)).ready;
  expect(message?.receiveCount).toBe(0);
});
