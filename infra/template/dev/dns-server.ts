/*
 * The two calls of the PowerDNS API that the handler makes, over records in memory. Stands for the real server in the tests and
 * in `npm run dev`, which calls `start`. Change it with the handler, or start a container of the real thing here instead.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';

/** A record as the API has it. */
export interface DnsRecord {
  readonly name: string;
  readonly type: string;
  readonly comments: readonly { readonly content: string }[];
}

/** A running server. */
export interface DnsServer {
  readonly endpoint: string;
  has(name: string): boolean;
  put(record: DnsRecord): void;
  stop(): Promise<void>;
}

/** The only zone. */
export const ZONE = 'apps.example.com.';
const patchSchema = z.object({
  rrsets: z.array(z.object({ name: z.string(), type: z.string(), changetype: z.literal('DELETE') })),
});

/** The record of dev.request.json, in place before the request is sent. */
const SHOP: DnsRecord = {
  name: 'shop.team-a.apps.example.com.',
  type: 'A',
  comments: [{ content: 'finalizer-bridge.dev/owner-uid=9d4b3f7c-1f52-4c0a-8d6e-5a2b7c9e0f11' }],
};

/** Starts a server on a free port of this machine. */
export async function start(records: readonly DnsRecord[] = [SHOP]): Promise<DnsServer> {
  const all = new Map(records.map((record) => [record.name, record]));
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(all, request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    has: (name) => all.has(name),
    put: (record) => void all.set(record.name, record),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(all: Map<string, DnsRecord>, request: IncomingMessage) {
  const url = new URL(request.url ?? '/', 'http://dns');
  if (request.headers['x-api-key'] === undefined) return { status: 401, body: { error: 'Unauthorized' } };
  if (url.pathname !== `/api/v1/servers/localhost/zones/${ZONE}`) return { status: 404, body: { error: 'Not Found' } };
  if (request.method === 'GET') {
    const record = all.get(url.searchParams.get('rrset_name') ?? '');
    const isAsked = record !== undefined && record.type === url.searchParams.get('rrset_type');
    return { status: 200, body: { name: ZONE, rrsets: isAsked ? [record] : [] } };
  }
  for (const { name } of patchSchema.parse(JSON.parse(await text(request))).rrsets) all.delete(name);
  return { status: 204, body: undefined };
}
