/*
 * Calls to the API server over undici: credentials, one renewal after a 401 (K14), time-outs, counting. Used by cluster.ts
 * and cluster-kinds.ts. A status is a value here; no answer at all is an ApiError.
 */
import type { Dispatcher } from 'undici';
import * as z from 'zod/mini';
import type { CredentialSource, Credentials } from './cluster-credentials.ts';
import { type Answer, exchange } from './exchange.ts';
import { ApiError, type Clock } from './ports.ts';
import { cancelUnsentBodies } from './unsent-bodies.ts';

const notFound = z.object({ reason: z.literal('NotFound'), details: z.object({ name: z.string() }) });
/** A call that has not answered for this long has failed. */
const CALL_TIMEOUT_MS = 15_000;

/** One call. `doing` is the gerund phrase of its errors. */
export interface Call {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly doing: string;
}

export type { Answer };

/** Calls to one API server. */
export interface Http {
  /**
   * The body of a 200, until the signal aborts.
   * @throws ApiError for any other status.
   */
  open(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData['body']>;
  /** The whole answer, unless the signal aborts first. */
  ask(call: Call, signal?: AbortSignal): Promise<Answer>;
}

/** What counts calls: the bridge's metrics. */
interface CallCounter {
  readonly apiCalls: { inc(labels: { readonly verb: string; readonly status: string }): void };
}

interface HttpOptions {
  readonly credentials: CredentialSource;
  readonly metrics: CallCounter;
  readonly clock: Clock;
  /** How long an answer may take, and then its body, in ms; 0 for ever. */
  readonly timeout?: number;
}

/** Creates the calls. */
export function createHttp(options: HttpOptions): Http {
  cancelUnsentBodies();
  const { clock, timeout = CALL_TIMEOUT_MS } = options;
  // The library's own time-out is for the next bytes, and starts anew with every few of them.
  const onBegin = (cut: (reason: Error) => void) =>
    timeout === 0 ? () => {} : clock.after(timeout, () => cut(new Error(`the body was not complete in ${timeout} ms`)));
  return {
    ask: async (call, signal) =>
      await send(options, { call, signal }, ({ dispatcher, ...used }) =>
        exchange(
          dispatcher,
          { ...requestOf(used, call), headersTimeout: timeout, bodyTimeout: timeout },
          { signal, onBegin },
        ),
      ),
    async open(call, signal) {
      const opened = await send(options, { call, signal }, async ({ dispatcher, ...used }) => {
        // A stream is silent for as long as nothing happens; its watchdog is the watcher's.
        const waiting = { headersTimeout: timeout, bodyTimeout: 0, signal };
        const response = await dispatcher.request({ ...requestOf(used, call), ...waiting });
        const { statusCode: status, headers, body } = response;
        return status === 200 ? { status, body } : { status, headers, text: await wholeText(body, onBegin) };
      });
      if ('body' in opened) return opened.body;
      throw refusal(call, opened);
    },
  };
}

async function wholeText(
  body: Dispatcher.ResponseData['body'],
  onBegin: (cut: (reason: Error) => void) => () => void,
): Promise<string> {
  const ended = onBegin((reason) => body.destroy(reason));
  try {
    return await body.text();
  } finally {
    ended();
  }
}

interface Sending {
  readonly call: Call;
  readonly signal: AbortSignal | undefined;
}

/** Makes a call with the credentials there are, and again with newer ones if these are refused. */
async function send<T extends { readonly status: number }>(
  { credentials, metrics }: HttpOptions,
  { call, signal }: Sending,
  make: (used: Credentials) => Promise<T>,
): Promise<T> {
  let used: Credentials | undefined;
  const sendWith = async (ones: Credentials) => {
    used = ones;
    const answer = await make(ones);
    metrics.apiCalls.inc({ verb: call.method, status: String(answer.status) });
    return answer;
  };
  try {
    const current = await unlessAborted(credentials.current(), signal);
    const first = await sendWith(current);
    if (first.status !== 401) return first;
    // A rotated token: read it again, once (K14). A write is not repeated: whether it may still be done is asked anew.
    const renewed = await unlessAborted(credentials.renewed(current), signal);
    const isTheSame = renewed.reading === current.reading || isSameToken(renewed, current);
    if (isTheSame || call.method === 'PATCH') throw new ApiError(call.doing, 401);
    const second = await sendWith(renewed);
    if (second.status === 401) throw new ApiError(call.doing, 401);
    return second;
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    metrics.apiCalls.inc({ verb: call.method, status: '0' });
    // The kubeconfig may name another address or authority by now: the next call has what stands there (K14).
    if (used !== undefined && signal?.aborted !== true) credentials.doubted(used, isOfCertificates(cause));
    throw new ApiError(call.doing, 0, { cause });
  }
}

/** Whether one side does not take the other's certificate, as Node.js and OpenSSL name that. */
function isOfCertificates(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /CERT|^UNABLE_TO_|^ERR_SSL_/.test(code);
}

function isSameToken({ headers: one }: Credentials, { headers: other }: Credentials): boolean {
  return one.Authorization !== undefined && one.Authorization === other.Authorization;
}

/** Credentials may come from a program that hangs. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function requestOf(current: Omit<Credentials, 'dispatcher'>, call: Call): Dispatcher.RequestOptions {
  return {
    origin: current.origin,
    path: current.prefix + call.path,
    method: call.method,
    headers: {
      ...current.headers,
      accept: call.accept ?? 'application/json',
      ...(call.contentType === undefined ? {} : { 'content-type': call.contentType }),
    },
    body: call.body ?? null,
  };
}

/** Decodes the body of an answer; a body that no API server sends is an ApiError. */
export function decoded<T>(call: Call, { status, text }: Answer, decode: (body: unknown) => T): T {
  try {
    return decode(JSON.parse(text));
  } catch (cause) {
    throw new ApiError(call.doing, status, { cause, body: text });
  }
}

/** Whether a 404 is about the object: one about its kind says nothing of the object (K8). */
export function isObjectMissing({ status, text }: Answer, name: string): boolean {
  if (status !== 404) return false;
  try {
    return notFound.parse(JSON.parse(text)).details.name === name;
  } catch {
    return false;
  }
}

/** What an answer that nobody expected is thrown as. */
export function refusal(call: Call, { status, headers, text }: Answer): ApiError {
  return new ApiError(call.doing, status, { retryAfter: retryAfterOf(headers), body: text });
}

function retryAfterOf(headers: Answer['headers']): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}
