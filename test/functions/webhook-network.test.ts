/*
 * How the handler webhook reaches its endpoint: over real TLS to a server of the test, with the addresses that a resolver
 * of the test gives. Only the last step is replaced: where an address leads.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Destination, type Network, openTls } from '../../functions/handlers/webhook/network.ts';
import { webhookOver } from '../../functions/handlers/webhook.ts';
import type { Clock } from '../../functions/ports.ts';
import { HOOKS_CERTIFICATE, HOOKS_HOST } from '../support/hooks-certificate.ts';
import { HOOKS_SECRET, startWebhookEndpoint, type WebhookEndpoint } from '../support/webhook-endpoint.ts';
import { type RunChanges, realClock, runOnce } from './runs.ts';

const PUBLIC = ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'];
const target = { webhook: 'crm', id: 't-1' };
const gone = { outcome: 'gone', evidence: 'deleted' };

let endpoint: WebhookEndpoint;
beforeAll(async () => {
  endpoint = await startWebhookEndpoint('https');
});
afterAll(() => endpoint.close());
beforeEach(() =>
  endpoint.answer(({ asked }) => ({ status: 200, body: { ...gone, targetDigest: asked.data.targetDigest } })),
);

interface Scene extends RunChanges {
  /** What the name resolves to, one answer per time that it is asked. */
  readonly addresses?: readonly (readonly string[])[];
  readonly url?: string;
  readonly open?: Network['open'];
}

/** Runs the handler; gives its outcome, whom it asked for, and what it connected to. */
async function run({ addresses = [PUBLIC], url = `https://${HOOKS_HOST}/tenants`, open, ...changes }: Scene = {}) {
  const asked: string[] = [];
  const opened: string[] = [];
  const requests = endpoint.seen.length;
  const handler = webhookOver({
    async resolve(hostname) {
      asked.push(hostname);
      return addresses[asked.length - 1] ?? addresses.at(-1) ?? [];
    },
    open(to) {
      opened.push(`${to.address} ${to.port}`);
      return open?.(to) ?? here(to);
    },
  });
  const settings = { webhooks: { crm: { url, secret: HOOKS_SECRET } } };
  const outcome = await runOnce(handler, target, undefined, { settings, ...changes });
  return { outcome, asked, opened, requests: endpoint.seen.length - requests };
}

/** Whatever the address, the server of the test, whose certificate is trusted. */
const here = (to: Destination) => openTls({ ...to, address: '127.0.0.1', port: endpoint.port }, HOOKS_CERTIFICATE);
const fails = (code: string) => () => Promise.reject(Object.assign(new Error('on purpose'), { code }));

describe('addresses', () => {
  it('are looked up once; the connection goes to one of them, IPv4 first', async () => {
    const { outcome, asked, opened } = await run({ addresses: [PUBLIC.toReversed()] });
    expect(outcome).toEqual(gone);
    expect([asked, opened]).toEqual([[HOOKS_HOST], ['93.184.216.34 443']]);
  });

  it('are not looked up again: a name that answers something private the second time gains nothing', async () => {
    const rebinding = [PUBLIC, ['127.0.0.1'], ['169.254.169.254']];
    const { outcome, asked, opened } = await run({ addresses: rebinding });
    expect(outcome).toEqual(gone);
    expect([asked.length, opened]).toEqual([1, ['93.184.216.34 443']]);
  });

  it.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['169.254.169.254']],
    [['::1']],
    [['fd00:ec2::254']],
    [['::ffff:169.254.169.254']],
    [[...PUBLIC, '192.168.1.1']],
    [['fe80::1%eth0', ...PUBLIC]],
  ])('%j are refused, and nothing is connected to', async (addresses) => {
    const { outcome, opened, requests } = await run({ addresses: [addresses] });
    expect(outcome).toMatchObject({ outcome: 'refused', reason: 'AddressNotAllowed' });
    expect([opened, requests]).toEqual([[], 0]);
  });

  it('are tried one after the other, and given up with the last error', async () => {
    const second = (to: Destination) => (to.address.includes(':') ? here(to) : fails('ENETUNREACH')());
    expect((await run({ open: second })).outcome).toEqual(gone);
    const { outcome, opened } = await run({ open: fails('ECONNREFUSED') });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Unreachable' });
    expect(opened).toHaveLength(2);
  });

  it('that are none mean again', async () => {
    expect((await run({ addresses: [[]] })).outcome).toMatchObject({ outcome: 'pending', reason: 'Unreachable' });
  });
});

