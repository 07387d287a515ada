/*
 * A proxy in front of the real API server that lets everything through until it is told to strike: real HTTP/2 over TLS
 * with the API server's own certificate, tokens passed on as they are. Faults are scripted (`when`, `now`, `play`) or
 * drawn by a seed (`storm`); every call is counted by verb and kind, so that a storm of the bridge's own can be seen.
 */
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod/mini';
import { seededRandom } from '../simulation/clock.ts';
import {
  type Ask,
  askOf,
  type CallFault,
  type Fault,
  isMeant,
  type Playing,
  Script,
  type Selector,
  type Step,
  type StreamFault,
  type Weather,
} from './fault-script.ts';
import { cut, FaultStream, type History, statusOf } from './fault-stream.ts';

/** Certificate and key of the API server, in PEM: the proxy shows itself with them. */
export interface FaultProxyOptions {
  readonly upstream: string;
  readonly cert: string;
  readonly key: string;
  /** Of the orders that are drawn; 1 unless told. */
  readonly seed?: number;
}

/** A call, and when it came, in ms of the monotonic clock. */
export interface Asked extends Ask {
  readonly at: number;
}

/** The verbs of a proxy. */
export interface FaultProxy {
  readonly url: string;
  /** Every call that came, oldest first. */
  readonly asked: readonly Asked[];
  count(on: Selector): number;
  /** How many of these watches are open. */
  open(on: Selector): number;
  /** How many of them the API server has ended by itself, as it does when it is starved of CPU. */
  ended(on: Selector): number;
  /** What happens to the next calls that are meant; to all of them unless `times` is told. */
  when(on: Selector, times?: number): { strike(fault: Fault): Playing };
  play(script: readonly Step[]): readonly Playing[];
  /** Strikes the watches that are open now. */
  now(on: Selector): { strike(fault: StreamFault): void };
  /** Weather drawn by a seed, until the returned function is called. */
  storm(seed: number, weather: Weather): () => void;
  /** Ends all connections, as a node or a load balancer that goes. */
  sever(): void;
  /** From now on this token is answered 401, as one that has expired. */
  revoke(token: string): void;
  stop(): Promise<void>;
}

interface Reach {
  readonly options: FaultProxyOptions;
  readonly dispatcher: Dispatcher;
  readonly script: Script;
  readonly asked: Asked[];
  readonly streams: Set<FaultStream>;
  readonly ended: Ask[];
  readonly histories: Map<string, History>;
  readonly revoked: Set<string>;
  readonly random: () => number;
}

/**
 * Over HTTP/1.1: clients give calls up whose bodies were not sent, and over HTTP/2 one such call takes all memory, unless it
 * is made as bridge/unsent-bodies.ts has it.
 */
const AGENT = { allowH2: false, bodyTimeout: 0, headersTimeout: 0 } as const;
const HOP_BY_HOP = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'expect'];
const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { cert, key, seed = 1 } = options;
  const reach: Reach = {
    ...{ options, script: new Script(), asked: [], ended: [] },
    ...{ streams: new Set(), histories: new Map(), revoked: new Set() },
    dispatcher: new Agent({ ...AGENT, connect: { ca: cert, timeout: 60_000 } }),
    random: seededRandom(seed),
  };
  const sessions = new Set<ServerHttp2Session>();
  const server = createSecureServer({ cert, key }, (incoming, outgoing) => {
    // The client that hangs up is no fault of the proxy's, and neither is a server that is down: both end the stream.
    conduct(reach, incoming, outgoing).catch(() => cut(outgoing));
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sever = () => {
    for (const session of sessions) session.destroy();
  };
  const { script, asked, ended, streams, revoked, dispatcher } = reach;
  const openStreams = (on: Selector) => [...streams].filter(({ ask }) => isMeant(on, ask));
  return {
    ...{ url: urlOf(server.address()), asked, sever },
    count: (on) => asked.filter((ask) => isMeant(on, ask)).length,
    open: (on) => openStreams(on).length,
    ended: (on) => ended.filter((ask) => isMeant(on, ask)).length,
    when: (on, times) => ({
      strike: (fault) => script.play({ on, fault, ...(times === undefined ? {} : { times }) }),
    }),
    play: (steps) => steps.map((step) => script.play(step)),
    now: (on) => ({
      strike: (fault) => {
        for (const stream of openStreams(on)) stream.strike(fault);
      },
    }),
    storm: (drawn, weather) => script.blow(seededRandom(drawn), weather),
    revoke: (token) => void revoked.add(token),
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sever();
      await closed;
      await dispatcher.destroy();
    },
  };
}

