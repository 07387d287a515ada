/*
 * An HTTP server that answers as S3, EC2, SNS, SQS and scaling groups do, as a test scripts it: for what no emulator shows (redirects, per-key
 * errors, throttling, locks). The code under test talks to it through the real SDK clients. Used by test/functions.
 */
import { createServer, type IncomingMessage } from 'node:http';

/** A request as the server saw it. */
export interface Seen {
  /** `s3:ListObjectVersions`, `ec2:DescribeInstances`, ... */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** What it answers; `hangUp` closes the connection without an answer. */
export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }
  | 'hangUp';
/** A reply, or how to make it of the request. */
export type Scripted = Reply | ((seen: Seen) => Reply | Promise<Reply>);

/** A running server. */
export interface ScriptedAws {
  readonly endpoint: string;
  readonly seen: readonly Seen[];
  /** Operations in the order in which they came. */
  operations(): readonly string[];
  /** Scripts an operation: each reply once and in order, the last one for ever. Replaces what was scripted before. */
  on(operation: string, ...replies: readonly Scripted[]): void;
  /** Forgets script and requests, or only the requests that came so far. */
  reset(what?: 'requests'): void;
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startScriptedAws(): Promise<ScriptedAws> {
  const scripts = new Map<string, Scripted[]>();
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void answer(request).then((reply) => {
      if (reply === 'hangUp') {
        request.socket.destroy();
        return;
      }
      response.writeHead(reply.status, { 'content-type': 'application/xml', ...reply.headers });
      response.end(request.method === 'HEAD' ? undefined : reply.body);
    });
  });
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const came = await read(request);
    seen.push(came);
    const script = scripts.get(came.operation);
    const next = script !== undefined && script.length > 1 ? script.shift() : script?.[0];
    if (next === undefined) return s3Error(418, 'NotScripted');
    try {
      return typeof next === 'function' ? await next(came) : next;
    } catch (error) {
      return s3Error(418, 'ScriptFailed', {}, String(error));
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('starting the scripted server: it has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    seen,
    operations: () => seen.map(({ operation }) => operation),
    on: (operation, ...replies) => scripts.set(operation, [...replies]),
    reset(what) {
      if (what !== 'requests') scripts.clear();
      seen.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks).toString('utf8');
  const [path = '', search = ''] = (request.url ?? '').split('?');
  const query = new URLSearchParams(search);
  const method = request.method ?? '';
  const target = request.headers['x-amz-target'];
  const operation =
    typeof target === 'string' ? target.replace('AmazonSQS.', 'sqs:') : operationOf(method, path, query, body);
  return { operation, method, path, query, headers: request.headers, body };
}

/** The versions of the APIs that are asked by forms as EC2's is, by which they are told from it. */
const FORM_SERVICES = new Map(Object.entries({ '2010-03-31': 'sns', '2011-01-01': 'autoscaling' }));

function operationOf(method: string, path: string, query: URLSearchParams, body: string): string {
  const form = new URLSearchParams(body);
  const action = form.get('Action');
  if (action !== null) return `${FORM_SERVICES.get(form.get('Version') ?? '') ?? 'ec2'}:${action}`;
  if (path.startsWith('/v20180820/')) return controlOf(method, path);
  if (method === 'GET' && path === '/') return 's3:ListBuckets';
  const isObject = path.split('/').filter((part) => part !== '').length > 1;
  const known = [
    ['tagging', 'GET', 's3:GetBucketTagging'],
    ['versioning', 'GET', 's3:GetBucketVersioning'],
    ['policy', 'GET', 's3:GetBucketPolicy'],
    ['policy', 'PUT', 's3:PutBucketPolicy'],
    ['policy', 'DELETE', 's3:DeleteBucketPolicy'],
    ['object-lock', 'GET', 's3:GetObjectLockConfiguration'],
    ['versions', 'GET', 's3:ListObjectVersions'],
    ['uploads', 'GET', 's3:ListMultipartUploads'],
    ['delete', 'POST', 's3:DeleteObjects'],
    ['uploadId', 'DELETE', 's3:AbortMultipartUpload'],
    ['legal-hold', 'GET', 's3:GetObjectLegalHold'],
    ['retention', 'GET', 's3:GetObjectRetention'],
  ].find(([parameter = '', verb]) => verb === method && query.has(parameter));
  if (known?.[2] !== undefined) return known[2];
  if (method === 'DELETE') return isObject ? 's3:DeleteObject' : 's3:DeleteBucket';
  return `s3:${method} ${path}`;
}

/** The control API, which has paths of its own. */
function controlOf(method: string, path: string): string {
  if (path.startsWith('/v20180820/tags/')) return 's3:TagResource';
  return method === 'DELETE' ? 's3:DeleteAccessPoint' : 's3:ListAccessPoints';
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An answer of S3 with a body. */
export function xml(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}` };
}

/** An answer of SQS. */
export function json(body: unknown): Reply {
  return { status: 200, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: JSON.stringify(body) };
}

/** An empty answer, as to a delete. */
export const noContent: Reply = { status: 204, body: '' };

/** An error answer of S3. */
export function s3Error(status: number, code: string, headers: Readonly<Record<string, string>> = {}, message = code) {
  return xml(`<Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`, status, headers);
}

/** The answer of GetBucketTagging. */
export function tagging(tags: Readonly<Record<string, string>>): Reply {
  const list = Object.entries(tags).map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`);
  return xml(`<Tagging><TagSet>${list.join('')}</TagSet></Tagging>`);
}

