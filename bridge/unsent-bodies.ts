/*
 * Makes Node.js tell the server at once of a call that is given up over HTTP/2 before its body was sent. Asked for by
 * cluster-http.ts, for all calls of the process. undici closes such a stream without an error code and destroys it: without a
 * code Node.js would send the reset after the body, which is not sent any more. So it is never reset, and when the server has
 * room for the body, nghttp2 asks in vain for it: it makes empty frames without end, in a loop that takes all memory.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type ClientHttp2Stream, constants, type Http2Session } from 'node:http2';
import { Duplex } from 'node:stream';

const CREATED = 'http2.client.stream.created';
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

/**
 * Node.js counts what was given up as memory of its connection, and from 10 MB on ends every call over it
 * (`NGHTTP2_ENHANCE_YOUR_CALM`), for a minute or for good: undici takes that for a fault of each call.
 */
const GIVEN_UP_MAX_BYTES = 4_000_000;
const givenUp = new WeakMap<Http2Session, number>();

/** From now on no stream is closed without an error code before all of it is sent. Asking for it again changes nothing. */
export function cancelUnsentBodies(): void {
  unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
}

function onCreated(message: unknown): void {
  if (hasStream(message)) message.stream.close = closeAtOnce;
}

function hasStream(message: unknown): message is { readonly stream: ClientHttp2Stream } {
  return message instanceof Object && 'stream' in message && message.stream instanceof Duplex;
}

/** Takes the place of the stream's own method: one function for all streams, since a call is made with each. */
function closeAtOnce(this: ClientHttp2Stream, code = NGHTTP2_NO_ERROR, callback?: () => void): void {
  if (!this.writableFinished) countGivenUp(this);
  const isUnsent = !this.writableFinished && code === NGHTTP2_NO_ERROR;
  Object.getPrototypeOf(this).close.call(this, isUnsent ? NGHTTP2_CANCEL : code, callback);
}

/** A connection over which too much was given up is ended, and with it what is under way on it: all of that is tried again. */
function countGivenUp({ session, writableLength }: ClientHttp2Stream): void {
  if (session === undefined || writableLength === 0) return;
  const bytes = (givenUp.get(session) ?? 0) + writableLength;
  givenUp.set(session, bytes);
  // Not in the turn of undici, which is not done with the stream yet.
  if (bytes > GIVEN_UP_MAX_BYTES) queueMicrotask(() => session.destroy());
}
