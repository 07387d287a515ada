/*
 * One request sent to one function on this machine: queues, the function's own bundle in a process as Lambda would run it, the
 * request signed as a bridge's, and the answer from the result queue. Called by dev.ts; the caller is told each step.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { decodeResult, encodeRequest, type Outcome } from '../../../bridge/contract.ts';
import type { Handler } from '../../../functions/handler.ts';
import { RESERVE_SECONDS } from '../../../functions/handler.ts';
import { type FunctionProcess, startFunctionProcess } from '../../local/function-process.ts';
import { LOCAL_REGION } from '../../local/places.ts';
import { startQueues } from '../../local/queues.ts';
import { createSystemQueues, type SystemQueues, systemSenders } from '../../local/system-queues.ts';
import { KitError } from '../error.ts';
import { type Reach, withWall } from './reach.ts';
import type { DevRequest } from './request.ts';
import { outcomeStep, type Step, stepOf } from './timeline.ts';

/** What to run. */
export interface SessionOptions {
  readonly handler: Handler;
  readonly asked: DevRequest;
  readonly reach: Reach;
  /** The function's bundle. */
  readonly entry: string;
  /** The function's configuration without clusters and queues. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Folder of the project, and one for what the processes need. */
  readonly folders: { readonly project: string; readonly temporary: string };
  /** ms to wait for an answer; and for one that is not `pending`, if that is wanted. */
  readonly timeout: number;
  readonly goesOn: boolean;
  readonly onStep: (step: Step) => void;
}

/** The answer, and how long its run took by the function's own clock. */
export interface Answered {
  readonly outcome: Outcome;
  readonly durationMs: number;
}

const POLL_MS = 50;

/** Runs a request. @throws KitError when no answer comes. */
export async function runSession(options: SessionOptions): Promise<Answered> {
  const { handler, asked, folders } = options;
  await using stack = new AsyncDisposableStack();
  const clusterUid = asked.request.data.cluster.uid;
  const keys = await keysOf(options.reach);
  const known = systemSenders({ handlers: [handler.name], stage: 'dev' });
  const own = known[`finalizer-bridge-dev-${handler.name}`];
  const senders = keys === undefined || own === undefined ? known : { ...known, [keys.accessKeyId]: own };
  const server = await startQueues({ senders, project: folders.project });
  stack.defer(() => server.stop());
  const queues = await createSystemQueues(server, { stage: 'dev', clusterUid, handlers: [handler.name] });
  const started = await startFunction(options, { queues, endpoint: server.endpoint, keys });
  stack.defer(() => started.stop());
  const bridge = server.client(queues.bridge.accessKeyId);
  stack.defer(async () => bridge.destroy());
  await bridge.send(
    new SendMessageCommand({
      QueueUrl: queues.handler(handler.name).requests.url,
      MessageBody: encodeRequest(asked.request),
    }),
  );
  options.onStep({ at: Date.now(), what: 'sent', text: `request ${asked.request.id}` });
  return await answerOf(options, { bridge, resultsUrl: queues.results.url, started });
}

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Credentials for real AWS, as any tool finds them: of the environment, a profile, a sign-on. */
async function keysOf(reach: Reach): Promise<Keys | undefined> {
  if (reach.kind !== 'real') return undefined;
  const client = new SQSClient({ region: LOCAL_REGION });
  try {
    return await client.config.credentials();
  } catch (cause) {
    throw new KitError(`--real-aws: ${cause instanceof Error ? cause.message : cause}`, { cause });
  } finally {
    client.destroy();
  }
}

interface Place {
  readonly queues: SystemQueues;
  /** Of the queues. */
  readonly endpoint: string;
  readonly keys: Keys | undefined;
}

function startFunction(options: SessionOptions, { queues, endpoint, keys }: Place): Promise<FunctionProcess> {
  const { handler, reach, configuration, entry, folders } = options;
  const { functionName, requests, accessKeyId } = queues.handler(handler.name);
  const clusterUid = options.asked.request.data.cluster.uid;
  const sender = queues.bridge.senderId.split(':', 1)[0];
  const config = {
    ...configuration,
    ...{ handler: handler.name, requestQueueUrl: requests.url, logLevel: 'debug' },
    clusters: [{ uid: clusterUid, sender, resultQueueUrl: queues.results.url }],
    ...(reach.kind === 'endpoint' ? { endpoints: { [handler.service]: reach.endpoint } } : {}),
  };
  return startFunctionProcess({
    ...{ functionName, entry, queues: [requests], batchSize: handler.limits.batchSize, concurrency: 1 },
    functionTimeoutMs: (handler.limits.timeBudgetSeconds + RESERVE_SECONDS) * 1000,
    accessKeyId: keys?.accessKeyId ?? accessKeyId,
    region: LOCAL_REGION,
    endpoints: { sqs: endpoint, ...(reach.kind === 'endpoint' ? { others: reach.endpoint } : {}) },
    nodeArgs: reach.kind === 'endpoint' ? withWall() : [],
    environment: {
      FINALIZER_BRIDGE_CONFIG: JSON.stringify(config),
      AWS_EC2_METADATA_DISABLED: 'true',
      ...(reach.kind === 'endpoint' ? { FINALIZER_BRIDGE_DEV_HOSTS: reach.hosts.join(',') } : {}),
      ...(keys === undefined ? {} : { AWS_SECRET_ACCESS_KEY: keys.secretAccessKey }),
      ...(keys?.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: keys.sessionToken }),
    },
    folder: folders.temporary,
  });
}

interface Running {
  readonly bridge: SQSClient;
  readonly resultsUrl: string;
  readonly started: FunctionProcess;
}

/** Polls the result queue and reads the log on, so that each step shows when it happens. */
async function answerOf(options: SessionOptions, { bridge, resultsUrl, started }: Running): Promise<Answered> {
  const { asked, timeout, goesOn, onStep } = options;
  const until = performance.now() + timeout;
  let read = 0;
  let hasFailed = false;
  const follow = async () => {
    const lines = (await readFile(started.logFile, 'utf8').catch(() => '')).split('\n').slice(0, -1);
    const steps = lines.slice(read).flatMap((line) => stepOf(line, Date.now()) ?? []);
    read = lines.length;
    hasFailed ||= steps.some(({ what }) => what === 'failed');
    // The function and what runs it write to one file each in its own time.
    for (const step of steps.toSorted((left, right) => left.at - right.at)) onStep(step);
  };
  let last: Answered | undefined;
  while (performance.now() < until && !hasFailed) {
    const received = await bridge.send(new ReceiveMessageCommand({ QueueUrl: resultsUrl }));
    await follow();
    const [message] = received.Messages ?? [];
    if (message === undefined) {
      await wait(POLL_MS);
      continue;
    }
    const decoded = decodeResult(message.Body ?? '');
    if (!decoded.ok) throw new KitError(`reading the answer: ${decoded.failure}: ${decoded.detail}`);
    await bridge.send(new DeleteMessageCommand({ QueueUrl: resultsUrl, ReceiptHandle: message.ReceiptHandle }));
    const { requestId, result: outcome, durationMs } = decoded.message.data;
    if (requestId !== asked.request.id) continue;
    last = { outcome, durationMs };
    onStep(outcomeStep(outcome, Date.now(), durationMs));
    if (!goesOn || outcome.outcome !== 'pending') return last;
  }
  if (last !== undefined) return last;
  const why = hasFailed
    ? 'the function failed; on AWS the request would come again'
    : `none came within ${timeout / 1000} s`;
  throw new KitError(`waiting for an answer: ${why}`);
}
