/*
 * A front before moto for deployments: hands everything on, and answers some calls itself: those about associations of a
 * ServiceAccount with a role, which moto does not have, and one that it answers otherwise than AWS. It takes a hint of its linter
 * (a dependency that the framework wrote although a reference implies it) for a reason to refuse a whole template.
 * Used by the tests that deploy.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';
const VALID = `<ValidateTemplateResponse xmlns="${NAMESPACE}"><ValidateTemplateResult><Parameters/><Capabilities/></ValidateTemplateResult></ValidateTemplateResponse>`;
const ASSOCIATIONS = /^\/clusters\/[^/]+\/pod-identity-associations(?:\/(?<id>[^/?]+))?(?:\?.*)?$/;

/** A running front. */
export interface CloudFront {
  readonly endpoint: string;
  /** Where calls go to, and how often the framework asks how a deployment stands, in ms: its 5 s are for AWS. */
  readonly env: { readonly AWS_ENDPOINT_URL: string; readonly SLS_AWS_MONITORING_FREQUENCY: string };
  stop(): Promise<void>;
}

/** By their ids, as they were asked for. */
type Associations = Map<string, Readonly<Record<string, unknown>>>;

/** Starts it before an emulator. */
export async function startCloudFront(emulator: string): Promise<CloudFront> {
  const associations: Associations = new Map();
  const server = createServer((asked, answer) => {
    const found = ASSOCIATIONS.exec(asked.url ?? '');
    if (found === null) void handOn(asked, answer, emulator);
    else void associate(asked, found.groups?.id, { answer, associations });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    env: { AWS_ENDPOINT_URL: endpoint, SLS_AWS_MONITORING_FREQUENCY: '200' },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Answering {
  readonly answer: ServerResponse;
  readonly associations: Associations;
}

/** Makes an association, lists those that there are, or deletes one. */
async function associate(
  asked: IncomingMessage,
  id: string | undefined,
  { answer, associations }: Answering,
): Promise<void> {
  const say = (status: number, body: object) =>
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const { method } = asked;
  if (method === 'GET' && id === undefined) say(200, { associations: [...associations.values()] });
  else if (method === 'POST' && id === undefined) {
    const association = { ...JSON.parse(await text(asked)), associationId: `a-${randomUUID()}` };
    associations.set(association.associationId, association);
    say(200, { association });
  } else if (method === 'DELETE' && id !== undefined && associations.delete(id)) say(200, {});
  else say(404, { message: `there is no association ${id}` });
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
  // The emulator tells services apart by the signature and buckets by the host that was meant.
  const onward = request(new URL(url, emulator), { method, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  if (body === undefined) asked.pipe(onward);
  else onward.end(body);
}
