/*
 * The result: what a function found or did for one request.
 * Made by the functions' report step, read by the bridge's inbox. Only `gone` lets the bridge take its entry off.
 */
import * as z from 'zod/mini';
import { canonicalJson } from './canonical.ts';
import { type Decoded, decodeEvent, digest, handlerName, reason, traceparent } from './envelope.ts';
import { integer, timestamp } from './lean.ts';
import { attemptNumber, clusterRef, objectRef, type Request, requestIdOf, retryNumber, ruleRef } from './request.ts';

/** The event type; a change in what an outcome means needs a new one. */
export const RESULT_TYPE = 'dev.finalizer-bridge.teardown.result.v1';
/** The contract's version that a handler was built against. */
export const CONTRACT_VERSION = 1;
/** Reason of `pending`: too little of the request's life was left to begin. */
export const EXPIRED = 'Expired';
/** Reason of `pending`, said by the dead-letter function alone: no function has brought the request to an end. */
export const DEAD_LETTERED = 'DeadLettered';
/** Longest message in a result, in characters. */
export const RESULT_MESSAGE_MAX = 512;

const message = z.string().check(z.maxLength(RESULT_MESSAGE_MAX));

/** `deleted`: this deletion's runs took it down. `absent`: the first look found nothing. */
export const evidenceSchema = z.literal(['deleted', 'absent']);
export type Evidence = z.output<typeof evidenceSchema>;

/** gone, pending or refused; nothing else is an outcome. */
export const outcomeSchema = z.union([
  z.object({ evidence: evidenceSchema, message: z.optional(message), outcome: z.literal('gone') }),
  z.object({
    message: z.optional(message),
    outcome: z.literal('pending'),
    // Only once something has been taken down or begun: it makes a later `absent` count as this deletion's work.
    progress: z.optional(message),
    reason,
    retryAt: z.optional(timestamp),
  }),
  z.object({ message, outcome: z.literal('refused'), reason, retryAt: z.optional(timestamp) }),
]);
export type Outcome = z.output<typeof outcomeSchema>;

/** The result as it travels: a CloudEvent in structured JSON. Only the bridge reads it: a bundle that does not leaves it out. */
export const resultSchema = /* @__PURE__ */ (() =>
  z
    .object({
      specversion: z.literal('1.0'),
      id: z.string().check(z.minLength(1), z.maxLength(512)),
      source: z.string(),
      type: z.literal(RESULT_TYPE),
      subject: z.string(),
      time: timestamp,
      datacontenttype: z.literal('application/json'),
      traceparent,
      data: z.object({
        requestId: z.string(),
        cluster: clusterRef,
        rule: ruleRef,
        object: objectRef,
        attempt: attemptNumber,
        retry: z.optional(retryNumber),
        targetDigest: digest,
        ruleDigest: digest,
        expires: timestamp,
        result: outcomeSchema,
        handler: z.object({ name: handlerName, version: z.string(), contract: integer }),
        durationMs: z.number().check(z.nonnegative()),
      }),
    })
    .check(z.refine(({ data }) => data.requestId === requestIdFrom(data), 'requestId does not match the data')))();
export type Result = z.output<typeof resultSchema>;
export type ResultData = Result['data'];

function requestIdFrom(
  data: Omit<Parameters<typeof requestIdOf>[0], 'uid' | 'rule'> & Pick<Request['data'], 'object' | 'rule'>,
): string {
  const { object, rule, targetDigest, ruleDigest, attempt: number, retry } = data;
  return requestIdOf({ uid: object.uid, rule: rule.name, targetDigest, ruleDigest, attempt: number, retry });
}

/** What a result is made from. */
export interface ResultInput {
  readonly request: Request;
  readonly outcome: Outcome;
  readonly handler: { readonly name: string; readonly version: string };
  /** Unique among the results of one request, printable without slashes. */
  readonly nonce: string;
  /** ms since the epoch. */
  readonly now: number;
  readonly durationMs: number;
  /** Of the run; without it that of the request. */
  readonly traceparent?: string;
}

/** Makes the result of a request. */
export function makeResult({ request, outcome, handler, nonce, now, durationMs, ...more }: ResultInput): Result {
  const { cluster, rule, object, attempt: number, retry, targetDigest, ruleDigest, expires } = request.data;
  return {
    data: {
      attempt: number,
      cluster,
      durationMs,
      expires,
      handler: { contract: CONTRACT_VERSION, name: handler.name, version: handler.version },
      object,
      requestId: request.id,
      result: clipped(outcome),
      ...(retry ? { retry } : {}),
      rule,
      ruleDigest,
      targetDigest,
    },
    datacontenttype: 'application/json',
    id: `${request.id}/results/${nonce}`,
    source: `${request.source}/handlers/${handler.name}`,
    specversion: '1.0',
    subject: request.subject,
    time: new Date(now).toISOString(),
    traceparent: more.traceparent ?? request.traceparent,
    type: RESULT_TYPE,
  };
}

function clipped(outcome: Outcome): Outcome {
  const cut = (text: string) => {
    const short = text.length <= RESULT_MESSAGE_MAX ? text : `${text.slice(0, RESULT_MESSAGE_MAX - 1)}…`;
    // A queue refuses what XML cannot carry, and a cut may go through the middle of a character.
    return short.toWellFormed().replaceAll(/[\ufffe\uffff]/g, '\ufffd');
  };
  switch (outcome.outcome) {
    case 'gone':
      return { ...outcome, ...(outcome.message === undefined ? {} : { message: cut(outcome.message) }) };
    case 'pending':
      return {
        ...outcome,
        ...(outcome.message === undefined ? {} : { message: cut(outcome.message) }),
        ...(outcome.progress === undefined ? {} : { progress: cut(outcome.progress) }),
      };
    case 'refused':
      return { ...outcome, message: cut(outcome.message) };
    default:
      return outcome satisfies never;
  }
}

/** The body of a result. */
export function encodeResult(result: Result): string {
  return canonicalJson(result);
}

/** Decodes a result body; the request id is recomputed and must agree. */
export function decodeResult(body: string): Decoded<Result> {
  return decodeEvent(body, RESULT_TYPE, resultSchema);
}
