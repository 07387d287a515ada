/*
 * The queues of one installation as serverless.yml deploys them: per handler a request queue with dead-letter queue, per cluster
 * a result queue with its own; and who may send, with which access key. Used by system, and by tests that bring their own servers.
 */
import { DEAD_LETTERS, deadLetterNames, handlerNames, resultQueueNames } from '../functions/names.ts';
import type { Senders } from './queue-senders.ts';
import type { QueueName, QueuesClient } from './queues.ts';

/** Somebody who sends: the key it signs with and what SQS then says of it. */
export interface Sender {
  readonly accessKeyId: string;
  readonly senderId: string;
}

export interface HandlerQueues extends Sender {
  readonly functionName: string;
  readonly requests: QueueName;
  readonly deadLetters: QueueName;
}

export interface SystemQueues {
  readonly bridge: Sender;
  readonly handlers: Readonly<Record<string, HandlerQueues>>;
  /** The queues of a handler that was named at the start; throws for any other. */
  handler(name: string): HandlerQueues;
  readonly results: QueueName;
  readonly resultDeadLetters: QueueName;
  /** The function that dead letters go to, and the queue that keeps them. */
  readonly deadLetters: Sender & { readonly functionName: string; readonly archive: QueueName };
}

export interface QueueLayout {
  /** Tells installations on the same queue server apart; `local` unless told. */
  readonly stage?: string;
  readonly clusterUid: string;
  readonly handlers: readonly string[];
  /** Seconds; 30 min unless told, 6 times a function's time-out of 5 min. */
  readonly requestVisibility?: number;
  /** Seconds; 60 unless told. */
  readonly resultVisibility?: number;
  /** Receives before a message is a dead letter; 1,000 unless told. */
  readonly maxReceiveCount?: number;
}

const DEFAULT_STAGE = 'local';

/** The bridge of a stage as a sender. */
function bridgeSender(stage = DEFAULT_STAGE): Sender {
  return { accessKeyId: `${stage}-bridge`, senderId: `${roleId(`${stage}-bridge`)}:bridge` };
}

/** A handler's function as a sender. Lambda's role sessions are named after the function. */
function functionSender(handler: string, stage = DEFAULT_STAGE): Sender & { readonly functionName: string } {
  const functionName = handlerNames({ service: 'finalizer-bridge', stage }, handler).function;
  return { accessKeyId: functionName, senderId: `${roleId(`${stage}-${handler}`)}:${functionName}`, functionName };
}

/** Role ids look like AROA and some letters and digits. */
function roleId(name: string): string {
  return `AROA${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')}`;
}

/** All senders of an installation, for the queue server to know. */
export function systemSenders({ handlers, stage }: Pick<QueueLayout, 'handlers' | 'stage'>): Senders {
  const functions = [...handlers, DEAD_LETTERS].map((name) => functionSender(name, stage));
  const all = [bridgeSender(stage), ...functions];
  return Object.fromEntries(all.map(({ accessKeyId, senderId }) => [accessKeyId, senderId]));
}

/** Creates all queues; those that exist with the same settings are found. */
export async function createSystemQueues(queues: QueuesClient, layout: QueueLayout): Promise<SystemQueues> {
  const { stage = DEFAULT_STAGE, clusterUid, requestVisibility = 1800, resultVisibility = 60 } = layout;
  const { maxReceiveCount = 1000 } = layout;
  const deployment = { service: 'finalizer-bridge', stage };
  const pair = async (names: { queue: string; deadLetters: string }, visibilityTimeout: number) => {
    const deadLetters = await queues.createQueue(names.deadLetters, { visibilityTimeout: 30 });
    const deadLetter = { arn: deadLetters.arn, maxReceiveCount };
    return { deadLetters, queue: await queues.createQueue(names.queue, { visibilityTimeout, deadLetter }) };
  };
  const handlers: Record<string, HandlerQueues> = {};
  for (const handler of layout.handlers) {
    const { queue: requests, deadLetters } = await pair(handlerNames(deployment, handler), requestVisibility);
    handlers[handler] = { ...functionSender(handler, stage), requests, deadLetters };
  }
  const results = await pair(resultQueueNames(deployment, clusterUid), resultVisibility);
  const handler = (name: string) => {
    const found = handlers[name];
    if (found === undefined)
      throw new Error(`finding the queues of handler ${name}: there are ${Object.keys(handlers)}`);
    return found;
  };
  const archive = await queues.createQueue(deadLetterNames(deployment).archive, { visibilityTimeout: 30 });
  return {
    ...{ bridge: bridgeSender(stage), handlers, handler },
    ...{ results: results.queue, resultDeadLetters: results.deadLetters },
    deadLetters: { ...functionSender(DEAD_LETTERS, stage), archive },
  };
}