describe('the connection', () => {
  it('goes to the port of the URL, and asks for its path', async () => {
    const { opened } = await run({ url: `https://${HOOKS_HOST}:8443/a//b?c=d` });
    expect(opened).toEqual(['93.184.216.34 8443']);
    expect(endpoint.seen.at(-1)).toMatchObject({ path: '/a//b?c=d', headers: { host: `${HOOKS_HOST}:8443` } });
  });

  it.each([
    ['a certificate for another name', 'https://other.example.com/', here],
    [
      'a certificate that nobody vouches for',
      undefined,
      (to: Destination) => openTls({ ...to, address: '127.0.0.1', port: endpoint.port }),
    ],
  ])('is not used with %s', async (_what, url, open) => {
    const { outcome, requests } = await run({ open, ...(url === undefined ? {} : { url }) });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'CertificateInvalid' });
    expect(requests).toBe(0);
  });

  it('follows no redirect, wherever it leads', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of ['/elsewhere', `https://${HOOKS_HOST}/elsewhere`, 'http://169.254.169.254/']) {
        endpoint.answer({ status, headers: { location } });
        const { outcome, opened, requests } = await run();
        expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Redirected' });
        expect([opened.length, requests]).toEqual([1, 1]);
      }
    }
  });

  it('reads at most 64 KB of an answer', async () => {
    const padded = (bytes: number) =>
      endpoint.answer(({ asked }) => {
        const body = JSON.stringify({ ...gone, targetDigest: asked.data.targetDigest });
        return { status: 200, body: body.padEnd(bytes) };
      });
    padded(65_536);
    expect((await run()).outcome).toEqual(gone);
    padded(65_537);
    expect((await run()).outcome).toMatchObject({ outcome: 'pending', reason: 'ResponseTooLarge' });
  });

  it('stops reading an answer that has no end', async () => {
    const ended = new Promise<void>((resolve) => {
      endpoint.answer({
        act(response) {
          response.once('close', resolve);
          const more = () => {
            while (response.write('x'.repeat(16_384)));
          };
          response.on('drain', more);
          more();
        },
      });
    });
    expect((await run()).outcome).toMatchObject({ outcome: 'pending', reason: 'ResponseTooLarge' });
    await ended;
  });

  it.each([
    ['never answers', () => {}],
    ['answers without end', (response: { write(text: string): unknown }) => response.write('{')],
  ])('ends with the run when the endpoint %s (F6)', async (_what, begin) => {
    // The first timer of a run is the one that ends it.
    let end: (() => void) | undefined;
    const after: Clock['after'] = (delay, callback) => {
      end ??= callback;
      return realClock.after(delay, callback);
    };
    const ended = new Promise<void>((resolve) => {
      endpoint.answer({
        act(response) {
          response.once('close', resolve);
          begin(response);
          setImmediate(() => end?.());
        },
      });
    });
    const { outcome } = await run({ clock: { ...realClock, after } });
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'OutOfTime' });
    await ended;
  });

  it('that breaks off means again', async () => {
    endpoint.answer({ act: (response) => response.socket?.destroy() });
    expect((await run()).outcome).toMatchObject({ outcome: 'pending', reason: 'Unreachable' });
    endpoint.answer({
      act(response) {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{');
        setImmediate(() => response.socket?.destroy());
      },
    });
    expect((await run()).outcome).toMatchObject({ outcome: 'pending', reason: 'Unreachable' });
  });
});
