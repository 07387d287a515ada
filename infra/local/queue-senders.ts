/*
 * Sender identity for the SQS emulator: maps the access key that signed a request to a SenderId, as SQS maps credentials to a
 * role session. The id travels in a hidden message attribute, so it survives a restart, and comes back as the system attribute.
 * Installed by queue-server as hooks around the emulator's handler.
 */
import type { buildApp } from 'fauxqs';
import { z } from 'zod/mini';
import { md5OfMessageAttributes } from './message-attributes.ts';

/** SenderId by access key id: what SQS would say of the credentials, for a role `<role id>:<session name>`. */
export type Senders = Readonly<Record<string, string>>;

type App = ReturnType<typeof buildApp>;
type Body = Record<string, unknown>;

/** Dots at the start make it a name that SQS refuses, so no sender can have set it. */
const HIDDEN = '..sender-id';

const attributes = z.record(z.string(), z.looseObject({ DataType: z.string() }));
const strings = z.array(z.string());
const entry = z.looseObject({ Id: z.optional(z.string()), MessageAttributes: z.optional(attributes) });
const message = z.looseObject({
  ReceiptHandle: z.string(),
  Attributes: z.optional(z.record(z.string(), z.string())),
  MessageAttributes: z.optional(attributes),
});
const requestBody = z.record(z.string(), z.unknown());
// Made once: of every message that a schema is made for, most of the time would go into making it.
const entries = z.array(entry);
const messages = z.array(message);
const bodies = z.array(requestBody);
const hidden = z.object({ [HIDDEN]: z.object({ StringValue: z.string() }) });

/** Adds the identity to an emulator that does not listen yet. `persistent` mends a fault that only its stored mode has. */
export function addSenders(app: App, { senders, persistent }: { senders: Senders; persistent: boolean }): void {
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return;
    const senderId = senders[accessKeyOf(request.headers.authorization) ?? ''];
    if (senderId === undefined) {
      return await reply
        .code(403)
        .header('content-type', 'application/x-amz-json-1.0')
        .header('x-amzn-query-error', 'InvalidClientTokenId;Sender')
        .send({
          __type: 'com.amazonaws.sqs#InvalidClientTokenId',
          message: 'The security token included in the request is invalid.',
        });
    }
    const body = z.parse(requestBody, request.body ?? {});
    const action = actionOf(request.headers['x-amz-target']);
    request.body = prepare({ action, body, senderId, persistent });
  });
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const answer = z.safeParse(requestBody, payload);
    const body = z.safeParse(requestBody, request.body);
    if (request.method !== 'POST' || !answer.success || !body.success) return payload;
    const action = actionOf(request.headers['x-amz-target']);
    const finished = finish({ action, body: body.data, answer: answer.data, host: request.headers.host ?? '' });
    if (action === 'ReceiveMessage' && request.raw.socket.destroyed)
      await putBack(app, request.headers.authorization, { queueUrl: body.data.QueueUrl, answer: finished });
    return finished;
  });
}

/** Who signed a request. */
export function accessKeyOf(authorization: string | undefined): string | undefined {
  return /^AWS4-HMAC-SHA256 .*Credential=([^/,\s]+)\//.exec(authorization ?? '')?.[1];
}

/** What a request asks for. */
export function actionOf(target: string | string[] | undefined): string {
  return String(target ?? '').replace('AmazonSQS.', '');
}

interface Prepare {
  readonly action: string;
  readonly body: Body;
  readonly senderId: string;
  readonly persistent: boolean;
}

function prepare({ action, body, senderId, persistent }: Prepare): Body {
  switch (action) {
    case 'SendMessage':
      return { ...body, MessageAttributes: withSender(body.MessageAttributes, senderId) };
    case 'SendMessageBatch':
      return {
        ...body,
        Entries: z
          .parse(entries, body.Entries ?? [])
          .map((one) => ({ ...one, MessageAttributes: withSender(one.MessageAttributes, senderId) })),
      };
    case 'ReceiveMessage':
      // With no names asked for, SQS returns no attributes; the emulator would return all.
      return { ...body, MessageAttributeNames: [...z.parse(strings, body.MessageAttributeNames ?? []), HIDDEN] };
    case 'ChangeMessageVisibility':
      return persistent ? soon(body) : body;
    case 'ChangeMessageVisibilityBatch':
      return persistent ? { ...body, Entries: z.parse(bodies, body.Entries ?? []).map(soon) } : body;
    default:
      return body;
  }
}

