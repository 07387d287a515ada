/*
 * A function's own calls to SQS: for the right region and with the keys of that moment, tried again where that may help and
 * not where it cannot, given up in time. What is signed how is held against the SDK in test/bridge/sqs-client.test.ts.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { awsKeys, traceHeaders } from '../../functions/config.ts';
import { ServiceError } from '../../functions/service-error.ts';
import { askSqs, sqsQueue } from '../../functions/sqs.ts';
import { createSqsClient } from '../../functions/sqs-client.ts';
import { ManualClock, START } from '../support/manual-clock.ts';
import { json, type Reply, type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';
import { REGION } from './fixtures.ts';
import { benchAt, CALL, KEYS } from './sqs-bench.ts';

const OPERATION = 'sqs:ChangeMessageVisibilityBatch';
const refused = (status: number, code: string, more: object = {}): Reply => ({
  ...{ status, headers: { date: new Date(START).toUTCString() }, ...more },
  body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message: 'no' }),
});

let sqs: ScriptedAws;
beforeAll(async () => {
  sqs = await startScriptedAws();
});
afterEach(() => {
  sqs.reset();
  vi.unstubAllEnvs();
});
afterAll(() => sqs.close());

const bench = () => benchAt(sqs.endpoint);

describe('a call that fails', () => {
  it.each<[string, Reply]>([
    ['the server is in trouble', { status: 503, body: '<html>' }],
    ['the queue is asked too often', refused(400, 'RequestThrottled')],
    ['its key is asked for too often', refused(400, 'KmsThrottled')],
    ['the connection is cut', 'hangUp'],
  ])('because %s is made again, after a while', async (_why, reply) => {
    const { ask, pauses } = bench();
    sqs.on(OPERATION, reply, reply, json({ Successful: [] }));
    expect(await ask()).toEqual({ Successful: [] });
    expect(sqs.seen).toHaveLength(3);
    expect(pauses).toEqual([100, 200]);
  });

  it.each([
    [403, 'AccessDenied'],
    [403, 'KMS.AccessDeniedException'],
    [400, 'QueueDoesNotExist'],
    [400, 'BatchRequestTooLong'],
  ])('with %i %s is not made again, and says what it was refused for, and where', async (status, code) => {
    const { ask } = bench();
    sqs.on(OPERATION, refused(status, code));
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code, $metadata: { httpStatusCode: status } });
    expect(String(error)).toContain(`/1/requests: ${code}: no`);
    expect(sqs.seen).toHaveLength(1);
  });

  it('is given up after the third attempt', async () => {
    const { ask } = bench();
    sqs.on(OPERATION, { status: 500, body: '' });
    await expect(ask()).rejects.toMatchObject({ code: 'Http500' });
    expect(sqs.seen).toHaveLength(3);
  });

  it('with an answer that is no JSON has failed', async () => {
    const { ask } = bench();
    sqs.on(OPERATION, { status: 200, body: 'ok' });
    await expect(ask()).rejects.toBeInstanceOf(ServiceError);
  });

  it('for a clock that is minutes off is made again, signed for the time of SQS', async () => {
    const { ask, clock } = bench();
    const date = new Date(clock.now() + 20 * 60_000).toUTCString();
    sqs.on(OPERATION, refused(403, 'SignatureDoesNotMatch', { headers: { date } }), json({}));
    expect(await ask()).toEqual({});
    const [first, second] = sqs.seen.map(({ headers }) => String(headers['x-amz-date']));
    expect([first, second]).toEqual(['20260302T093000Z', '20260302T095000Z']);
  });

  it.each([undefined, ''])(
    'for want of keys (%j) says which variables are not set, and sends nothing',
    async (none) => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', none);
      const ask = askSqs(
        { region: REGION, endpoints: { sqs: sqs.endpoint } },
        { clock: new ManualClock(), random: () => 0 },
      );
      await expect(ask({ ...CALL, queueUrl: `${sqs.endpoint}/1/requests` })).rejects.toThrow('AWS_SECRET_ACCESS_KEY');
      expect(sqs.seen).toEqual([]);
    },
  );
});

describe('a call', () => {
  it('is signed with the keys that the environment holds then, and goes where that says', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', sqs.endpoint);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDFIRST');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'first');
    sqs.on(OPERATION, json({}));
    const ask = askSqs({ region: REGION, endpoints: {} }, { clock: new ManualClock(), random: () => 0 });
    const call = { ...CALL, queueUrl: 'https://sqs.eu-west-1.amazonaws.com/111122223333/requests' };
    await ask(call);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDSECOND');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token');
    await ask(call);
    const signedBy = sqs.seen.map(({ headers }) => /Credential=([^/]+)/.exec(String(headers.authorization))?.[1]);
    expect(signedBy).toEqual(['AKIDFIRST', 'AKIDSECOND']);
    expect(sqs.seen.map(({ headers }) => headers['x-amz-security-token'])).toEqual([undefined, 'token']);
    expect(sqs.seen.map(({ body }) => JSON.parse(body).QueueUrl)).toEqual([call.queueUrl, call.queueUrl]);
  });

  it('belongs to the trace of its invocation, outside of what is signed', async () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-2-3;Parent=4;Sampled=1');
    sqs.on(OPERATION, json({}));
    const ask = askSqs(
      { region: REGION, endpoints: { sqs: sqs.endpoint } },
      { clock: new ManualClock(), random: () => 0 },
    );
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKID');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    await ask({ ...CALL, queueUrl: `${sqs.endpoint}/1/requests` });
    const [headers] = sqs.seen.map((seen) => seen.headers);
    expect(headers?.['x-amzn-trace-id']).toBe('Root=1-2-3;Parent=4;Sampled=1');
    expect(String(headers?.authorization)).not.toContain('x-amzn-trace-id');
  });

  it('goes out over a connection that an earlier one left open', async () => {
    const sockets = new Set<number | undefined>();
    const server = createServer((request, response) => {
      sockets.add(request.socket.remotePort);
      request.resume().once('end', () => response.end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const { ask } = benchAt(`http://127.0.0.1:${port}`);
    for (let call = 0; call < 3; call += 1) await ask();
    server.closeAllConnections();
    server.close();
    expect(sockets.size).toBe(1);
  });
});

it('a trace that no header can hold is left out: a result would not be sent for its sake', () => {
  for (const trace of ['Root=1\r\nx-evil: 1', 'Root=ä', '']) {
    expect(traceHeaders({ _X_AMZN_TRACE_ID: trace })).toEqual({});
  }
});

it('an empty session token is none: signed, it would be refused', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  expect(awsKeys({ ...keys, AWS_SESSION_TOKEN: '' })).toEqual(awsKeys(keys));
});

it('a result that the queue took with another checksum is not sent', async () => {
  const taken = (Id: string, text: string) => ({ Id, MD5OfMessageBody: hash('md5', text) });
  sqs.on('sqs:SendMessageBatch', json({ Successful: [taken('a', 'one'), taken('b', 'other')] }));
  const told = { region: REGION, endpoint: sqs.endpoint, clock: new ManualClock(), random: () => 0 };
  const queue = sqsQueue(createSqsClient({ ...told, keys: () => KEYS, trace: () => ({}) }), 'https://example.com/1/q');
  const entries = ['one', 'two', 'three'].map((body, index) => ({ id: 'abc'.charAt(index), body }));
  expect(await queue.send(`${sqs.endpoint}/1/results`, entries)).toEqual([
    { id: 'b', code: 'Altered', senderFault: false },
    { id: 'c', code: 'NotConfirmed', senderFault: false },
  ]);
});
