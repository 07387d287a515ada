/*
 * The handler webhook against a server over HTTP: what it sends, how it is signed, what configuration it takes.
 * The meaning of answers is in webhook-answers.test.ts, the way to the endpoint in webhook-network.test.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { targetDigestOf } from '../../bridge/contract.ts';
import { readConfig } from '../../functions/config.ts';
import { signatureHeaders } from '../../functions/handlers/webhook/signature.ts';
import { webhook } from '../../functions/handlers/webhook.ts';
import type { WebhookEndpoint } from '../support/webhook-endpoint.ts';
import { HOOKS_SECRET, isSigned, keeperOf, startWebhookEndpoint, type Tenants } from '../support/webhook-endpoint.ts';
import { CLUSTER, OWNER_TAG, rawConfig, UID } from './fixtures.ts';
import { OWNED, type RunChanges, realClock, runOnce } from './runs.ts';

const target = { webhook: 'crm', id: 't-1' };
const crm = { url: 'https://crm.example.com/v1/tenants?x=1', secret: HOOKS_SECRET };
const tenants: Tenants = new Map();

let endpoint: WebhookEndpoint;
beforeAll(async () => {
  endpoint = await startWebhookEndpoint('http');
});
afterAll(() => endpoint.close());
beforeEach(() => {
  tenants.clear();
  tenants.set('t-1', OWNED);
  endpoint.answer(keeperOf(tenants));
});

const run = (changes: RunChanges = {}, of = target) =>
  runOnce(webhook, of, `http://127.0.0.1:${endpoint.port}`, { settings: { webhooks: { crm } }, ...changes });

describe('asking', () => {
  it('takes a tenant down, once and for all', async () => {
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'deleted' });
    expect(tenants.size).toBe(0);
    expect(await run()).toEqual({ outcome: 'gone', evidence: 'absent' });
  });

  it('tells target, digests, ownership and times, and nothing else of the object (Q6)', async () => {
    await run();
    const { asked, method, path, headers, text } = endpoint.seen.at(-1) ?? {};
    expect([method, path, headers?.['content-type']]).toEqual(['POST', '/v1/tenants?x=1', 'application/json']);
    expect(headers?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(asked?.data).toMatchObject({
      requestId: expect.stringMatching(new RegExp(`^${UID}/team-buckets/[0-9a-f]{16}/0$`)),
      attempt: 0,
      cluster: { uid: CLUSTER, name: 'test' },
      target,
      targetDigest: targetDigestOf(target),
      ruleDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      ownership: { tags: { [OWNER_TAG]: UID } },
    });
    expect(text).not.toContain('storage.example.com');
  });

  it('tells that no ownership is required where the rule says so', async () => {
    await run({ ownership: { none: true } });
    expect(endpoint.seen.at(-1)?.asked.data.ownership).toEqual({ none: true });
  });

  it.each([
    ['of somebody else', { [OWNER_TAG]: 'other' }, 'NotOwned'],
    ['to be kept', { ...OWNED, 'finalizer-bridge.dev/keep': '' }, 'Kept'],
  ])('is refused for a tenant that the endpoint knows to be %s', async (_what, tags, reason) => {
    tenants.set('t-1', tags);
    expect(await run()).toMatchObject({ outcome: 'refused', reason });
    expect(tenants.size).toBe(1);
  });

  it('is not repeated within a run, whatever the endpoint does', async () => {
    for (const status of [202, 429, 500, 503]) {
      endpoint.answer({ status });
      const before = endpoint.seen.length;
      expect(await run()).toMatchObject({ outcome: 'pending' });
      expect(endpoint.seen.length - before).toBe(1);
    }
  });

  it('sends nothing to an endpoint that the configuration does not name', async () => {
    const before = endpoint.seen.length;
    for (const name of ['other', 'constructor', 'to-string']) {
      const outcome = await run({}, { ...target, webhook: name });
      expect(outcome).toMatchObject({ outcome: 'refused', reason: 'UnknownWebhook' });
    }
    expect(endpoint.seen.length).toBe(before);
  });
});

describe('the signature', () => {
  it('is the one of the standard’s own example', () => {
    const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1_614_265_330, body: '{"test": 2432232314}' };
    const bare = HOOKS_SECRET.slice('whsec_'.length);
    for (const secret of [HOOKS_SECRET, bare]) {
      expect(signatureHeaders({ secret, ...signed })).toEqual({
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      });
    }
  });

  it('is over what was sent, with the secret of that endpoint and the time of the call', async () => {
    const secret = Buffer.from('another secret of 32 bytes, here').toString('base64');
    const now = Date.parse('2030-05-06T07:08:09.900Z');
    await run({ clock: { ...realClock, now: () => now }, settings: { webhooks: { crm: { ...crm, secret } } } });
    const [seen] = endpoint.seen.slice(-1);
    if (seen === undefined) throw new Error('nothing was sent');
    expect([isSigned(seen, `whsec_${secret}`), isSigned(seen)]).toEqual([true, false]);
    expect(seen.headers['webhook-timestamp']).toBe(String(Math.floor(now / 1000)));
    expect(JSON.stringify(seen)).not.toContain(secret);
  });

  it('has a new id for each call, without a dot, so that no receiver drops the second look', async () => {
    let now = Date.now();
    for (let call = 0; call < 3; call += 1) {
      await run({ clock: { ...realClock, now: () => now } });
      now += 1;
    }
    const ids = endpoint.seen.slice(-3).map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
  });
});

describe('the configuration', () => {
  const read = (settings: unknown) =>
    readConfig(webhook, { FINALIZER_BRIDGE_CONFIG: JSON.stringify(rawConfig({ handler: 'webhook', settings })) });

  it('names endpoints by https URL and secret', () => {
    expect(read({ webhooks: { crm } }).settings).toEqual({ webhooks: { crm } });
  });

  it.each([
    ['plain text', { url: 'http://crm.example.com' }, 'settings.webhooks.crm.url: not an https URL'],
    ['an address', { url: 'https://10.0.0.1/' }, 'settings.webhooks.crm.url: '],
    ['an address in another spelling', { url: 'https://0x7f.1/' }, 'settings.webhooks.crm.url: '],
    ['an IPv6 address', { url: 'https://[::1]/' }, 'settings.webhooks.crm.url: '],
    ['a user', { url: 'https://me@crm.example.com/' }, 'settings.webhooks.crm.url: '],
    ['no URL', { url: 'crm' }, 'settings.webhooks.crm.url: '],
    ['no secret', { secret: undefined }, 'settings.webhooks.crm.secret: '],
    ['a short secret', { secret: 'whsec_c2hvcnQ=' }, 'settings.webhooks.crm.secret: not 24 to 64 bytes'],
    ['a reference that nobody resolved', { secret: '{{resolve:secretsmanager:crm}}' }, 'crm.secret: not 24 to 64'],
    ['an unknown field', { methd: 'PUT' }, 'settings.webhooks.crm: Unrecognized key: "methd"'],
  ])('with %s does not start the function', (_what, change, fault) => {
    expect(() => read({ webhooks: { crm: { ...crm, ...change } } })).toThrow(fault);
  });

  it.each([
    [
      'that is no base64',
      JSON.stringify(
        rawConfig({ handler: 'webhook', settings: { webhooks: { crm: { ...crm, secret: 'QUITE-A-SECRET' } } } }),
      ),
    ],
    ['in text that is not JSON', '{"handler":"webhook","settings":{"webhooks":{"crm":{"secret":QUITE-A-SECRET}}}}'],
  ])('does not show a secret %s', (_what, text) => {
    const said = (() => {
      try {
        return String(readConfig(webhook, { FINALIZER_BRIDGE_CONFIG: text }));
      } catch (error) {
        return error instanceof Error ? `${error.stack} ${String(error.cause)}` : '';
      }
    })();
    expect(said).toContain('reading FINALIZER_BRIDGE_CONFIG: ');
    expect(said).not.toContain('QUITE');
  });
});

describe('the target', () => {
  it.each([
    [{ webhook: 'crm' }],
    [{ webhook: 'crm', id: '' }],
    [{ webhook: 'crm', id: 'a b' }],
    [{ webhook: 'a/b', id: 'c' }],
    [{ webhook: 'crm', id: 't', url: 'https://evil.example.com' }],
  ])('%j is refused as invalid (C12)', (broken) => {
    expect(webhook.prepare(broken, {})).toMatchObject({ ok: false, reason: 'InvalidTarget' });
  });

  it('is compared with the allow-list as endpoint and id', () => {
    const prepared = webhook.prepare(target, {});
    expect(prepared).toMatchObject({ identity: { names: ['crm/t-1'], place: 'outside' } });
  });
});
