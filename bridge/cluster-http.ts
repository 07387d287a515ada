/*
 * Calls to the API server over undici: credentials, one renewal after a 401 (K14), time-outs, counting. Used by cluster.ts
 * and cluster-kinds.ts. A status is a value here; no answer at all is an ApiError.
 */
import type { Dispatcher } from 'undici';
import * as z from 'zod/mini';
import type { CredentialSource, Credentials } from './cluster-credentials.ts';
import { ApiError } from './ports.ts';

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

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
}

/** Calls to one API server. */
export interface Http {
  /** The answer as a stream, until the signal aborts. */
  open(call: Call, signal?: AbortSignal): Promise<Dispatcher.ResponseData>;
  ask(call: Call): Promise<Answer>;
}

/** What counts calls: the bridge's metrics. */
interface CallCounter {
  readonly apiCalls: { inc(labels: { readonly verb: string; readonly status: string }): void };
}

interface HttpOptions {
  readonly credentials: CredentialSource;
  readonly metrics: CallCounter;
  /** How long an answer may take, in ms. */
  readonly timeout?: number;
}

/** Creates the calls. */
export function createHttp(options: HttpOptions): Http {
  return {
    open: (call, signal) => open(options, call, signal),
    async ask(call) {
      const { statusCode: status, headers, body } = await open(options, call);
      try {
        return { status, headers, text: await body.text() };
      } catch (cause) {
        throw new ApiError(call.doing, 0, { cause });
      }
    },
  };
}

async function open(
  { credentials, metrics, timeout = CALL_TIMEOUT_MS }: HttpOptions,
  call: Call,
  signal?: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const send = (current: Credentials) =>
    current.dispatcher.request({ ...requestOf(current, call), ...waitingFor(timeout, signal) });
  const count = (status: number) => metrics.apiCalls.inc({ verb: call.method, status: String(status) });
  try {
    const first = await send(await credentials.current());
    count(first.statusCode);
    if (first.statusCode !== 401) return first;
    // A rotated token: read it again, once (K14). A write is not repeated: whether it may still be done is asked anew.
    await first.body.dump();
    const renewed = await credentials.renewed();
    if (call.method === 'PATCH') throw new ApiError(call.doing, 401);
    const second = await send(renewed);
    count(second.statusCode);
    return second;
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    count(0);
    throw new ApiError(call.doing, 0, { cause });
  }
}

function requestOf(current: Credentials, call: Call): Dispatcher.RequestOptions {
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

/** A stream is silent for as long as nothing happens; its watchdog is the watcher's. */
function waitingFor(timeout: number, signal: AbortSignal | undefined) {
  return { headersTimeout: timeout, bodyTimeout: signal === undefined ? timeout : 0, signal: signal ?? null };
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
