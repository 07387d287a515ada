/*
 * The request: "this object's deletion is pending, take its target down".
 * Made by the bridge's reconcile step, sent by outbox, read by the functions' entry. Its bytes are a function of the
 * object, the rule and the attempt, so a restart or a second leader repeats it exactly.
 */
import * as z from 'zod/mini';
import { canonicalJson, sha256Hex, utf8Bytes } from './canonical.ts';
import { type Decoded, decodeEvent, digest, handlerName, identifier, ruleName, traceparent } from './envelope.ts';
import { integer, integerFrom, keyed, timestamp } from './lean.ts';
import { attemptBegins, deletionBegan, expiresAt } from './terms.ts';

/** The event type; a change in what is deleted or whether needs a new one. */
export const REQUEST_TYPE = 'dev.finalizer-bridge.deletion.pending.v1';
/** Largest target value, in UTF-8 bytes. */
export const TARGET_VALUE_MAX_BYTES = 1024;

const targetText = z.string().check(
  z.minLength(1),
  z.refine((text) => utf8Bytes(text) <= TARGET_VALUE_MAX_BYTES, `longer than ${TARGET_VALUE_MAX_BYTES} bytes`),
);

/** Longest list in a target. */
export const TARGET_LIST_MAX = 100;
/** A key of a target. */
export const targetKey = z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9]{0,62}$/));
/** A value of a target. */
export const targetValue = z.union([
  targetText,
  z.boolean(),
  integer,
  z.array(targetText).check(z.maxLength(TARGET_LIST_MAX)),
]);
/** What to take down: the values of the rule's target expressions. */
export const targetSchema = keyed(targetKey, targetValue);
export type Target = z.output<typeof targetSchema>;

/** Longest value of an ownership tag, in UTF-16 units; AWS allows no more. */
export const TAG_VALUE_MAX = 256;
/** A key of an ownership tag. */
export const tagKey = z.string().check(z.minLength(1), z.maxLength(128));
/** The value of one. */
export const tagValue = z.string().check(z.minLength(1), z.maxLength(TAG_VALUE_MAX));
/** Ownership tags by their keys. */
export const tagsSchema = keyed(tagKey, tagValue).check(
  z.refine((tags) => Object.keys(tags).length > 0, 'no tags: ownership must be proven by at least one'),
);
/** What the outside resource must carry, or the rule's explicit word that it needs to carry nothing. */
export const ownershipSchema = z.union([
  z.strictObject({ tags: tagsSchema }),
  z.strictObject({ none: z.literal(true) }),
]);
export type Ownership = z.output<typeof ownershipSchema>;

/** Literal options of the rule, JSON as it came out of the message; the handler's own schema checks them. */
export const optionsSchema = z.looseObject({});
export type Options = z.output<typeof optionsSchema>;

// What is written again has its keys in order: canonicalJson is fast then.
export const clusterRef = z.object({ name: z.optional(z.string().check(z.maxLength(128))), uid: identifier });
export const ruleRef = z.object({ name: ruleName, uid: identifier });

/** The object whose deletion is pending; never the object itself. */
export const objectRef = z.object({
  apiVersion: z.string(),
  creationTimestamp: timestamp,
  deletionTimestamp: timestamp,
  kind: z.string(),
  name: z.string(),
  namespace: z.optional(z.string()),
  resource: z.string(),
  uid: identifier,
});
export type ObjectRef = z.output<typeof objectRef>;

/** The term's number, and how often a person asked again within it; none is left out, never written as 0. */
export const attemptNumber = integerFrom(0);
export const retryNumber = integerFrom(1);

/** The request as it travels: a CloudEvent in structured JSON. */
export const requestSchema = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.literal(REQUEST_TYPE),
    subject: z.string(),
    time: timestamp,
    datacontenttype: z.literal('application/json'),
    traceparent,
    data: z.object({
      cluster: clusterRef,
      rule: ruleRef,
      handler: handlerName,
      attempt: attemptNumber,
      retry: z.optional(retryNumber),
      object: objectRef,
      target: targetSchema,
      targetDigest: digest,
      options: optionsSchema,
      ownership: ownershipSchema,
      ruleDigest: digest,
      expires: timestamp,
    }),
  })
  .check(z.refine(isConsistent, 'id or a digest does not match the data'));
export type Request = z.output<typeof requestSchema>;
export type RequestData = Request['data'];

/** Digest of a target. */
export function targetDigestOf(target: Target): string {
  return sha256Hex(canonicalJson(target));
}

/** What a rule digest is taken over: everything but the target that decides what a teardown does. */
export interface RuleDigestInput {
  readonly cluster: string;
  readonly rule: string;
  readonly handler: string;
  readonly options: Options;
  readonly ownership: Ownership;
}

