/*
 * What an error of an AWS call means, by call and code and never by message text. Pure.
 * General rows stand here; a handler brings its service's own. Whatever no row knows means "again": the worst that an
 * unknown error can do is to be tried again. Called by calls.ts for every failed call.
 */

/**
 * - `gone`: what the call named is not there: a real not-found of the target itself;
 * - `absent`: a part or property of it is not there (no tags, no such upload);
 * - `refused`: the same call will fail again until a person changes something;
 * - `elsewhere`: the target lives in another region;
 * - `unready`: something else has to be done first, such as emptying what is not empty;
 * - `again`: anything that time may heal, and everything unknown.
 */
export type Meaning = 'gone' | 'absent' | 'refused' | 'elsewhere' | 'unready' | 'again';

/** What a code means, and the stable CamelCase reason that people see. */
export interface ErrorRow {
  readonly means: Meaning;
  readonly reason: string;
}

/** Rows by call (`service:Operation`) and by code. The call `*` stands for every call. */
export type ErrorTable = Readonly<Record<string, Readonly<Record<string, ErrorRow>>>>;

/** A failed call, classified. */
export interface Fault extends ErrorRow {
  readonly call: string;
  /** The service's code, a network error's code, or the error's name. */
  readonly code: string;
  /** HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** Region that the answer names (`x-amz-bucket-region`). */
  readonly region?: string | undefined;
}

const again = (reason: string): ErrorRow => ({ means: 'again', reason });

/** Codes that mean the same in every service, by their reason. */
const AGAIN: Readonly<Record<string, string>> = {
  AccessDenied: 'AccessDenied AccessDeniedException UnauthorizedOperation AuthFailure OptInRequired',
  CredentialsInvalid:
    'ExpiredToken ExpiredTokenException InvalidClientTokenId InvalidAccessKeyId SignatureDoesNotMatch RequestTimeTooSkewed UnrecognizedClientException CredentialsProviderError',
  Throttled:
    'SlowDown Throttling ThrottlingException ThrottledException RequestThrottled RequestLimitExceeded TooManyRequestsException BandwidthLimitExceeded KmsThrottled KMS.ThrottlingException',
  ServiceError: 'InternalError InternalFailure ServiceUnavailable Unavailable',
  Unreachable:
    'RequestTimeout TimeoutError AbortError ECONNREFUSED ECONNRESET ENOTFOUND EAI_AGAIN EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH',
};

/** The general rows, for every call. */
export const GENERAL_ERRORS: ErrorTable = {
  '*': Object.fromEntries(
    Object.entries(AGAIN).flatMap(([reason, codes]) => codes.split(' ').map((code) => [code, again(reason)])),
  ),
};

/** Reasons for which a look is worth repeating within the same run. */
export function isTransient({ means, reason }: ErrorRow): boolean {
  return means === 'again' && (reason === 'Throttled' || reason === 'ServiceError' || reason === 'Unreachable');
}

/** Classifies what a call threw: the handler's rows for the call first, then the general ones, then the HTTP status. */
export function classify(call: string, error: unknown, own: ErrorTable = {}): Fault {
  const answered = member(member(error, '$metadata'), 'httpStatusCode');
  const status = typeof answered === 'number' ? answered : undefined;
  const name = member(error, 'name');
  // Of what fails on the network `fetch` says no more than TypeError; why is in the cause.
  const below = name === 'TypeError' ? member(member(error, 'cause'), 'code') : undefined;
  const code = firstNamed([member(error, 'code'), member(error, 'Code'), below, name]);
  const named = member(member(member(error, '$response'), 'headers'), 'x-amz-bucket-region');
  const region = typeof named === 'string' && named !== '' ? named : undefined;
  const row =
    lookUp(own[call], code) ?? lookUp(own['*'], code) ?? lookUp(GENERAL_ERRORS['*'], code) ?? byStatus(status, region);
  return { ...contained(row, status), call, code, status, region };
}

/** Classifies a code that came in a successful answer, such as a key's entry in `Errors`. */
export function classifyCode(call: string, code: string, own: ErrorTable = {}): Fault {
  const row = lookUp(own[call], code) ?? lookUp(own['*'], code) ?? lookUp(GENERAL_ERRORS['*'], code);
  return { ...(row ?? again('UnexpectedError')), call, code };
}

/** A property of whatever was thrown; it may be anything. By hand: the schema library's `catch` costs 8 KB per bundle. */
function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function lookUp(rows: Readonly<Record<string, ErrorRow>> | undefined, code: string): ErrorRow | undefined {
  return rows !== undefined && Object.hasOwn(rows, code) ? rows[code] : undefined;
}

/** Answers without a body (HEAD, some redirects) carry no code; the SDK then makes up a name that says nothing. */
function firstNamed(candidates: readonly unknown[]): string {
  const says = (text: unknown): text is string =>
    typeof text === 'string' && text !== '' && text !== 'Error' && text !== 'UnknownError' && text !== 'Unknown';
  return candidates.find(says) ?? 'Unknown';
}

function byStatus(status = 0, region?: string): ErrorRow {
  if (status === 401 || status === 403) return again('AccessDenied');
  if (status === 408) return again('Unreachable');
  if (status === 429) return again('Throttled');
  if (status >= 500) return again('ServiceError');
  if (region !== undefined && (status === 301 || status === 307))
    return { means: 'elsewhere', reason: 'RegionMismatch' };
  return again('UnexpectedError');
}

/** Whatever a table says: an answer that could come from a wall, a brake or a broken server proves no absence. */
function contained(row: ErrorRow, status = 0): ErrorRow {
  if (row.means !== 'gone' && row.means !== 'absent') return row;
  const doubtful = status === 401 || status === 403 || status === 408 || status === 429 || status >= 500;
  return doubtful ? byStatus(status) : row;
}
