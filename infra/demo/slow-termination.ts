/*
 * EC2 that takes its time: the emulator terminates at once, the real one in about half a minute. This front passes every
 * call on and shows an instance as shutting-down for a while after its termination, so that a deletion that cannot end in
 * one run is seen. Started by stage.ts; the function's endpoint for EC2 points here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';

export interface SlowTerminationOptions {
  /** The emulator's endpoint. */
  readonly upstream: string;
  /** ms for which a terminated instance is shown as shutting down. */
  readonly shuttingDownMs: number;
  /** ms, never going back. */
  readonly now: () => number;
}

export interface SlowTermination {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts the front on a free port of 127.0.0.1. */
export async function startSlowTermination(options: SlowTerminationOptions): Promise<SlowTermination> {
  const shownUntil = new Map<string, number>();
  const server = createServer((asked, answer) => {
    pass({ ...options, shownUntil }, asked, answer).catch((error: unknown) => {
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end(`passing a call on: ${error}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('starting the front of EC2: it has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Passing extends SlowTerminationOptions {
  readonly shownUntil: Map<string, number>;
}

/** Headers that belong to one connection or to a length that may change. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'expect']);

async function pass(passing: Passing, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { upstream, shuttingDownMs, now, shownUntil } = passing;
  const body = await buffer(asked);
  const headers = Object.entries(asked.headers).filter(([name]) => !OWN_HEADERS.has(name));
  const response = await request(`${upstream}${asked.url ?? '/'}`, {
    method: asked.method === 'POST' ? 'POST' : 'GET',
    headers: Object.fromEntries(headers),
    body: body.length === 0 ? null : body,
  });
  const text = await response.body.text();
  const call = new URLSearchParams(body.toString('utf8'));
  if (call.get('Action') === 'TerminateInstances' && response.statusCode === 200) {
    for (const [key, id] of call) {
      // A second termination of what is shutting down does not begin anew.
      if (key.startsWith('InstanceId.') && !shownUntil.has(id)) shownUntil.set(id, now() + shuttingDownMs);
    }
  }
  answer.writeHead(response.statusCode, { 'content-type': `${response.headers['content-type'] ?? 'text/xml'}` });
  answer.end(showShuttingDown(text, (id) => now() < (shownUntil.get(id) ?? 0)));
}

const TERMINATED = /<code>48<\/code>\s*<name>terminated<\/name>/;
const ONE_INSTANCE = /<instanceId>(i-[0-9a-f]+)<\/instanceId>(?:(?!<instanceId>).)*?<\/instanceState>/gs;

/** Turns `terminated` into `shutting-down` in EC2's answer, for the instances of which that is to be shown. */
export function showShuttingDown(xml: string, isShown: (instanceId: string) => boolean): string {
  return xml.replaceAll(ONE_INSTANCE, (found: string, id: string) =>
    isShown(id) ? found.replace(TERMINATED, '<code>32</code><name>shutting-down</name>') : found,
  );
}
