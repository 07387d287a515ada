/*
 * A server that webhooks are sent to: answers as a test scripts it, in plain text or as https://hooks.example.com.
 * Beside it a keeper of tenants, which does what docs/handlers.md asks of an endpoint. Used by tests of the handler.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { z } from 'zod/mini';
import { KEEP_TAG } from '../../functions/ownership.ts';
import { HOOKS_CERTIFICATE, HOOKS_KEY } from './hooks-certificate.ts';

/** The secret that endpoints of tests share with the function; both the standard's own example and its base64 form. */
export const HOOKS_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** What a webhook is sent, and nothing else. */
export const askedSchema = z.strictObject({
  type: z.literal('dev.finalizer-bridge.webhook.teardown.v1'),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    requestId: z.string(),
    attempt: z.int(),
    cluster: z.strictObject({ uid: z.string(), name: z.optional(z.string()) }),
    rule: z.strictObject({ name: z.string(), uid: z.string() }),
    target: z.strictObject({ webhook: z.string(), id: z.string() }),
    targetDigest: z.string(),
    ruleDigest: z.string(),
    ownership: z.union([
      z.strictObject({ tags: z.record(z.string(), z.string()) }),
      z.strictObject({ none: z.literal(true) }),
    ]),
    deletionTimestamp: z.iso.datetime(),
    expires: z.iso.datetime(),
  }),
});

/** A request as an endpoint sees it. */
export interface SeenWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The body, which has nothing but what is documented. */
  readonly asked: z.output<typeof askedSchema>;
}

/** What it answers: status, headers, and text or what is written as JSON; or what it does with the response itself. */
export type HookReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | { readonly act: (response: ServerResponse) => void };

/** A running endpoint. */
export interface WebhookEndpoint {
  readonly port: number;
  readonly seen: readonly SeenWebhook[];
  /** Answers this from now on. */
  answer(reply: HookReply | ((seen: SeenWebhook) => HookReply)): void;
  close(): Promise<void>;
}

/** Starts an endpoint on a free port of 127.0.0.1. */
export async function startWebhookEndpoint(transport: 'http' | 'https'): Promise<WebhookEndpoint> {
  const seen: SeenWebhook[] = [];
  let reply: (seen: SeenWebhook) => HookReply = () => ({ status: 418 });
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    const { method = '', url: path = '', headers } = request;
    const came = { method, path, headers, text, asked: askedSchema.parse(JSON.parse(text)) };
    seen.push(came);
    const answer = reply(came);
    if ('act' in answer) return answer.act(response);
    response.writeHead(answer.status, answer.headers);
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    take(request, response).catch((error: unknown) => response.writeHead(418).end(String(error)));
  };
  const server =
    transport === 'http'
      ? createServer(listener)
      : createTlsServer({ key: HOOKS_KEY, cert: HOOKS_CERTIFICATE }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('starting a webhook endpoint: it has no port');
  return {
    port: address.port,
    seen,
    answer(next) {
      reply = typeof next === 'function' ? next : () => next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Tenants by id, each with its tags. */
export type Tenants = Map<string, Readonly<Record<string, string>>>;

/** The answers of who keeps tenants, and deletes those that are proven to be asked for by their owner. */
export function keeperOf(tenants: Tenants): (seen: SeenWebhook) => HookReply {
  return (seen) => {
    if (!isSigned(seen)) return { status: 401 };
    const { target, targetDigest, ownership } = seen.asked.data;
    const said = (body: object) => ({ status: 200, body: { ...body, targetDigest } });
    const tags = tenants.get(target.id);
    if (tags === undefined) return said({ outcome: 'gone', evidence: 'absent' });
    if (KEEP_TAG in tags) return said({ outcome: 'refused', reason: 'Kept', message: 'to be kept' });
    const required = 'tags' in ownership ? Object.entries(ownership.tags) : [];
    if (!required.every(([key, value]) => tags[key] === value))
      return said({ outcome: 'refused', reason: 'NotOwned', message: 'of somebody else' });
    tenants.delete(target.id);
    return said({ outcome: 'gone', evidence: 'deleted' });
  };
}

/** Whether the signature is that of the secret, over what was sent and when. */
export function isSigned({ headers, text }: SeenWebhook, secret = HOOKS_SECRET): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
