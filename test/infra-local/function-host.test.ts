/*
 * A function in a process of its own: it gets Lambda's environment, and what it had in work comes back when it is killed.
 * The function is a small module written for the test that uses the real AWS SDK, set up by its environment alone.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod/mini';
import { type FunctionProcessOptions, startFunctionProcess } from '../../infra/local/function-process.ts';
import { type QueueName, type Queues, startQueues } from '../../infra/local/queues.ts';

const sdk = import.meta.resolve('@aws-sdk/client-sqs');
/** Answers over a result queue, hangs on a body that says so, and takes its settings from its environment as on Lambda. */
const HANDLER = `
import { SendMessageCommand, SQSClient } from '${sdk}';
const client = new SQSClient({});
export const handler = async (event, context) => {
  if (event.Records[0].body === 'hang') await new Promise(() => setInterval(() => {}, 1000));
  const MessageBody = JSON.stringify({ body: event.Records[0].body, name: context.functionName, environment: process.env });
  await client.send(new SendMessageCommand({ QueueUrl: process.env.RESULTS, MessageBody }));
  return { batchItemFailures: [] };
};
`;
const senders = { bridge: 'AROAEXAMPLEBRIDGE:bridge', handler: 'AROAEXAMPLEHANDLER:handler' };

let folder: string;
let queues: Queues;
let results: QueueName;
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
  await writeFile(join(folder, 'handler.mjs'), HANDLER);
  queues = await startQueues({ senders });
  results = await queues.createQueue('results', { visibilityTimeout: 30 });
});
afterAll(async () => {
  await queues.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(more: Partial<FunctionProcessOptions> = {}) {
  const queue = await queues.createQueue(`requests-${made++}`, { visibilityTimeout: 600 });
  const host = await startFunctionProcess({
    ...{ functionName: 'finalizer-bridge-local-x', entry: join(folder, 'handler.mjs'), queues: [queue], batchSize: 1 },
    ...{ functionTimeoutMs: 10_000, concurrency: 1, accessKeyId: 'handler', region: queues.region, folder },
    ...{ endpoints: { sqs: queues.endpoint }, environment: { RESULTS: results.url }, ...more },
  });
  return { queue, host };
}

/** Resolves when every message of a queue is done with. */
async function emptied(queue: QueueName): Promise<void> {
  await vi.waitFor(async () => expect(await queues.inspect(queue.url)).toMatchObject({ ready: [], inFlight: [] }), {
    timeout: 60_000,
  });
}

async function send(queue: QueueName, MessageBody: string): Promise<void> {
  const client = queues.client('bridge');
  await client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody }));
  client.destroy();
}

const told = z.object({ kind: z.string() });
const answer = z.object({ body: z.string(), name: z.string(), environment: z.record(z.string(), z.string()) });

describe('a function in its own process', () => {
  it('handles a request with its own identity and with nothing of the environment that started it', async () => {
    const { queue, host } = await start();
    await send(queue, 'x');
    await emptied(queue);
    const client = queues.client('bridge');
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: results.url, MessageSystemAttributeNames: ['All'] }),
    );
    client.destroy();
    host.signal('SIGTERM');

    const { body, name, environment } = z.parse(answer, JSON.parse(Messages[0]?.Body ?? ''));
    expect([body, name, Messages[0]?.Attributes?.SenderId]).toEqual(['x', 'finalizer-bridge-local-x', senders.handler]);
    expect(environment).toMatchObject({ AWS_REGION: 'eu-central-1', AWS_LAMBDA_FUNCTION_NAME: name, TZ: ':UTC' });
    expect(Object.keys(environment).filter((key) => key.startsWith('VITEST'))).toEqual([]);
    expect(await host.exited).toBe(0);
    await host.stop();
  });

  it('leaves the message it had in work to its visibility when it is killed (P5)', async () => {
    const { queue, host } = await start();
    await send(queue, 'hang');
    await vi.waitFor(async () => expect((await queues.inspect(queue.url)).inFlight).toHaveLength(1), {
      timeout: 60_000,
    });
    host.signal('SIGKILL');
    expect(await host.exited).toBe(137);
    expect((await queues.inspect(queue.url)).inFlight).toHaveLength(1);
    await host.stop();
  });

  it.each([
    [false, ['begins', 'answered']],
    [true, []],
  ])('tells of its invocations unless it is to be quiet (%s)', async (isQuiet, kinds) => {
    const { queue, host } = await start({ isQuiet });
    await send(queue, 'x');
    await emptied(queue);
    const { logFile } = host;
    // Asked to end, it ends what is in work, and has said by then all that it says.
    host.signal('SIGTERM');
    await host.exited;
    const lines = (await readFile(logFile, 'utf8')).split('\n').filter((line) => line.startsWith('{"time"'));
    await host.stop();
    expect(lines.map((line) => z.parse(told, JSON.parse(line)).kind)).toEqual(kinds);
  });

  it('says why it did not start', async () => {
    await expect(start({ entry: join(folder, 'missing.mjs') })).rejects.toThrow(/^starting function .*missing\.mjs/s);
    await writeFile(join(folder, 'empty.mjs'), 'export const other = 1;');
    await expect(start({ entry: join(folder, 'empty.mjs') })).rejects.toThrow('it exports no function handler');
  });
});
