/*
 * A site's queues in the hands of a test: it looks into them, and plays a function or a stranger in them with that one's
 * own key. For handlers without a running function a test takes the request and answers it itself. Used over a site.
 */
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { decodeRequest, encodeResult, makeResult, type Outcome, type Request } from '../../bridge/contract.ts';
import { OPERATOR_KEY } from '../../infra/local/queues.ts';
import { eventually } from './eventually.ts';
import type { TestSite } from './site.ts';

/** A request in the hands of the test, still in its queue. */
export interface Taken {
  readonly body: string;
  readonly request: Request;
  readonly receiptHandle: string;
}

/** The verbs of a site's queues. */
export type SiteQueues = ReturnType<typeof queuesOf>;

/** The verbs, bound to a site. */
export function queuesOf(site: TestSite) {
  const clients = new Map<string, SQSClient>();
  const as = (key: string): SQSClient => {
    const client = clients.get(key) ?? site.queueServer.client(key);
    clients.set(key, client);
    return client;
  };
  site.keep({ stop: async () => void [...clients.values()].map((client) => client.destroy()) });
  const urlOf = (handler: string) => site.handler(handler).requests.url;
  const all = () => [site.results.url, ...Object.keys(site.handlers).map(urlOf)];

  async function receive(handler: string): Promise<Taken | undefined> {
    const QueueUrl = urlOf(handler);
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1, WaitTimeSeconds: 1 });
    const [message] = (await as(site.handler(handler).accessKeyId).send(command)).Messages ?? [];
    if (message?.Body === undefined || message.ReceiptHandle === undefined) return undefined;
    const decoded = decodeRequest(message.Body);
    if (!decoded.ok) throw new Error(`taking a request of ${handler}: ${decoded.failure}, ${decoded.detail}`);
    return { body: message.Body, request: decoded.message, receiptHandle: message.ReceiptHandle };
  }

  const send = async (QueueUrl: string, MessageBody: string, key: string) =>
    (await as(key).send(new SendMessageCommand({ QueueUrl, MessageBody }))).MessageId ?? '';

  async function done({ request, receiptHandle: ReceiptHandle }: Taken): Promise<void> {
    const { handler } = request.data;
    const command = new DeleteMessageCommand({ QueueUrl: urlOf(handler), ReceiptHandle });
    await as(site.handler(handler).accessKeyId).send(command);
  }

  async function receiveFor(handler: string, objects: readonly string[]): Promise<Taken | undefined> {
    const one = await receive(handler);
    if (one === undefined || objects.includes(one.request.data.object.name)) return one;
    await done(one);
    return undefined;
  }

  return {
    /** Waits a second for a request; undefined when none came. */
    receive,
    /** Resolves with a request for one of the objects; what a test that failed has left of others is done with. */
    take: (handler: string, ...objects: readonly [string, ...string[]]) =>
      eventually(`${handler} has a request for ${objects.join(' or ')}`, () => receiveFor(handler, objects)),
    send,
    /** What a function does last: the request is done with. */
    done,
    /** What the handler's function would say, sent with that function's key unless another handler's is named. */
    answer: async ({ request }: Taken, outcome: Outcome, signedBy = request.data.handler) => {
      const handler = { name: request.data.handler, version: '1.0.0' };
      const result = makeResult({ request, outcome, handler, nonce: 'by-hand', now: Date.now(), durationMs: 1 });
      return await send(site.results.url, encodeResult(result), site.handler(signedBy).accessKeyId);
    },
    /** Makes a message visible at once that a process took and died with; one that was deleted meanwhile stays so. */
    handBack: async (QueueUrl: string, ReceiptHandle: string) => {
      try {
        const command = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
        await as(OPERATOR_KEY).send(command);
      } catch (error) {
        if (!(error instanceof Error && error.name.includes('MessageNotInflight'))) throw error;
      }
    },
    inspect: (url: string) => site.queueServer.inspect(url),
    /** Resolves when no request and no result is left, in hand or waiting. */
    drained: (within?: number) =>
      eventually(
        'all queues are empty',
        async () => {
          const held = await Promise.all(all().map((url) => site.queueServer.inspect(url)));
          return held.every(({ ready, delayed, inFlight }) => ready.length + delayed.length + inFlight.length === 0);
        },
        within,
      ),
  };
}
