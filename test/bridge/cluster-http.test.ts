/*
 * Calls to the API server over real sockets and virtual time: tokens that rotate (K14), bodies that do not end,
 * credentials that do not come. The server answers by hand.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CredentialSource, createCredentials } from '../../bridge/cluster-credentials.ts';
import { type Call, createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { ApiError } from '../../bridge/ports.ts';
import { eventually } from '../support/eventually.ts';
import { type LocalApi, startLocalApi } from '../support/local-api.ts';
import { ManualClock } from '../support/manual-clock.ts';

const GET: Call = { method: 'GET', path: '/api/v1/nodes', doing: 'getting nodes' };
const PATCH: Call = { ...GET, method: 'PATCH', body: '[]', doing: 'patching nodes' };

let folder: string;
let tokenFile: string;
let api: LocalApi;
/** Tokens that the server knows. */
let valid: Set<string>;
let respond: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cluster-http-test-'));
  tokenFile = join(folder, 'token');
  await writeFile(tokenFile, 'first');
  valid = new Set(['first']);
  respond = (_request, response) => response.end('{}');
  api = await startLocalApi((request, response, token) => {
    if (valid.has(token)) respond(request, response);
    else response.writeHead(401).end('{"kind":"Status","code":401}');
  });
});
afterEach(async () => {
  await api.stop();
  await rm(folder, { recursive: true });
});

function calls(source?: CredentialSource) {
  const clock = new ManualClock();
  const credentials = source ?? createCredentials(() => api.config(tokenFile), clock);
  return { clock, http: createHttp({ credentials, metrics: createMetrics(), clock }) };
}

const refused = expect.objectContaining({ status: 401 });

describe('a token that was rotated', () => {
  it('K14 is read again at the first 401, however recently the file was read, and the call is made again', async () => {
    const { clock, http } = calls();
    expect((await http.ask(GET)).status).toBe(200);
    await clock.advance(2_000);
    await writeFile(tokenFile, 'second');
    valid = new Set(['second']);
    expect((await http.ask(GET)).status).toBe(200);
    expect(api.asked.map((line) => line.split(' ').at(-1))).toEqual(['first', 'first', 'second']);
  });

  it('K14 is read again once for all calls that it failed, and a write is left to be decided anew', async () => {
    const { clock, http } = calls();
    await http.ask(GET);
    await clock.advance(2_000);
    await writeFile(tokenFile, 'second');
    valid = new Set(['second']);
    const answers = await Promise.allSettled([...Array.from({ length: 20 }, () => http.ask(GET)), http.ask(PATCH)]);
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill('fulfilled'));
    expect(answers[20]).toEqual({ status: 'rejected', reason: refused });
    expect((await http.ask(PATCH)).status).toBe(200);
    expect(api.asked.filter((line) => line.startsWith('PATCH'))).toHaveLength(2);
  });

  it('K14 that is still the old one is not tried twice, nor read at every call', async () => {
    let loads = 0;
    const clock = new ManualClock();
    const load = () => {
      loads += 1;
      return api.config(tokenFile);
    };
    const { http } = calls(createCredentials(load, clock));
    valid = new Set(['second']);
    const tries = Array.from({ length: 20 }, () => http.ask(GET));
    for (const answer of await Promise.allSettled(tries))
      expect(answer).toEqual({ status: 'rejected', reason: refused });
    expect({ asked: api.asked.length, loads }).toEqual({ asked: 20, loads: 1 });
    await clock.advance(2_000);
    await writeFile(tokenFile, 'second');
    expect((await http.ask(GET)).status).toBe(200);
  });
});

describe('an answer', () => {
  it('that comes a few bytes at a time and does not end has failed in time', async () => {
    const { clock, http } = calls();
    let dripping: NodeJS.Timeout | undefined;
    respond = (_request, response) => {
      response.writeHead(200);
      dripping = setInterval(() => response.write(' '), 5);
    };
    const asking = http.ask(GET);
    const failed = expect(asking).rejects.toEqual(expect.objectContaining({ status: 0 }));
    await eventually('the body is awaited', () => dripping !== undefined && clock.due.length > 0);
    await clock.advance(15_000);
    await failed;
    clearInterval(dripping);
    expect(clock.due).toEqual([]);
  });

  it('is waited for as long as it takes where the time-out is 0', async () => {
    const clock = new ManualClock();
    const credentials = createCredentials(() => api.config(tokenFile), clock);
    const http = createHttp({ credentials, metrics: createMetrics(), clock, timeout: 0 });
    let end = () => {};
    respond = (_request, response) => {
      response.writeHead(200);
      response.write('{');
      end = () => response.end('}');
    };
    const asking = http.ask(GET);
    await eventually('the body has begun', () => api.asked.length === 1);
    await clock.advance(24 * 3_600_000);
    end();
    expect(await asking).toMatchObject({ status: 200, text: '{}' });
  });

  it('to a watch that is no 200 is thrown with what the API server asks for, though its body does not end', async () => {
    const { clock, http } = calls();
    respond = (_request, response) => void response.writeHead(429, { 'retry-after': '7' }).end('{}');
    await expect(http.open(GET, new AbortController().signal)).rejects.toMatchObject({
      status: 429,
      retryAfter: 7_000,
    });
    respond = (_request, response) => void response.writeHead(503).write('{');
    const opening = http.open(GET, new AbortController().signal);
    const failed = expect(opening).rejects.toBeInstanceOf(ApiError);
    await eventually('the body is awaited', () => api.asked.length === 2 && clock.due.length > 0);
    await clock.advance(15_000);
    await failed;
  });
});

it('a call can be given up, while it is answered as well', async () => {
  const { clock, http } = calls();
  respond = (_request, response) => void response.writeHead(200).write('{');
  const cut = new AbortController();
  const failed = expect(http.ask(GET, cut.signal)).rejects.toMatchObject({ status: 0 });
  await eventually('the body is awaited', () => api.asked.length === 1 && clock.due.length > 0);
  cut.abort();
  await failed;
  expect(clock.due).toEqual([]);
});

it('a watch can be given up while its credentials do not come (K10)', async () => {
  const never = () => new Promise<never>(() => {});
  const { http } = calls({ current: never, renewed: never, doubted: () => {} });
  const cut = new AbortController();
  const opening = http.open(GET, cut.signal);
  cut.abort(new Error('the watchdog'));
  await expect(opening).rejects.toMatchObject({
    status: 0,
    cause: expect.objectContaining({ message: 'the watchdog' }),
  });
  await expect(http.open(GET, cut.signal)).rejects.toBeInstanceOf(ApiError);
});
