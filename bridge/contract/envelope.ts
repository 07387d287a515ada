/*
 * The CloudEvents 1.0 envelope (structured JSON mode) around every message, and what decoding can say.
 * Called by request.ts and result.ts. Unknown extra fields are tolerated and dropped; an unknown type is never an
 * outcome: it stays in its queue and reaches the dead-letter queue.
 */
import * as z from 'zod/mini';
import { type Json, sha256Hex, utf8Bytes } from './canonical.ts';

/** Largest message body, in UTF-8 bytes. SQS takes 1 MiB; targets are small, so anything near this is a fault. */
export const MESSAGE_MAX_BYTES = 65_536;

/** Why a body was not decoded. `UnknownType` may be a newer version's message; the others are junk. */
export type DecodeFailure = 'TooLarge' | 'NotJson' | 'NotCloudEvent' | 'UnknownType' | 'Invalid';

/** The outcome of decoding: a value, never an exception. */
export type Decoded<T> =
  | { readonly ok: true; readonly message: T }
  | { readonly ok: false; readonly failure: DecodeFailure; readonly detail: string };

/** A Kubernetes uid or another opaque identifier: printable, no slash (ids are joined by slashes). */
export const identifier = z.string().check(z.regex(/^[\x21-\x2e\x30-\x7e]{1,128}$/));
/** A rule's name: an RFC 1123 subdomain of at most 63 characters, so that its entry is a valid qualified name. */
export const ruleName = z
  .string()
  .check(z.regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/), z.maxLength(63));
/** A handler's name: an RFC 1123 label of at most 40 characters, so that queue and role names fit AWS's limits. */
export const handlerName = z.string().check(z.regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/), z.maxLength(40));
/** SHA-256 in hex. */
export const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** A stable CamelCase reason, the same word in results, annotations, Events and metrics. */
export const reason = z.string().check(z.regex(/^[A-Z][A-Za-z0-9]{0,63}$/));
/** W3C Trace Context, version 00. */
export const traceparent = z.string().check(z.regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/));

/** The same trace with a span of its own, told by what is unique to the work that it stands for. */
export function continueTrace(parent: string, work: string): string {
  const [version, trace, , flags] = parent.split('-');
  return [version, trace, sha256Hex(work).slice(0, 16), flags].join('-');
}

const envelope = z.object({ specversion: z.literal('1.0'), id: z.string(), source: z.string(), type: z.string() });

/** A schema's complaints, each with its path below `root`; about the whole, without a root, the complaint alone. */
export function complaints(error: z.core.$ZodError, root = ''): readonly string[] {
  return error.issues.map(({ path, message }) => {
    const place = [root, ...path.map(String)].filter((part) => part !== '').join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
}

/** Parses a body as JSON and as a CloudEvent of the given type, then by the type's own schema, which names that type. */
export function decodeEvent<S extends z.ZodMiniType>(body: string, type: string, schema: S): Decoded<z.output<S>> {
  const size = utf8Bytes(body);
  if (size > MESSAGE_MAX_BYTES) return failed('TooLarge', `${size} bytes, at most ${MESSAGE_MAX_BYTES} are read`);
  let parsed: Json;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    return failed('NotJson', cause instanceof Error ? cause.message : String(cause));
  }
  // Whether it is an event at all is asked of what does not fit only: a message that fits is one of its type.
  const fault = (detail: string) => faultOfEvent(parsed, type) ?? failed('Invalid', detail);
  try {
    const message = schema.safeParse(parsed);
    return message.success ? { ok: true, message: message.data } : fault(complaints(message.error).join('; '));
  } catch (error) {
    // Within the size limit JSON can still be nested deeper than the stack; nothing else may throw here.
    if (!(error instanceof RangeError)) throw error;
    return fault('nested too deeply');
  }
}

function faultOfEvent(parsed: Json, type: string): Decoded<never> | undefined {
  const event = envelope.safeParse(parsed);
  if (!event.success) return failed('NotCloudEvent', complaints(event.error).join('; '));
  return event.data.type === type ? undefined : failed('UnknownType', event.data.type.slice(0, 128));
}

function failed(failure: DecodeFailure, detail: string): Decoded<never> {
  return { ok: false, failure, detail };
}