/** Digest of {cluster uid, rule uid, handler, options, ownership}. */
export function ruleDigestOf({ cluster, rule, handler, options, ownership }: RuleDigestInput): string {
  return sha256Hex(canonicalJson({ cluster, handler, options, ownership, rule }));
}

/** What a request id is made of. */
export interface RequestIdParts {
  readonly uid: string;
  readonly rule: string;
  readonly targetDigest: string;
  readonly ruleDigest: string;
  readonly attempt: number;
  readonly retry?: number | undefined;
}

/** `<uid>/<rule>/<first 16 hex digits of sha256 over both digests>/<attempt>[/<retry>]` */
export function requestIdOf({ uid, rule, targetDigest, ruleDigest, attempt, retry }: RequestIdParts): string {
  const digests = sha256Hex(targetDigest + ruleDigest).slice(0, 16);
  return [uid, rule, digests, attempt, ...(retry ? [retry] : [])].join('/');
}

function isConsistent({ id, data }: { readonly id: string; readonly data: RequestData }): boolean {
  const { targetDigest, ruleDigest, attempt: number, retry } = data;
  const { cluster, rule, handler, options, ownership } = data;
  return (
    targetDigest === targetDigestOf(data.target) &&
    ruleDigest === ruleDigestOf({ cluster: cluster.uid, rule: rule.uid, handler, options, ownership }) &&
    id === requestIdOf({ uid: data.object.uid, rule: rule.name, targetDigest, ruleDigest, attempt: number, retry })
  );
}

/** What a request is computed from. */
export interface RequestInput {
  readonly cluster: { readonly uid: string; readonly name?: string | undefined };
  readonly rule: { readonly name: string; readonly uid: string };
  readonly handler: string;
  /** API path of the object, the event's subject. */
  readonly path: string;
  readonly object: ObjectRef;
  readonly gracePeriodSeconds: number;
  readonly target: Target;
  readonly options: Options;
  readonly ownership: Ownership;
  readonly attempt: number;
  readonly retry?: number | undefined;
  /** The rule's term in ms. */
  readonly term: number;
}

/** Computes the request of one attempt; equal inputs give equal bytes. */
export function makeRequest(input: RequestInput): Request {
  const { cluster, rule, handler, object, target, options, ownership, attempt: number, retry, term } = input;
  const terms = { began: deletionBegan(object.deletionTimestamp, input.gracePeriodSeconds), term };
  const targetDigest = targetDigestOf(target);
  const ruleDigest = ruleDigestOf({ cluster: cluster.uid, rule: rule.uid, handler, options, ownership });
  const id = requestIdOf({ uid: object.uid, rule: rule.name, targetDigest, ruleDigest, attempt: number, retry });
  return {
    data: {
      attempt: number,
      cluster: { ...(cluster.name === undefined ? {} : { name: cluster.name }), uid: cluster.uid },
      expires: new Date(expiresAt(terms, number)).toISOString(),
      handler,
      object: referenceTo(object),
      options,
      ownership,
      ...(retry ? { retry } : {}),
      rule: { name: rule.name, uid: rule.uid },
      ruleDigest,
      target: inOrder(target),
      targetDigest,
    },
    datacontenttype: 'application/json',
    id,
    source: `https://finalizer-bridge.dev/clusters/${cluster.uid}`,
    specversion: '1.0',
    subject: input.path,
    time: new Date(attemptBegins(terms, number)).toISOString(),
    traceparent: traceOf(object.uid, rule.name, id),
    type: REQUEST_TYPE,
  };
}

function inOrder(target: Target): Target {
  return Object.fromEntries(Object.entries(target).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Exactly the fields of the reference: callers hold larger values, and equal inputs must give equal bytes. */
function referenceTo(object: ObjectRef): ObjectRef {
  const { apiVersion, kind, resource, namespace, name, uid, creationTimestamp, deletionTimestamp } = object;
  const place = namespace === undefined ? {} : { namespace };
  return { apiVersion, creationTimestamp, deletionTimestamp, kind, name, ...place, resource, uid };
}

/** One trace per deletion and rule, one span per request; derived, so that repeated bytes stay equal. */
function traceOf(uid: string, rule: string, id: string): string {
  return `00-${sha256Hex(`${uid}/${rule}`).slice(0, 32)}-${sha256Hex(id).slice(0, 16)}-01`;
}

/** The body of a request; canonical, so equal requests are equal bytes. */
export function encodeRequest(request: Request): string {
  return canonicalJson(request);
}

/** Decodes a request body; digests and id are recomputed and must agree. */
export function decodeRequest(body: string): Decoded<Request> {
  return decodeEvent(body, REQUEST_TYPE, requestSchema);
}