/** fauxqs 2.4.1 with a data folder fails on a visibility of 0 (it writes NULL to a NOT NULL column); a millisecond is as good. */
function soon(change: Body): Body {
  return change.VisibilityTimeout === 0 ? { ...change, VisibilityTimeout: 0.001 } : change;
}

function withSender(own: unknown, senderId: string): Body {
  return { ...z.parse(attributes, own ?? {}), [HIDDEN]: { DataType: 'String', StringValue: senderId } };
}

interface Finish {
  readonly action: string;
  readonly body: Body;
  readonly answer: Body;
  readonly host: string;
}

function finish({ action, body, answer, host }: Finish): Body {
  switch (action) {
    case 'SendMessage':
      return withOwnDigest(answer, body.MessageAttributes);
    case 'SendMessageBatch': {
      const sent = new Map(z.parse(entries, body.Entries).map((one) => [one.Id, one.MessageAttributes]));
      const done = z.parse(entries, answer.Successful ?? []);
      return answer.Successful === undefined
        ? answer
        : { ...answer, Successful: done.map((one) => withOwnDigest(one, sent.get(one.Id))) };
    }
    case 'ReceiveMessage': {
      if (answer.Messages === undefined) return answer;
      return { ...answer, Messages: z.parse(messages, answer.Messages).map(revealSender) };
    }
    case 'CreateQueue':
    case 'GetQueueUrl':
      // The emulator's host name needs a resolver for subdomains of localhost, and a stored one has an old port.
      return typeof answer.QueueUrl === 'string' ? { ...answer, QueueUrl: onHost(answer.QueueUrl, host) } : answer;
    default:
      return answer;
  }
}

function onHost(url: string, host: string): string {
  return `http://${host}${new URL(url).pathname}`;
}

function ownAttributes(all: unknown): z.infer<typeof attributes> {
  const { [HIDDEN]: _hidden, ...own } = z.parse(attributes, all ?? {});
  return own;
}

function withOwnDigest(answer: Body, sent: unknown): Body {
  const { MD5OfMessageAttributes: _withHidden, ...rest } = answer;
  const own = ownAttributes(sent);
  return Object.keys(own).length === 0 ? rest : { ...rest, MD5OfMessageAttributes: md5OfMessageAttributes(own) };
}

function revealSender(received: z.infer<typeof message>): Body {
  const { MessageAttributes: all, MD5OfMessageAttributes: _withHidden, Attributes: system, ...rest } = received;
  const senderId = z.safeParse(hidden, all).data?.[HIDDEN].StringValue;
  const own = ownAttributes(all);
  const asked = system !== undefined && 'SenderId' in system && senderId !== undefined;
  return {
    ...rest,
    ...(system === undefined ? {} : { Attributes: asked ? { ...system, SenderId: senderId } : system }),
    ...(Object.keys(own).length === 0
      ? {}
      : { MessageAttributes: own, MD5OfMessageAttributes: md5OfMessageAttributes(own) }),
  };
}

/** A receiver that was killed during its long poll must not take messages with it until their visibility ends. */
async function putBack(
  app: App,
  authorization: string | undefined,
  { queueUrl, answer }: { readonly queueUrl: unknown; readonly answer: Body },
): Promise<void> {
  const taken = z.parse(messages, answer.Messages ?? []);
  if (taken.length === 0) return;
  await app.inject({
    method: 'POST',
    url: '/',
    headers: {
      authorization: String(authorization),
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'AmazonSQS.ChangeMessageVisibilityBatch',
    },
    payload: JSON.stringify({
      QueueUrl: queueUrl,
      Entries: taken.map((one, index) => ({
        Id: String(index),
        ReceiptHandle: one.ReceiptHandle,
        VisibilityTimeout: 0,
      })),
    }),
  });
}