/** An entry of a version listing. */
export interface ListedVersion {
  readonly key: string;
  readonly versionId: string;
  readonly isMarker?: boolean;
}

/** The answer of ListObjectVersions, with keys url-encoded as S3 encodes them. */
export function versions(
  list: readonly ListedVersion[],
  next?: { readonly key: string; readonly versionId?: string },
): Reply {
  const entries = list.map(({ key, versionId, isMarker = false }) => {
    const tag = isMarker ? 'DeleteMarker' : 'Version';
    return `<${tag}><Key>${urlEncoded(key)}</Key><VersionId>${versionId}</VersionId></${tag}>`;
  });
  const version = next?.versionId === undefined ? '' : `<NextVersionIdMarker>${next.versionId}</NextVersionIdMarker>`;
  const markers = `${markersTo(next)}${version}`;
  return xml(`<ListVersionsResult><EncodingType>url</EncodingType>${markers}${entries.join('')}</ListVersionsResult>`);
}

const urlEncoded = (key: string) => encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');

type ListedUpload = { readonly key: string; readonly uploadId: string };
const markersTo = (next: { readonly key: string } | undefined) =>
  `<IsTruncated>${next !== undefined}</IsTruncated>${next === undefined ? '' : `<NextKeyMarker>${urlEncoded(next.key)}</NextKeyMarker>`}`;

/** The answer of ListMultipartUploads. */
export function uploads(list: readonly ListedUpload[] = [], next?: { readonly key: string }): Reply {
  const entries = list.map(
    ({ key, uploadId }) => `<Upload><Key>${urlEncoded(key)}</Key><UploadId>${uploadId}</UploadId></Upload>`,
  );
  return xml(
    `<ListMultipartUploadsResult><EncodingType>url</EncodingType>${markersTo(next)}${entries.join('')}</ListMultipartUploadsResult>`,
  );
}

/** The quiet answer of DeleteObjects: status 200, and only what went wrong. */
export function deleteResult(
  errors: readonly { readonly key: string; readonly versionId?: string; readonly code: string }[] = [],
): Reply {
  const entries = errors.map(
    ({ key, versionId, code }) =>
      `<Error><Key>${escaped(key)}</Key>${versionId === undefined ? '' : `<VersionId>${versionId}</VersionId>`}<Code>${code}</Code><Message>${code}</Message></Error>`,
  );
  return xml(`<DeleteResult>${entries.join('')}</DeleteResult>`);
}

/** An error answer of EC2. */
export function ec2Error(status: number, code: string): Reply {
  return xml(
    `<Response><Errors><Error><Code>${code}</Code><Message>${code}</Message></Error></Errors><RequestID>r</RequestID></Response>`,
    status,
  );
}

/** An instance in an answer of DescribeInstances. */
export interface DescribedInstance {
  readonly instanceId: string;
  readonly state: string;
  readonly owner?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly launchTime?: string;
  /** When its root volume was attached. */
  readonly attachTime?: string;
  readonly spotRequestId?: string;
  /** Volumes that stay when it is terminated, and those that go with it. */
  readonly staying?: readonly string[];
  readonly leaving?: readonly string[];
}

/** The answer of DescribeInstances for these instances, or for none. */
export function instances(...list: readonly DescribedInstance[]): Reply {
  const items = list.map(({ instanceId, state, owner = '123456789012', tags = {}, ...more }) => {
    const tagItems = Object.entries(tags).map(
      ([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`,
    );
    const { launchTime, attachTime, spotRequestId, staying = [], leaving = [] } = more;
    const launched = launchTime === undefined ? '' : `<launchTime>${launchTime}</launchTime>`;
    const spot = spotRequestId === undefined ? '' : `<spotInstanceRequestId>${spotRequestId}</spotInstanceRequestId>`;
    const root = attachTime === undefined ? '' : `<item><ebs><attachTime>${attachTime}</attachTime></ebs></item>`;
    const others = [...staying, ...leaving].map(
      (id) =>
        `<item><ebs><volumeId>${id}</volumeId><deleteOnTermination>${leaving.includes(id)}</deleteOnTermination></ebs></item>`,
    );
    const volumes = `<blockDeviceMapping>${root}${others.join('')}</blockDeviceMapping>`;
    return `<item><ownerId>${owner}</ownerId><instancesSet><item><instanceId>${instanceId}</instanceId><instanceState><code>16</code><name>${state}</name></instanceState>${launched}${spot}${volumes}<tagSet>${tagItems.join('')}</tagSet></item></instancesSet></item>`;
  });
  return xml(
    `<DescribeInstancesResponse><reservationSet>${items.join('')}</reservationSet></DescribeInstancesResponse>`,
  );
}
