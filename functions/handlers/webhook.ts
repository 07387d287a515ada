/*
 * Takes down what somebody else keeps, by asking an endpoint of theirs. Called by run.ts for each request.
 *
 * Which endpoints there are, and the secret of each, stands in the function's configuration; a rule only names one and says
 * what to take down there. The endpoint is told what ownership the rule requires, and has to prove it itself, as it has to
 * keep what is marked to be kept. Its answer counts only if it repeats the digest of the target (answer.ts).
 * Nothing is sent to addresses that are not public, no redirect is followed (network.ts, exchange.ts).
 * Evidence: what the endpoint says.
 */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { keyed, type Outcome, sha256Hex } from '../../bridge/contract.ts';
import { defineHandler, type Handler, refused, type TeardownContext } from '../handler.ts';
import { outcomeOf } from './webhook/answer.ts';
import { webhookErrors } from './webhook/errors.ts';
import { post, type Sender } from './webhook/exchange.ts';
import { internet, type Network } from './webhook/network.ts';
import { signatureHeaders } from './webhook/signature.ts';

const nameSchema = z
  .string()
  .check(z.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'not a name of small letters, digits and dashes'));
const targetSchema = z.strictObject({
  webhook: nameSchema,
  id: z.string().check(z.regex(/^[\x21-\x7e]{1,256}$/, 'not 1 to 256 printable characters without spaces')),
});
const optionsSchema = z.strictObject({});
const settingsSchema = z.strictObject({
  webhooks: keyed(
    nameSchema,
    z.strictObject({
      url: z.string().check(z.refine(isEndpoint, 'not an https URL with a host name, without user, password and #')),
      // 24 to 64 bytes, as the signature's standard wants them.
      secret: z.string().check(z.regex(/^(whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$/, 'not 24 to 64 bytes in base64')),
    }),
  ),
});

type Context = TeardownContext<z.output<typeof targetSchema>, z.output<typeof optionsSchema>, Sender>;

/** The type of what an endpoint is sent; a change in what it means needs a new one. */
const ASKED_TYPE = 'dev.finalizer-bridge.webhook.teardown.v1';

/** The handler over a network, which tests bring. */
export function webhookOver(network: Network): Handler {
  return defineHandler({
    name: 'webhook',
    version: '1.0.0',
    target: targetSchema,
    options: optionsSchema,
    settings: settingsSchema,
    errors: webhookErrors,
    // One call each, side by side; together at most 25 at a time for endpoints that may not be built for more.
    limits: { timeBudgetSeconds: 60, batchSize: 5, memoryMb: 256, maximumConcurrency: 5 },
    permissions: [],
    identity: ({ webhook, id }) => ({ names: [`${webhook}/${id}`], place: 'outside' }),
    service: 'webhook',
    connect: ({ endpoint, requestHandler }) => ({
      ...{ network, endpoint, connectTimeoutMs: requestHandler.connectionTimeout },
    }),
    teardown,
  });
}

/** The handler `webhook`: target {webhook, id}, no options; settings {webhooks: {<name>: {url, secret}}}. */
export const webhook = webhookOver(internet);

async function teardown(context: Context): Promise<Outcome> {
  const { target, request, calls, client, region, settings, clock, log } = context;
  const { webhooks } = settings(settingsSchema);
  const named = Object.hasOwn(webhooks, target.webhook) ? webhooks[target.webhook] : undefined;
  if (named === undefined) {
    const message = `the configuration of this function has no webhook ${target.webhook}`;
    return refused({ reason: 'UnknownWebhook', message });
  }
  const url = new URL(named.url);
  const answer = await calls.ask('webhook:Ask', ({ abortSignal: signal }) => {
    const body = asked(context);
    return post(client(region), { url, headers: headersOf(context, named.secret, body), body, signal });
  });
  if (answer.means !== 'done') {
    return refused({ reason: answer.reason, message: `asking ${target.webhook}: ${answer.code}` });
  }
  const { value } = answer;
  if (value.kind === 'closed') {
    log.error('asking a webhook: its name has addresses that are not public', { host: url.hostname, ...value });
    const message = `${url.hostname} has an address that is not public, so nothing is sent to it`;
    return refused({ reason: 'AddressNotAllowed', message });
  }
  const { targetDigest } = request;
  return outcomeOf({ ...value, webhook: target.webhook, targetDigest, now: clock.now() });
}

/** What the endpoint is told: what to take down, on what proof and until when; nothing else of the object. */
function asked({ target, request, ownership, clock }: Context): string {
  const { id: requestId, cluster, rule, attempt, targetDigest, ruleDigest, expires, object } = request;
  const { deletionTimestamp } = object;
  return JSON.stringify({
    type: ASKED_TYPE,
    timestamp: new Date(clock.now()).toISOString(),
    data: {
      ...{ requestId, attempt, cluster, rule, target, targetDigest, ruleDigest, ownership },
      ...{ deletionTimestamp, expires },
    },
  });
}

function headersOf({ request, clock }: Context, secret: string, body: string): Readonly<Record<string, string>> {
  const now = clock.now();
  // New for each call: a receiver that drops what it has seen before would never say how far it is.
  const id = `msg_${sha256Hex(`${request.id} ${now}`).slice(0, 32)}`;
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'finalizer-bridge',
    traceparent: request.traceparent,
    ...signatureHeaders({ secret, id, seconds: Math.floor(now / 1000), body }),
  };
}

/** A literal address has no name that a certificate could be for, and is written in too many ways to be judged here. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash, hostname } = new URL(text);
  const isPlain = username === '' && password === '' && hash === '';
  return protocol === 'https:' && isPlain && !hostname.startsWith('[') && isIP(hostname) === 0;
}
