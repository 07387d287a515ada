/*
 * A front before moto for deployments: hands everything on, and answers two calls itself: one that moto does not have, and one
 * that it answers otherwise than AWS. It takes a hint of its linter (a dependency that the framework wrote although a reference
 * implies it) for a reason to refuse a whole template. Used by the tests that deploy.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';
const VALID = `<ValidateTemplateResponse xmlns="${NAMESPACE}"><ValidateTemplateResult><Parameters/><Capabilities/></ValidateTemplateResult></ValidateTemplateResponse>`;

/** To an association of a ServiceAccount with a role, which moto does not have. */
const ASSOCIATED = JSON.stringify({ association: { associationId: 'a-0123456789abcdef0' } });

/** A running front. */
export interface CloudFront {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts it before an emulator. */
export async function startCloudFront(emulator: string): Promise<CloudFront> {
  const server = createServer((asked, answer) => void handOn(asked, answer, emulator));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handOn(asked: IncomingMessage, answer: ServerResponse, emulator: string): Promise<void> {
  // Only calls of the query protocol are read; an upload is as long as it likes.
  const isQuery = asked.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const body = isQuery ? await text(asked) : undefined;
  if (body?.includes('Action=ValidateTemplate')) {
    answer.writeHead(200, { 'content-type': 'text/xml' }).end(VALID);
    return;
  }
  const { method, url = '/', headers } = asked;
  if (method === 'POST' && /^\/clusters\/[^/]+\/pod-identity-associations$/.test(url)) {
    answer.writeHead(200, { 'content-type': 'application/json' }).end(ASSOCIATED);
    return;
  }
  // The emulator tells services apart by the signature and buckets by the host that was meant.
  const onward = request(new URL(url, emulator), { method, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  if (body === undefined) asked.pipe(onward);
  else onward.end(body);
}
