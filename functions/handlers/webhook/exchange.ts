/*
 * One POST and its answer, of which at most 64 KB are read. No redirect is followed, nothing is repeated or kept open.
 * Called by the handler in webhook.ts; network.ts makes the connection. What is thrown has a code that errors.ts knows.
 */
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { type Network, reach } from './network.ts';

/** Most bytes of an answer. */
export const ANSWER_MAX_BYTES = 65_536;

/** What to send, and where. */
export interface Posting {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** An answer as it came. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** An answer, or the addresses because of which nothing was sent. */
export type Exchanged = Answered | { readonly kind: 'closed'; readonly addresses: readonly string[] };

/** How postings go out. */
export interface Sender {
  readonly network: Network;
  readonly connectTimeoutMs: number;
  /** On a local system: where to send instead, in plain text and to any address. */
  readonly endpoint?: string | undefined;
}

/** Sends a posting. @throws errors of the network, and `ResponseTooLarge`. */
export async function post(sender: Sender, { url, ...posting }: Posting): Promise<Exchanged> {
  posting.signal.throwIfAborted();
  const { network, connectTimeoutMs, endpoint } = sender;
  if (endpoint !== undefined) return answerOf({ ...posting, url: moved(url, endpoint) }, { agent: false });
  const { hostname, port } = url;
  const reached = await reach(network, {
    ...{ hostname, port: port === '' ? 443 : Number(port), timeoutMs: connectTimeoutMs, signal: posting.signal },
  });
  if (reached.kind === 'closed') return reached;
  const { socket } = reached;
  try {
    return await answerOf({ ...posting, url }, { createConnection: () => socket });
  } finally {
    socket.destroy();
  }
}

/** The same path at another server. */
function moved({ pathname, search }: URL, endpoint: string): URL {
  return Object.assign(new URL(endpoint), { pathname, search });
}

/** The plain client is right over a connection that is encrypted already; without one it makes its own. */
function answerOf(
  { url, headers, body, signal }: Posting,
  connection: Pick<RequestOptions, 'agent' | 'createConnection'>,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host, pathname, search } = url;
    const sent = request({
      ...{ ...connection, method: 'POST', hostname, port, path: pathname + search, signal },
      headers: { ...headers, host, connection: 'close', 'content-length': Buffer.byteLength(body) },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const { statusCode = 0, headers } = response;
      readText(response).then(
        (text) => resolve({ kind: 'answered', status: statusCode, retryAfter: headers['retry-after'], body: text }),
        reject,
      );
    });
    sent.end(body);
  });
}

/** Leaving the loop closes the connection, so no more is read than was asked for. */
async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const read = Buffer.from(chunk);
    bytes += read.length;
    if (bytes > ANSWER_MAX_BYTES) {
      const error = new Error(`reading an answer: it has more than ${ANSWER_MAX_BYTES} bytes`);
      throw Object.assign(error, { code: 'ResponseTooLarge' });
    }
    chunks.push(read);
  }
  return Buffer.concat(chunks).toString('utf8');
}
