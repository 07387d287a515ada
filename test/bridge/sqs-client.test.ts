/*
 * Our own calls to SQS: signed as the SDK signs them, with keys that are renewed, a clock that may be wrong, refusals that say
 * what they are, answers that do not come. The SDK's client is the oracle.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSqsClient, SqsError } from '../../bridge/sqs-client.ts';
import { Signer, type SigningCredentials } from '../../bridge/sqs-signature.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { json, type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';

const REGION = 'eu-central-1';
const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const RECEIVE = { action: 'ReceiveMessage', input: { WaitTimeSeconds: 20 } } as const;
const OPERATION = 'sqs:ReceiveMessage';

let sqs: ScriptedAws;
beforeAll(async () => {
  sqs = await startScriptedAws();
});
afterEach(() => sqs.reset());
afterAll(() => sqs.close());

function bench(credentials: () => Promise<SigningCredentials> = async () => KEYS) {
  const clock = new ManualClock();
  const client = createSqsClient({ region: REGION, endpoint: sqs.endpoint, clock, credentials });
  const ask = (signal?: AbortSignal) =>
    client.ask({ ...RECEIVE, queueUrl: `${sqs.endpoint}/1/results`, ...(signal === undefined ? {} : { signal }) });
  return { clock, ask };
}

describe('a signature', () => {
  it.each([KEYS, { ...KEYS, sessionToken: 'FwoGZXIvYXdzEXAMPLE//////////token=' }])(
    'is the one that the SDK makes of the same call (%o)',
    async (credentials) => {
      sqs.on('sqs:SendMessageBatch', json({ Successful: [] }));
      const config = { region: REGION, endpoint: sqs.endpoint, credentials, maxAttempts: 1 };
      const sdk = new SQSClient({ ...config, md5: false });
      const Entries = [{ Id: '0', MessageBody: '{"name":"Grüße, 世界"}' }];
      await sdk.send(new SendMessageBatchCommand({ QueueUrl: `${sqs.endpoint}/1/results`, Entries }));
      sdk.destroy();
      const [seen] = sqs.seen;
      if (seen === undefined) throw new Error('the SDK asked nothing');
      const authorization = String(seen.headers.authorization);
      const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
      const headers = Object.fromEntries(names.map((name) => [name, String(seen.headers[name])]));
      const at = Date.parse(String(seen.headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
      const { host } = new URL(sqs.endpoint);
      const own = new Signer(REGION).sign({ host, path: seen.path, headers, body: seen.body, at }, credentials);
      expect(own.authorization).toBe(authorization);
    },
  );

  it('is made with the key of its day and of the secret that is in use then', () => {
    const signer = new Signer(REGION);
    const call = { host: 'sqs.eu-central-1.amazonaws.com', path: '/', headers: {}, body: '{}' };
    const days = ['2026-11-29T23:59:59Z', '2026-11-30T00:00:01Z'].map((time) => Date.parse(time));
    const other = { ...KEYS, secretAccessKey: 'another' };
    for (const at of days) {
      for (const keys of [KEYS, other, KEYS]) {
        expect(signer.sign({ ...call, at }, keys)).toEqual(new Signer(REGION).sign({ ...call, at }, keys));
      }
    }
  });
});

describe('a call', () => {
  it('is signed with the keys there are at that moment: temporary ones are renewed', async () => {
    const tokens = ['first', 'second'].values();
    const { ask } = bench(async () => ({ ...KEYS, sessionToken: tokens.next().value ?? 'third' }));
    sqs.on(OPERATION, json({}));
    expect(await ask()).toEqual({});
    await ask();
    expect(sqs.seen.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['first', 'second']);
  });

  it('goes out at the time of SQS once an answer has shown that the clock here is minutes off', async () => {
    const { clock, ask } = bench();
    const server = clock.now() + 20 * 60_000;
    const date = { date: new Date(server).toUTCString() };
    const refused = { status: 403, headers: date, body: '{"__type":"com.amazon.coral.service#SignatureDoesNotMatch"}' };
    sqs.on(OPERATION, refused, { status: 200, headers: date, body: '{}' });
    await expect(ask()).rejects.toMatchObject({ code: 'SignatureDoesNotMatch' });
    await ask();
    const [first, second] = sqs.seen.map(({ headers }) => String(headers['x-amz-date']));
    const basic = (at: number) => `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    expect([first, second]).toEqual([basic(clock.now()), basic(Math.floor(server / 1000) * 1000)]);
  });

  it('says what SQS refused it for, and with which words', async () => {
    const { ask } = bench();
    const body = JSON.stringify({ __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'no such queue' });
    sqs.on(OPERATION, { status: 400, body }, { status: 503, body: '<html>' });
    const refusal = await ask().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SqsError);
    expect(refusal).toMatchObject({ code: 'QueueDoesNotExist', status: 400 });
    expect(String(refusal)).toContain('/1/results: QueueDoesNotExist: no such queue');
    await expect(ask()).rejects.toMatchObject({ code: 'Http503', status: 503 });
  });

  it('fails for an answer that is no JSON, and for a connection that is cut, and is not made again', async () => {
    const { ask } = bench();
    sqs.on(OPERATION, { status: 200, body: 'ok' }, 'hangUp');
    await expect(ask()).rejects.toThrow('no JSON');
    await expect(ask()).rejects.toMatchObject({ cause: expect.any(Error) });
    expect(sqs.seen).toHaveLength(2);
  });

  it('fails when there are no keys, before anything is sent', async () => {
    const { ask } = bench(async () => {
      throw new Error('no keys');
    });
    await expect(ask()).rejects.toThrow('no keys');
    expect(sqs.seen).toEqual([]);
  });
});

describe('the region', () => {
  it('for which a call is signed is that of the queue where its URL names one, unless there is an endpoint', async () => {
    const sign = vi.spyOn(Signer.prototype, 'sign');
    // Signed, and not sent any more.
    const signal = AbortSignal.abort(new Error('cut'));
    const elsewhere = 'https://sqs.eu-west-1.amazonaws.com/111122223333/a';
    const regions: (string | undefined)[] = [];
    for (const [queueUrl, endpoint] of [[elsewhere], [elsewhere, sqs.endpoint], [`${sqs.endpoint}/1/results`]]) {
      const client = createSqsClient({
        region: REGION,
        endpoint,
        clock: new ManualClock(),
        credentials: async () => KEYS,
      });
      await expect(client.ask({ ...RECEIVE, queueUrl: queueUrl ?? '', signal })).rejects.toThrow('asking SQS');
      const { authorization } = sign.mock.results.at(-1)?.value ?? {};
      regions.push(/Credential=[^/]+\/\d+\/([^/]+)\//.exec(String(authorization))?.[1]);
    }
    expect(regions).toEqual(['eu-west-1', REGION, REGION]);
    expect(sqs.seen).toEqual([]);
  });
});

describe('an answer', () => {
  let server: Server;
  let asked: number;
  let queueUrl: string;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked += 1;
      response.writeHead(200).write('{');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = server.address();
    queueUrl = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/1/results`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function begun() {
    asked = 0;
    const clock = new ManualClock();
    // Without an endpoint the queue's own URL says where it is.
    const client = createSqsClient({ region: REGION, clock, credentials: async () => KEYS });
    const cut = new AbortController();
    return { clock, cut, asking: client.ask({ ...RECEIVE, queueUrl, signal: cut.signal }) };
  }

  it('that does not end has failed in time', async () => {
    const { clock, asking } = begun();
    const failed = expect(asking).rejects.toMatchObject({ cause: { message: expect.stringContaining('25000 ms') } });
    await eventually('the answer has begun', () => asked === 1 && clock.due.length > 0);
    await clock.advance(25_000);
    await failed;
    expect([asked, clock.due]).toEqual([1, []]);
  });

  it('is read up to a size, of which ten messages are far, and given up with its connection', async () => {
    const endless = createServer((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.writeHead(200).on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = endless.address();
    const at = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/1/results`;
    const clock = new ManualClock();
    const client = createSqsClient({ region: REGION, clock, credentials: async () => KEYS });
    const said = expect.stringContaining('larger than 8388608 bytes');
    await expect(client.ask({ ...RECEIVE, queueUrl: at })).rejects.toMatchObject({ cause: { message: said } });
    expect(clock.due).toEqual([]);
    await eventually('its connection is closed', async () => {
      const open = await new Promise((resolve) => void endless.getConnections((_error, count) => resolve(count)));
      return open === 0;
    });
    endless.close();
  });

  it('of ten messages of the largest size is read whole', async () => {
    const { ask } = bench();
    const Messages = Array.from({ length: 10 }, (_, id) => ({ MessageId: String(id), Body: '"'.repeat(104_857) }));
    sqs.on(OPERATION, json({ Messages }));
    expect(await ask()).toEqual({ Messages });
  });

  it('is given up when the signal aborts, while it comes as well as before', async () => {
    const { clock, cut, asking } = begun();
    const failed = expect(asking).rejects.toBeInstanceOf(Error);
    await eventually('the answer has begun', () => asked === 1 && clock.due.length > 0);
    cut.abort();
    await failed;
    expect(clock.due).toEqual([]);
    const early = begun();
    early.cut.abort();
    await expect(early.asking).rejects.toBeInstanceOf(Error);
  });
});
