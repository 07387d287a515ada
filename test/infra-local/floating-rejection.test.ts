/*
 * A handler that forgets to wait for something that then fails, bundled as it would be deployed and run by plain Node in
 * a process of its own: the process ends, as Lambda's would, before anything is answered or deleted.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeRequest, makeRequest } from '../../bridge/contract.ts';
import { bundle } from '../../infra/bundle.ts';
import { startFunctionProcess } from '../../infra/local/function-process.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { type QueueName, type Queues, startQueues } from '../../infra/local/queues.ts';

/** Floats a rejection when the target says so; says gone in any case. */
const MODULE = `
import * as z from 'zod/mini';
import { createEntry } from './functions/entry.ts';
import { defineHandler, gone } from './functions/handler.ts';
export const handler = createEntry(defineHandler({
  name: 'careless', version: '1.0.0', permissions: [], service: 'none', connect: () => undefined,
  target: z.strictObject({ name: z.string() }), options: z.strictObject({}),
  identity: ({ name }) => ({ names: [name], place: 'outside' }),
  async teardown({ target }) {
    if (target.name === 'floats') void Promise.reject(new Error('nobody waits for this'));
    return gone('deleted');
  },
}));
`;
const BRIDGE = 'AROABRIDGE:bridge';

let folder: string;
let entry: string;
let queues: Queues;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
  entry = join(folder, 'bundle', 'index.mjs');
  await bundle({ name: 'careless', entry: { text: MODULE }, outfile: entry });
  queues = await startQueues({ senders: { bridge: BRIDGE, careless: 'AROACARELESS:careless' } });
}, 480_000);
afterAll(async () => {
  await queues?.stop();
  await rm(folder, { recursive: true, force: true });
});

function requestFor(name: string): string {
  const now = Date.now();
  const request = makeRequest({
    cluster: { uid: 'c-1' },
    rule: { name: 'careless', uid: 'r-1' },
    handler: 'careless',
    path: '/things/a',
    object: {
      ...{ apiVersion: 'v1', kind: 'Thing', resource: 'things', name: 'a', uid: 'u-1' },
      creationTimestamp: new Date(now - 86_400_000).toISOString(),
      deletionTimestamp: new Date(now).toISOString(),
    },
    ...{ gracePeriodSeconds: 0, target: { name }, options: {}, ownership: { tags: { owner: 'u-1' } } },
    ...{ attempt: 0, term: 3_600_000 },
  });
  return encodeRequest(request);
}

async function start(requests: QueueName, results: QueueName) {
  const config = {
    ...{ handler: 'careless', account: LOCAL_ACCOUNT_ID, requestQueueUrl: requests.url },
    clusters: [{ uid: 'c-1', sender: BRIDGE, resultQueueUrl: results.url }],
    allow: { accounts: [LOCAL_ACCOUNT_ID], regions: [LOCAL_REGION], names: ['*'] },
  };
  return await startFunctionProcess({
    ...{
      functionName: 'careless',
      entry,
      queues: [requests],
      batchSize: 1,
      functionTimeoutMs: 300_000,
      concurrency: 1,
    },
    ...{ accessKeyId: 'careless', region: queues.region, endpoints: { sqs: queues.endpoint }, folder },
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config) },
  });
}

it('ends the function before an answer is sent or a message deleted, when a rejection floats (F1)', async () => {
  const requests = await queues.createQueue('requests', { visibilityTimeout: 600 });
  const results = await queues.createQueue('results', { visibilityTimeout: 600 });
  const client = queues.client('bridge');
  const send = (name: string) =>
    client.send(new SendMessageCommand({ QueueUrl: requests.url, MessageBody: requestFor(name) }));
  const host = await start(requests, results);
  // First what the same bundle does when nothing floats: a proof that it works at all.
  await send('waits');
  await expect.poll(() => queues.inspect(results.url), { timeout: 60_000 }).toMatchObject({ ready: [{}] });
  await expect.poll(() => queues.inspect(requests.url), { timeout: 60_000 }).toMatchObject({ inFlight: [] });

  await send('floats');
  expect(await host.exited).toBe(1);

  expect((await queues.inspect(requests.url)).inFlight).toHaveLength(1);
  expect((await queues.inspect(results.url)).ready).toHaveLength(1);
  client.destroy();
  await host.stop();
});
