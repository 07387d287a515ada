/*
 * SQS on this machine, by fauxqs: queues with visibility, receive counts and dead-letter queues, and a SenderId by access key.
 * Started by system and by tests.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { z } from 'zod/mini';
import { realClock } from '../../bridge/clock.ts';
import { createSqsClient, type SqsClient } from '../../bridge/sqs-client.ts';
import type { Environment } from './environment.ts';
import { LOCAL_REGION } from './places.ts';
import { CALLS_PATH, type CallCounts, callCounts } from './queue-calls.ts';
import type { Senders } from './queue-senders.ts';
import { startQueueServer } from './queue-server.ts';
import { startSupervised } from './supervised.ts';

/** The access key of whoever sets the queues up; nobody's messages should carry its SenderId. */
export const OPERATOR_KEY = 'local-operator';
const OPERATOR_SENDER = 'AIDALOCALOPERATOR';

export interface QueuesOptions {
  /** Access keys that may call, and the SenderId of each. Others are refused with InvalidClientTokenId. */
  readonly senders: Senders;
  readonly dataDir?: string;
  readonly port?: number;
  /** Folder of the project that brings the emulator; this one unless told. */
  readonly project?: string;
}

export interface QueueOptions {
  /** Seconds, 0 to 43,200. */
  readonly visibilityTimeout: number;
  /** Seconds, at most 14 days, which it is unless told. */
  readonly retention?: number;
  readonly deadLetter?: { readonly arn: string; readonly maxReceiveCount: number };
}

export interface QueueName {
  readonly url: string;
  readonly arn: string;
}

export interface InspectedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly receiveCount: number;
  readonly senderId: string | undefined;
}

/** What a queue holds, without touching it. */
export interface Inspection {
  readonly ready: readonly InspectedMessage[];
  readonly delayed: readonly InspectedMessage[];
  readonly inFlight: readonly InspectedMessage[];
}

export interface QueuesClient {
  readonly endpoint: string;
  readonly region: string;
  /** A client that signs with that access key; closed by its user. */
  client(accessKeyId: string): SQSClient;
  /** The same for who sends, receives and deletes only, at a fraction of the CPU. */
  plainClient(accessKeyId: string): SqsClient;
  /** Creates the queue, or finds it when it is there with the same settings. */
  createQueue(name: string, options: QueueOptions): Promise<QueueName>;
  inspect(url: string): Promise<Inspection>;
  /** The calls answered so far, by access key and action. */
  calls(): Promise<CallCounts>;
}

export interface Queues extends QueuesClient {
  /** Of the queue process; this one's own when it runs here. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the queues in this process. */
export async function startQueues({ senders, dataDir, port, project }: QueuesOptions): Promise<Queues> {
  const server = await startQueueServer({
    senders: { ...senders, [OPERATOR_KEY]: OPERATOR_SENDER },
    region: LOCAL_REGION,
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(port === undefined ? {} : { port }),
    ...(project === undefined ? {} : { project }),
  });
  return { ...connectQueues(server.endpoint), pid: process.pid, stop: () => server.close() };
}

const announcement = z.object({ endpoint: z.string() });

/** Starts the queues as a process of their own, for benchmarks that count CPU by process, and for tests that kill it. */
export async function startQueuesProcess(
  options: QueuesOptions & { readonly env?: Environment; readonly folder?: string },
): Promise<Queues & { readonly exited: Promise<number> }> {
  const { env = process.env, folder: parent = tmpdir(), ...queues } = options;
  const folder = await mkdtemp(join(parent, 'finalizer-bridge-queues-'));
  const configuration = join(folder, 'queues.json');
  await writeFile(configuration, JSON.stringify(queues), { mode: 0o600 });
  const child = await startSupervised({
    name: 'the queue process',
    command: process.execPath,
    args: [join(import.meta.dirname, 'queues-process.ts'), configuration],
    env,
    logFile: join(folder, 'queues.log'),
    announces: true,
  });
  const stop = async () => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { endpoint } = z.parse(announcement, JSON.parse(await child.firstLine));
    return { ...connectQueues(endpoint), pid: child.pid, exited: child.exited, stop };
  } catch (cause) {
    const said = await child.logTail();
    await stop();
    throw new Error(`starting the queue process: ${said}`, { cause });
  }
}

const inspected = z.object({
  messageId: z.string(),
  body: z.string(),
  approximateReceiveCount: z.number(),
  messageAttributes: z.record(z.string(), z.looseObject({ StringValue: z.optional(z.string()) })),
});
const inspection = z.object({
  messages: z.object({
    ready: z.array(inspected),
    delayed: z.array(inspected),
    inflight: z.array(z.object({ message: inspected })),
  }),
});

/** A handle on queues that run somewhere. */
function connectQueues(endpoint: string): QueuesClient {
  const client = (accessKeyId: string) =>
    new SQSClient({ endpoint, region: LOCAL_REGION, credentials: { accessKeyId, secretAccessKey: 'local' } });
  return {
    endpoint,
    region: LOCAL_REGION,
    client,
    plainClient: (accessKeyId) =>
      createSqsClient({
        ...{ endpoint, region: LOCAL_REGION, clock: realClock },
        credentials: async () => ({ accessKeyId, secretAccessKey: 'local' }),
      }),
    createQueue: async (name, options) => {
      const operator = client(OPERATOR_KEY);
      try {
        const created = await operator.send(
          new CreateQueueCommand({ QueueName: name, Attributes: attributesOf(options) }),
        );
        const url = z.parse(z.string(), created.QueueUrl);
        const asked = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] });
        return { url, arn: z.parse(z.string(), (await operator.send(asked)).Attributes?.QueueArn) };
      } finally {
        operator.destroy();
      }
    },
    inspect: async (url) => {
      const answer = await fetch(`${endpoint}/_fauxqs/queues/${new URL(url).pathname.split('/').at(-1)}`);
      if (!answer.ok) throw new Error(`inspecting ${url}: status ${answer.status}`);
      const { ready, delayed, inflight } = z.parse(inspection, await answer.json()).messages;
      return {
        ready: ready.map(readable),
        delayed: delayed.map(readable),
        inFlight: inflight.map((one) => readable(one.message)),
      };
    },
    calls: async () => z.parse(callCounts, await (await fetch(`${endpoint}${CALLS_PATH}`)).json()),
  };
}

function attributesOf({ visibilityTimeout, retention = 1_209_600, deadLetter }: QueueOptions): Record<string, string> {
  const redrive = deadLetter && { deadLetterTargetArn: deadLetter.arn, maxReceiveCount: deadLetter.maxReceiveCount };
  return {
    VisibilityTimeout: String(visibilityTimeout),
    MessageRetentionPeriod: String(retention),
    ...(redrive ? { RedrivePolicy: JSON.stringify(redrive) } : {}),
  };
}

function readable(message: z.infer<typeof inspected>): InspectedMessage {
  const { messageId, body, approximateReceiveCount, messageAttributes } = message;
  return {
    messageId,
    body,
    receiveCount: approximateReceiveCount,
    senderId: messageAttributes['..sender-id']?.StringValue,
  };
}
