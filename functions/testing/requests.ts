/*
 * Requests as a bridge makes them, and the events in which Lambda hands them over, for tests and for the first run of a
 * handler on one machine. Part of `finalizer-bridge/testing`.
 */
import {
  encodeRequest,
  makeRequest,
  type ObjectRef,
  type Options,
  type Ownership,
  type Request,
  type Target,
  TERM_MIN_MS,
} from '../../bridge/contract.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** What a request's object is unless told. */
const OBJECT = {
  ...{ apiVersion: 'example.com/v1', kind: 'Thing', resource: 'things', namespace: 'team-a', name: 'thing' },
  uid: '00000000-0000-4000-8000-000000000001',
};
const CLUSTER = { uid: '00000000-0000-4000-8000-0000000000c1', name: 'test' };
const RULE = { name: 'test', uid: '00000000-0000-4000-8000-0000000000f1' };

/** What a request says; all but handler, target and time has a default. */
export interface TestRequest {
  readonly handler: string;
  readonly target: Target;
  /** ms since the epoch; what the object's times are reckoned from. */
  readonly now: number;
  readonly options?: Options;
  /** The tag `finalizer-bridge.dev/owner-uid` with the object's uid unless told. */
  readonly ownership?: Ownership;
  /** Created a day ago and deleted an hour ago unless told. */
  readonly object?: Partial<ObjectRef>;
  readonly cluster?: Request['data']['cluster'];
  readonly rule?: Request['data']['rule'];
  /** The number of the term; 0, the first, unless told. */
  readonly attempt?: number;
  /**
   * ms, at least the half hour that a rule may say; a day unless told, so that a request does not expire on the way. A request
   * ends two terms after its object was deleted: one of a short term is expired unless that is told as well.
   */
  readonly term?: number;
}

/**
 * Makes a request with everything that its digests are made of.
 * @throws RangeError for a term that no rule can have
 */
export function requestFor({ now, object: changes = {}, ...asked }: TestRequest): Request {
  const object: ObjectRef = {
    ...OBJECT,
    creationTimestamp: new Date(now - DAY_MS).toISOString(),
    // Long enough ago that what is not found can be believed to be absent.
    deletionTimestamp: new Date(now - HOUR_MS).toISOString(),
    ...changes,
  };
  const { handler, target, options = {}, cluster = CLUSTER, rule = RULE, attempt = 0, term = DAY_MS } = asked;
  if (!(term >= TERM_MIN_MS))
    throw new RangeError(`making a request: a term of ${term} ms is under the least of ${TERM_MIN_MS}`);
  const ownership = asked.ownership ?? { tags: { 'finalizer-bridge.dev/owner-uid': object.uid } };
  const path = `/apis/${object.apiVersion}/namespaces/${object.namespace}/${object.resource}/${object.name}`;
  return makeRequest({
    ...{ handler, target, options, ownership, cluster, rule, object, path, attempt },
    gracePeriodSeconds: 0,
    term,
  });
}

/** How a message comes to a function. */
export interface Delivery {
  /** What SQS says of the sender: the role id that the function's configuration names for the cluster, with a session. */
  readonly senderId: string;
  /** ARN of the queue. */
  readonly queueArn?: string;
  /** 1 unless told. */
  readonly receiveCount?: number;
}

/** The event that Lambda makes of messages: requests, or bodies as they are. */
export function lambdaEvent(messages: readonly (Request | string)[], delivery: Delivery) {
  const { senderId, receiveCount = 1, queueArn = 'arn:aws:sqs:eu-west-1:111122223333:requests' } = delivery;
  return {
    Records: messages.map((message, index) => ({
      messageId: `message-${index + 1}`,
      receiptHandle: `receipt-${index + 1}`,
      body: typeof message === 'string' ? message : encodeRequest(message),
      attributes: { SenderId: senderId, ApproximateReceiveCount: String(receiveCount) },
      messageAttributes: {},
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
    })),
  };
}
