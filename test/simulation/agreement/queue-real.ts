/*
 * A queue of a server in the hands of a script: the function's own port, and the SDK for the rest. The server is an emulator of
 * SQS; where SQS is documented otherwise, scripts-queues.ts says so. Used by the tests of agreement.
 */
import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { ServiceError } from '../../../functions/service-error.ts';
import { sqsQueue } from '../../../functions/sqs.ts';
import { createSqsClient } from '../../../functions/sqs-client.ts';
import type { Queues } from '../../../infra/local/queues.ts';
import { realClock } from '../../functions/runs.ts';
import { QUEUE_SENDERS, type QueueDriver, type QueueOptions, type QueueSender } from './queue-script.ts';

/** The access keys by which the server knows who sends. */
export const SENDERS_BY_KEY = Object.fromEntries(
  Object.entries(QUEUE_SENDERS).map(([name, sender]) => [`agreement-${name}`, sender]),
);
const POLL_SECONDS = 20;

/** The clients of a server. */
export type QueueClients = Readonly<Record<QueueSender, SQSClient>>;

/** Connects as everybody who may send. */
export function connectSenders(queues: Queues): QueueClients {
  return { bridge: queues.client('agreement-bridge'), stranger: queues.client('agreement-stranger') };
}

/** Makes an empty queue, and its dead-letter queue. */
export async function createQueueReal(
  { queues, clients }: { readonly queues: Queues; readonly clients: QueueClients },
  name: string,
  { visibilitySeconds, maxReceiveCount }: QueueOptions,
): Promise<QueueDriver> {
  const dead = await queues.createQueue(`${name}-dead`, { visibilityTimeout: 30 });
  const deadLetter = { arn: dead.arn, maxReceiveCount };
  const { url } = await queues.createQueue(name, { visibilityTimeout: visibilitySeconds, deadLetter });
  const portOf = (sender: QueueSender) => {
    const keys = () => ({ accessKeyId: `agreement-${sender}`, secretAccessKey: 'local' });
    const { endpoint, region } = queues;
    const told = { endpoint, region, clock: realClock, random: Math.random, keys, trace: () => ({}) };
    return sqsQueue(createSqsClient(told), url);
  };
  const ports = { bridge: portOf('bridge'), stranger: portOf('stranger') };
  return {
    send: async (entries, by) => await ports[by].send(url, entries).catch(renamed),
    sendLater: async (MessageBody, DelaySeconds) =>
      void (await clients.bridge.send(new SendMessageCommand({ QueueUrl: url, MessageBody, DelaySeconds }))),
    receive: async (MaxNumberOfMessages, waits) => {
      const command = new ReceiveMessageCommand({
        ...{ QueueUrl: url, MaxNumberOfMessages, WaitTimeSeconds: waits ? POLL_SECONDS : 0 },
        MessageSystemAttributeNames: ['SenderId', 'ApproximateReceiveCount'],
      });
      const { Messages = [] } = await clients.bridge.send(command);
      return Messages.map(({ MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} }) => ({
        ...{ id: MessageId, body: Body, receipt: ReceiptHandle },
        sender: Attributes.SenderId ?? '',
        receiveCount: Number(Attributes.ApproximateReceiveCount),
      }));
    },
    async delete(ReceiptHandle) {
      const Entries = [{ Id: '0', ReceiptHandle }];
      const { Failed = [] } = await clients.bridge.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      if (Failed.length > 0) throw new Error(`deleting: ${Failed[0]?.Code}`);
    },
    hide: async (receipts, seconds) =>
      await ports.bridge.changeVisibility(receipts.map((receiptHandle) => ({ receiptHandle, seconds }))),
    purge: async () => void (await clients.bridge.send(new PurgeQueueCommand({ QueueUrl: url }))),
    dead: async () =>
      (await queues.inspect(dead.url)).ready.map(({ messageId, body, senderId = '' }) => {
        return { id: messageId, body, sender: senderId };
      }),
    sendAgain: async (by) => await sendAgain(clients[by], { from: dead.url, to: url }),
    redrive: async () => void (await clients.bridge.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn }))),
    answered: async (call) => await call,
  };
}

/** As an operator does, who sees to it that nothing is lost: one by one, deleted once it has been sent. */
async function sendAgain(client: SQSClient, { from, to }: { readonly from: string; readonly to: string }) {
  for (;;) {
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: from, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return;
    for (const { Body: MessageBody, ReceiptHandle } of Messages) {
      await client.send(new SendMessageCommand({ QueueUrl: to, MessageBody }));
      await client.send(new DeleteMessageCommand({ QueueUrl: from, ReceiptHandle }));
    }
  }
}

/** A refusal in the name of its code, as the SDK has it and scripts expect it. */
function renamed(error: unknown): never {
  throw error instanceof ServiceError ? Object.assign(new Error(error.message), { name: error.code }) : error;
}