function urlOf(address: ReturnType<ReturnType<typeof createSecureServer>['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('starting a fault proxy: it has no port');
  return `https://127.0.0.1:${address.port}`;
}

async function conduct(reach: Reach, incoming: Http2ServerRequest, out: Http2ServerResponse): Promise<void> {
  out.stream.on('error', () => undefined);
  const ask = askOf(incoming.method, incoming.url);
  reach.asked.push({ ...ask, at: performance.now() });
  if (reach.revoked.has(tokenOf(incoming))) return answer(out, { kind: 'answer', status: 401 });
  const fault = reach.script.draw(ask);
  if (fault?.kind === 'answer') return answer(out, fault);
  if (fault?.kind === 'refuse') return cut(out);
  if (fault?.kind === 'late') await wait(fault.ms);
  const left = new AbortController();
  out.once('close', () => left.abort());
  const body = await buffer(incoming);
  const response = await request(reach.options.upstream + incoming.url, {
    ...{ method: z.parse(httpMethod, incoming.method), dispatcher: reach.dispatcher, signal: left.signal },
    headers: passedOn(incoming.headers),
    body: body.length === 0 ? null : body,
  });
  if (fault?.kind === 'lose' || fault?.kind === 'mute') {
    await response.body.dump();
    if (fault.kind === 'lose') cut(out);
    return;
  }
  out.writeHead(response.statusCode, passedOn(response.headers));
  if (ask.verb === 'watch' && response.statusCode === 200) {
    await pump(reach, { ask, out, fault: isOfStreams(fault) ? fault : undefined }, response);
  } else {
    await give(out, await response.body.text(), fault);
  }
}

interface Watching {
  readonly ask: Ask;
  readonly out: Http2ServerResponse;
  readonly fault: StreamFault | undefined;
}

async function pump(
  { streams, ended, histories, random }: Reach,
  { ask, out, fault }: Watching,
  { body }: Dispatcher.ResponseData,
): Promise<void> {
  const kind = `${ask.group}/${ask.resource}`;
  const history = histories.get(kind) ?? [];
  histories.set(kind, history);
  const stream = new FaultStream({ ask, out, history, random }, fault);
  streams.add(stream);
  out.once('close', () => streams.delete(stream));
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) stream.feed(decoder.decode(chunk, { stream: true }));
  } finally {
    if (!out.destroyed && !out.writableEnded) ended.push(ask);
  }
  if (!stream.isMuted) out.end();
}

async function give(out: Http2ServerResponse, text: string, fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'truncate') return void out.end(text.slice(0, text.length / 2));
  if (fault?.kind !== 'slow') return void out.end(text);
  for (let at = 0; at < text.length && !out.destroyed; at += fault.bytes) {
    out.write(text.slice(at, at + fault.bytes));
    await wait(fault.everyMs);
  }
  out.end();
}

function answer(out: Http2ServerResponse, { status, retryAfter }: Extract<CallFault, { kind: 'answer' }>): void {
  const asked = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  out.writeHead(status, { 'content-type': 'application/json', ...asked });
  out.end(JSON.stringify(statusOf(status, retryAfter)));
}

function isOfStreams(fault: Fault | undefined): fault is StreamFault {
  return fault !== undefined && ['cut', 'stall', 'end', 'error', 'garble', 'echo'].includes(fault.kind);
}

function tokenOf({ headers }: Http2ServerRequest): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

function passedOn(
  headers: Http2ServerRequest['headers'] | Dispatcher.ResponseData['headers'],
): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(':') && !HOP_BY_HOP.includes(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
