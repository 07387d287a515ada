/*
 * An HTTP proxy in front of a real server that asks before each request goes on and before each answer comes back.
 * Used to end a process, or to move the world, at an exact point of its conversation with the API server, the queue or
 * the cloud; the servers themselves stay real. Speaks plain HTTP to the client, whatever the server speaks.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, type Dispatcher, request } from 'undici';
import { onTestFinished, TestRunner } from 'vitest';
import { z } from 'zod/mini';

/** A request on its way to the server, or (`answered`) its answer on the way back. */
export interface Passing {
  readonly phase: 'asked' | 'answered';
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** `SendMessageBatch` and the like for SQS; empty for other servers. */
  readonly operation: string;
  /** The access key that signed it; empty for other servers. */
  readonly signedBy: string;
  readonly contentType: string;
  readonly body: string;
  /** 0 and empty while it is only asked; the answer of a watch is passed on without being read. */
  readonly status: number;
  readonly answer: string;
}

/**
 * What becomes of it. `cut`: the connection ends here, as when the process at either end dies. `send`: goes on with
 * another body or path (asked). `answer`: this is answered instead (asked: the server never hears of it).
 */
export type Verdict =
  | 'pass'
  | 'cut'
  | { readonly send: Changes }
  | { readonly answer: { readonly status: number; readonly body: string } };

/** What goes on instead of what came. */
export interface Changes {
  readonly body?: string;
  readonly path?: string;
}

/** Asked in the order of their setting; the first that cuts or answers decides, changes add up. */
export type Watcher = (passing: Passing) => Promise<Verdict>;

/** A point of the conversation. */
export interface Point {
  readonly phase: Passing['phase'];
  matches(passing: Passing): boolean;
}

export interface Tripwire {
  readonly url: string;
  /** All that passed, oldest first; `asked` that was cut or answered here included. */
  readonly passed: readonly Passing[];
  /** Asks from now on; the returned function ends that, and so does the end of the test that has set it. */
  watch(watcher: Watcher): () => void;
  /** Acts once, at the first passing of a point; resolves with it when `act` has. What `act` throws rejects and cuts. */
  once(point: Point, act: Watcher): Promise<Passing>;
  stop(): Promise<void>;
}

export interface TripwireOptions {
  readonly upstream: string;
  /** PEM of the upstream's authority. */
  readonly ca?: string;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startTripwire({ upstream, ca }: TripwireOptions): Promise<Tripwire> {
  const connect = { timeout: 60_000, ...(ca === undefined ? {} : { ca }) };
  // Not over HTTP/2, for the reason that fault-proxy.ts gives.
  const dispatcher = new Agent({ connect, allowH2: false, bodyTimeout: 0, headersTimeout: 60_000 });
  const watchers = new Set<Watcher>();
  const passed: Passing[] = [];
  const judge = async (passing: Passing): Promise<Verdict> => {
    passed.push(passing);
    let send: Changes | undefined;
    for (const watcher of watchers) {
      const verdict = await watcher(passing);
      if (verdict === 'cut' || (verdict !== 'pass' && 'answer' in verdict)) return verdict;
      if (verdict !== 'pass') send = { ...send, ...verdict.send };
    }
    return send === undefined ? 'pass' : { send };
  };
  const watch = (watcher: Watcher) => {
    const unwatch = () => void watchers.delete(watcher);
    watchers.add(watcher);
    if (TestRunner.getCurrentTest() !== undefined) onTestFinished(unwatch);
    return unwatch;
  };
  const server = createServer((incoming, outgoing) => {
    conduct({ incoming, outgoing, upstream, dispatcher, judge }).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    passed,
    watch,
    once: (point, act) =>
      new Promise((resolve, reject) => {
        const unwatch = watch(async (passing) => {
          if (passing.phase !== point.phase || !point.matches(passing)) return 'pass';
          unwatch();
          try {
            const verdict = await act(passing);
            resolve(passing);
            return verdict;
          } catch (error) {
            reject(error);
            return 'cut';
          }
        });
      }),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await dispatcher.destroy();
    },
  };
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('starting a tripwire: it has no port');
  return address.port;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly upstream: string;
  readonly dispatcher: Dispatcher;
  judge(passing: Passing): Promise<Verdict>;
}

const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
const HOP_BY_HOP = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'expect'];

async function conduct(exchange: Exchange): Promise<void> {
  const { incoming, outgoing, upstream, dispatcher, judge } = exchange;
  const asked = await passingOf(incoming);
  // Listened for from the beginning: a client that dies while a watcher ponders must not leave a poll behind it.
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  const verdict = await judge(asked);
  if (verdict === 'cut') return void outgoing.destroy();
  if (verdict !== 'pass' && 'answer' in verdict) return answerWith(exchange, verdict.answer);
  const { body = asked.body, path = asked.path } = verdict === 'pass' ? {} : verdict.send;
  const response = await request(upstream + path, {
    ...{ method: z.parse(httpMethod, asked.method), dispatcher, signal: left.signal },
    headers: without(incoming.headers, HOP_BY_HOP),
    body: body === '' ? null : body,
  });
  const isStream = /[?&]watch=1\b/.test(path);
  const answer = isStream ? '' : await response.body.text();
  const back = await judge({ ...asked, phase: 'answered', status: response.statusCode, answer });
  if (back === 'cut') return void outgoing.destroy();
  if (back !== 'pass' && 'answer' in back) return answerWith(exchange, back.answer);
  outgoing.writeHead(response.statusCode, without(response.headers, HOP_BY_HOP));
  if (isStream) {
    outgoing.flushHeaders();
    for await (const chunk of response.body) outgoing.write(chunk);
  }
  outgoing.end(answer);
}

async function passingOf(incoming: IncomingMessage): Promise<Passing> {
  const { method = 'GET', url: path = '/', headers } = incoming;
  return {
    ...{ phase: 'asked', method, path, status: 0, answer: '' },
    operation: String(headers['x-amz-target'] ?? '').replace('AmazonSQS.', ''),
    signedBy: /Credential=([^/,\s]+)\//.exec(headers.authorization ?? '')?.[1] ?? '',
    contentType: headers['content-type'] ?? '',
    body: (await buffer(incoming)).toString('utf8'),
  };
}

function answerWith({ incoming, outgoing }: Exchange, { status, body }: { status: number; body: string }): void {
  // The SDKs and the API server's clients both read the answer in the language of the question.
  outgoing.writeHead(status, { 'content-type': incoming.headers['content-type'] ?? 'application/json' });
  outgoing.end(body);
}

function without(headers: Exchange['incoming']['headers'], names: readonly string[]): Exchange['incoming']['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
