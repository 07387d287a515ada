/*
 * The queue adapter: sending against a scripted HTTP server (an emulator takes everything or
 * nothing), receiving against the SQS emulator.
 */
import { hash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod/mini';
import { realClock } from '../../bridge/clock.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { IncomingMessage } from '../../bridge/ports.ts';
import { QueueHealth } from '../../bridge/queue-health.ts';
import { createSqsQueue } from '../../bridge/sqs.ts';
import { type QueueServer, startQueueServer } from '../../infra/local/queue-server.ts';
import { keptLog } from '../support/bridge-builders.ts';

const region = 'eu-central-1';
const KEY = 'AKIDBRIDGE';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEY);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function queueAt(endpoint: string) {
  const metrics = createMetrics();
  const health = new QueueHealth(realClock);
  return createSqsQueue({ region, endpoint, clock: realClock, metrics, health, log: keptLog().log });
}

describe('sending', () => {
  const asked = z.object({ Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })) });
  let server: Server;
  let url: string;
  let answer: (entries: z.output<typeof asked>['Entries']) => { readonly status: number; readonly body: object };

  beforeEach(async () => {
    server = createServer(async (request, response) => {
      const { status, body } = answer(asked.parse(await json(request)).Entries);
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = server.address();
    url = address !== null && typeof address === 'object' ? `http://127.0.0.1:${address.port}` : '';
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const batch = ['a', 'b', 'c'].map((body, index) => ({ id: String(index), body }));
  const taken = ({ Id, MessageBody }: { readonly Id: string; readonly MessageBody: string }) => ({
    ...{ Id, MessageId: `m-${Id}` },
    MD5OfMessageBody: md5(MessageBody),
  });

  it('reports nothing when the queue confirms every entry', async () => {
    answer = (entries) => ({ status: 200, body: { Successful: entries.map(taken) } });
    expect(await queueAt(url).send(`${url}/1/queue`, batch)).toEqual([]);
  });

  it('reports each entry that a 200 says has failed (Q2)', async () => {
    const failed = { Id: '1', Code: 'InternalError', SenderFault: false, Message: 'try again' };
    answer = ([first, , third]) => ({
      status: 200,
      body: {
        Successful: [first, third].flatMap((entry) => (entry === undefined ? [] : [taken(entry)])),
        Failed: [failed],
      },
    });
    expect(await queueAt(url).send(`${url}/1/queue`, batch)).toEqual([
      { id: '1', code: 'InternalError', detail: 'try again' },
    ]);
  });

  it('takes what a 200 does not speak of for not sent (Q2)', async () => {
    answer = (entries) => ({ status: 200, body: { Successful: entries.slice(0, 2).map(taken) } });
    expect(await queueAt(url).send(`${url}/1/queue`, batch)).toMatchObject([{ id: '2', code: 'Unconfirmed' }]);
    answer = () => ({ status: 200, body: {} });
    expect(await queueAt(url).send(`${url}/1/queue`, batch)).toHaveLength(3);
  });

  it('fails when the whole call does', async () => {
    answer = () => ({ status: 403, body: { __type: 'com.amazonaws.sqs#AccessDenied', message: 'no' } });
    await expect(queueAt(url).send(`${url}/1/queue`, batch)).rejects.toThrow('no');
  });
});

describe('receiving', () => {
  let server: QueueServer;
  let client: SQSClient;
  let queueUrl: string;

  beforeEach(async () => {
    server = await startQueueServer({ senders: { [KEY]: 'AROAS3BUCKET:run' }, region });
    client = new SQSClient({ region, endpoint: server.endpoint });
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: 'results' }));
    queueUrl = QueueUrl;
  });
  afterEach(async () => {
    client.destroy();
    await server.close();
  });

  async function left(): Promise<number> {
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
    const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...AttributeNames] });
    const { Attributes = {} } = await client.send(command);
    return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  }

  it('hands over who sent each message, and deletes only what is named as done (K5, Q11)', async () => {
    const Entries = ['done', 'kept', 'done too'].map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    const received: IncomingMessage[] = [];
    const consumption = queueAt(server.endpoint).consume(queueUrl, async (batch) => {
      received.push(...batch);
      return new Set(batch.filter(({ body }) => body !== 'kept').map(({ messageId }) => messageId));
    });
    await vi.waitFor(async () => expect(await left()).toBe(1), { timeout: 60_000, interval: 20 });
    await consumption.stop();
    expect(received.map(({ body }) => body).sort()).toEqual(['done', 'done too', 'kept']);
    expect(received).toMatchObject(received.map(() => ({ sender: 'AROAS3BUCKET:run', receiveCount: 1 })));
    expect(await left()).toBe(1);
  });

  it('stops only when the batch in hand is done, its deletions included', async () => {
    await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: [{ Id: '0', MessageBody: 'slow' }] }));
    const begun = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    const consumption = queueAt(server.endpoint).consume(queueUrl, async (batch) => {
      begun.resolve();
      await open.promise;
      return new Set(batch.map(({ messageId }) => messageId));
    });
    await begun.promise;
    const stopped = consumption.stop();
    open.resolve();
    await stopped;
    expect(await left()).toBe(0);
  });
});

function md5(text: string): string {
  return hash('md5', text, 'hex');
}
