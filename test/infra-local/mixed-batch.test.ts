/*
 * One batch of a handler that takes several messages, as the event source makes it of a real queue: what cannot be read
 * stays alone, what can be read is done. The function is the real entry with a handler of the test.
 */
import { ReceiveMessageCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { decodeResult, encodeRequest } from '../../bridge/contract.ts';
import { createEntry } from '../../functions/entry.ts';
import { gone } from '../../functions/handler.ts';
import { type InvocationReport, startEventSource } from '../../infra/local/event-source.ts';
import { startQueues } from '../../infra/local/queues.ts';
import { ACCOUNT, CLUSTER, NOW, REGION, rawConfig, requestOf, SENDER, thing } from '../functions/fixtures.ts';
import { realClock, useNoCredentials } from '../functions/runs.ts';

it('leaves an undecodable message of a batch in the queue, and deletes the good ones around it (Q3)', async () => {
  useNoCredentials();
  await using queues = await disposable(
    startQueues({ senders: { bridge: `${SENDER}:bridge`, test: 'AROATEST:thing' } }),
  );
  const requests = await queues.createQueue('requests', { visibilityTimeout: 600 });
  const results = await queues.createQueue('results', { visibilityTimeout: 600 });
  const names = ['team-a-one', 'team-a-two'];
  const [one = '', two = ''] = names.map((name) =>
    encodeRequest(requestOf({ target: { name, region: REGION, account: ACCOUNT } })),
  );
  const Entries = [one, 'neither JSON nor a request', two].map((MessageBody, Id) => ({ Id: String(Id), MessageBody }));
  const bridge = queues.client('bridge');
  await bridge.send(new SendMessageBatchCommand({ QueueUrl: requests.url, Entries }));

  const handler = thing(async () => gone('deleted'), { batchSize: 10 });
  const config = rawConfig({
    clusters: [{ uid: CLUSTER, sender: SENDER, resultQueueUrl: results.url }],
    requestQueueUrl: requests.url,
    endpoints: { sqs: queues.endpoint },
  });
  const began = performance.now();
  const invoke = createEntry(handler, {
    environment: { FINALIZER_BRIDGE_CONFIG: JSON.stringify(config) },
    clock: { ...realClock, now: () => NOW + performance.now() - began },
  });
  const client = queues.plainClient('test');
  let source: ReturnType<typeof startEventSource> | undefined;
  const report = await new Promise<InvocationReport>((resolve, reject) => {
    source = startEventSource({
      ...{ client, queueUrl: requests.url, queueArn: requests.arn, functionName: 'thing' },
      ...{ batchSize: handler.limits.batchSize, functionTimeoutMs: 300_000, concurrency: 1 },
      ...{ invoke, onError: reject, onInvocation: resolve },
    });
  });
  await source?.stop(0);

  expect(report.messageIds).toHaveLength(3);
  const [first, second, third] = report.messageIds;
  expect(report.outcome).toEqual({ kind: 'answered', deleted: [first, third], failed: [second] });
  const left = await queues.inspect(requests.url);
  expect([...left.ready, ...left.delayed, ...left.inFlight].map(({ body }) => body)).toEqual([Entries[1]?.MessageBody]);
  const answers = await bridge.send(new ReceiveMessageCommand({ QueueUrl: results.url, MaxNumberOfMessages: 10 }));
  const decoded = (answers.Messages ?? []).map(({ Body = '' }) => decodeResult(Body));
  expect(decoded.map((result) => result.ok && result.message.data.result.outcome)).toEqual(['gone', 'gone']);
  bridge.destroy();
});

/** Stopped at the end of the test, however that ends. */
async function disposable<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T & AsyncDisposable> {
  const started = await starting;
  return { ...started, [Symbol.asyncDispose]: () => started.stop() };
}
