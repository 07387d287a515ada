/*
 * Queues, their dead-letter queues and their policies, as CloudFormation resources.
 * Called by service for each handler (requests: bridge to function) and each cluster (results: functions to bridge).
 * A policy that only allows would not keep others out, since identity policies in the same account allow as well;
 * so each policy also denies sending to everybody who is not named.
 */
import type { DeadLetterNames, QueueNames } from './names.ts';

/** A CloudFormation value: a literal or an intrinsic function. */
export type Value =
  | string
  | { readonly 'Fn::GetAtt': readonly [string, string] }
  | { readonly 'Fn::Sub': string }
  | { readonly Ref: string };
/** A CloudFormation resource. */
export interface Resource {
  readonly Type: string;
  readonly DependsOn?: readonly string[];
  readonly Properties: Readonly<Record<string, unknown>>;
}
export type Resources = Readonly<Record<string, Resource>>;

/** Lambda's advice: a queue's visibility timeout is at least this many times the function's timeout (Q1). */
export const VISIBILITY_PER_TIMEOUT = 6;
/** SQS's largest: a request that waits for a slow deletion comes back many times before it expires (Q4). */
const MAX_RECEIVE_COUNT = 1000;
/**
 * Longer than any request lives (half a day), so that one whose handler fails is answered as expired; and so long that what a
 * function cannot read becomes a dead letter before SQS drops it without a word: a thousand receives with the longest pauses of
 * functions/visibility.ts take 10.4 days. A dead letter keeps its first enqueue time, so this is less than the dead letters' own,
 * and each of them can lie for two days at least (Q7). Only what a function never gets to see, since it does not start, is
 * dropped: it comes back after the queue's own visibility timeout. Of that the alarms and the rule's deadline tell.
 */
const RETENTION_SECONDS = 12 * 24 * 3600;
const DEAD_LETTER_RETENTION_SECONDS = 14 * 24 * 3600;
/** The dead-letter function's time-out in seconds; a batch of ten takes it two calls of a queue. */
export const DEAD_LETTER_TIMEOUT_SECONDS = 30;
/** What the bridge may take for a result; one that it has not settled by then comes again, which is harmless (P6). */
export const RESULT_VISIBILITY_SECONDS = 60;

/** Who may use a queue. */
export interface QueueUse {
  readonly names: QueueNames;
  readonly visibilitySeconds: number;
  /** Role ARNs that may send; nobody else can. */
  readonly senders: readonly Value[];
  /** Role ARNs that may receive and acknowledge, where their own identity policy is not enough (another account). */
  readonly receivers: readonly Value[];
  /** The key that messages are encrypted with at rest; SQS's own without one. */
  readonly kmsKeyArn: string | undefined;
}

/** A queue, its dead-letter queue and the policies of both. */
export function queueResources({ names, visibilitySeconds, senders, receivers, kmsKeyArn }: QueueUse): Resources {
  return {
    [names.queueId]: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: names.queue,
        VisibilityTimeout: visibilitySeconds,
        MessageRetentionPeriod: RETENTION_SECONDS,
        ReceiveMessageWaitTimeSeconds: 20,
        ...encryption(kmsKeyArn),
        RedrivePolicy: { deadLetterTargetArn: arnOf(names.deadLettersId), maxReceiveCount: MAX_RECEIVE_COUNT },
      },
    },
    [names.deadLettersId]: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: names.deadLetters,
        VisibilityTimeout: DEAD_LETTER_TIMEOUT_SECONDS * VISIBILITY_PER_TIMEOUT,
        MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
        ...encryption(kmsKeyArn),
        RedriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns: [queueArn(names.queue)] },
      },
    },
    [names.policyId]: policy(names.queueId, [
      ...allow(names.queueId, SENDING, senders),
      ...allow(names.queueId, RECEIVING, receivers),
      denySending(names.queueId, senders),
      denyPlainText(names.queueId),
    ]),
    [names.deadLettersPolicyId]: policy(names.deadLettersId, [denyPlainText(names.deadLettersId)]),
  };
}

/** The queue that keeps the bodies of dead letters for 14 days from when they were found. */
export function archiveResources(
  { archive, archiveId, archivePolicyId, roleId }: DeadLetterNames,
  kmsKeyArn: string | undefined,
): Resources {
  const senders = [arnOf(roleId)];
  return {
    [archiveId]: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: archive,
        MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
        ...encryption(kmsKeyArn),
      },
    },
    [archivePolicyId]: policy(archiveId, [
      ...allow(archiveId, SENDING, senders),
      denySending(archiveId, senders),
      denyPlainText(archiveId),
    ]),
  };
}

/** Encryption at rest: by SQS's own key, or by the customer's, of which a data key is asked once an hour. */
function encryption(KmsMasterKeyId: string | undefined) {
  return KmsMasterKeyId === undefined
    ? { SqsManagedSseEnabled: true }
    : { KmsMasterKeyId, KmsDataKeyReusePeriodSeconds: 3600 };
}

/** The ARN of a resource of this template. */
export function arnOf(logicalId: string): Value {
  return { 'Fn::GetAtt': [logicalId, 'Arn'] };
}

/** The ARN of a queue of this stack by its name, where a reference would make a circle. */
function queueArn(name: string): Value {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}` };
}

function policy(queueId: string, Statement: readonly unknown[]): Resource {
  return {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: [{ Ref: queueId }], PolicyDocument: { Version: '2012-10-17', Statement } },
  };
}

/** What somebody may do with a queue. */
interface Right {
  readonly Sid: string;
  readonly Action: readonly string[];
}

const LOOKING = ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'];
const SENDING: Right = { Sid: 'Send', Action: ['sqs:SendMessage', ...LOOKING] };
const RECEIVING: Right = {
  Sid: 'Receive',
  Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', ...LOOKING],
};

function allow(queueId: string, { Sid, Action }: Right, principals: readonly Value[]) {
  return principals.length === 0
    ? []
    : [{ Sid, Effect: 'Allow', Principal: { AWS: principals }, Action, Resource: arnOf(queueId) }];
}

function denySending(queueId: string, senders: readonly Value[]) {
  return {
    Sid: 'NobodyElseSends',
    Effect: 'Deny',
    Principal: '*',
    Action: 'sqs:SendMessage',
    Resource: arnOf(queueId),
    // Of a role's session this key holds the role's own ARN. No sender at all: the condition is left out, all denied.
    ...(senders.length === 0 ? {} : { Condition: { ArnNotEquals: { 'aws:PrincipalArn': senders } } }),
  };
}

function denyPlainText(queueId: string) {
  return {
    Sid: 'TlsOnly',
    Effect: 'Deny',
    Principal: '*',
    Action: 'sqs:*',
    Resource: arnOf(queueId),
    Condition: { Bool: { 'aws:SecureTransport': 'false' } },
  };
}
