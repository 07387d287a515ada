/*
 * A local event source mapping: polls a queue and calls a function's handler as Lambda does, with batches, a time-out and
 * partial batch responses. Receive counts and dead-letter queue are the queue's. Used by function-host and by tests in process.
 */
import { randomUUID } from 'node:crypto';
import type { Context, SQSEvent } from 'aws-lambda';
import { z } from 'zod/mini';
import type { SqsClient } from '../../bridge/sqs-client.ts';
import { verdictOf } from './batch-response.ts';
import { lambdaContext, type ReceivedMessage, receivedMessage, sqsEvent } from './sqs-event.ts';

/** Time, so that tests can drive it. */
export interface EventSourceClock {
  /** ms since the epoch */
  now(): number;
  /** Calls back after `ms`; returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

const systemClock: EventSourceClock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

export type InvocationOutcome =
  | { readonly kind: 'answered'; readonly deleted: readonly string[]; readonly failed: readonly string[] }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timedOut' };

export interface InvocationReport {
  readonly requestId: string;
  readonly messageIds: readonly string[];
  readonly durationMs: number;
  readonly outcome: InvocationOutcome;
}

export interface EventSourceOptions {
  /** Not the SDK's: what polls is no part of a function's process on Lambda, and must not cost what a function costs. */
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly functionName: string;
  /** 1 to 10 */
  readonly batchSize: number;
  readonly functionTimeoutMs: number;
  /** Batches in work at once. */
  readonly concurrency: number;
  /** The handler export that Lambda would call. */
  readonly invoke: (event: SQSEvent, context: Context) => Promise<unknown>;
  readonly clock?: EventSourceClock;
  /** Told when a batch has come and the function is to be called. */
  readonly onBegin?: (messageIds: readonly string[]) => void;
  readonly onInvocation?: (report: InvocationReport) => void;
  /** Takes failed polls and deletes; the source goes on. */
  readonly onError: (error: unknown) => void;
}

export interface EventSource {
  /** Invocations in work. */
  running(): number;
  /** Polls no more and waits up to `limitMs` (5 s) for what is in work; true if nothing was left. */
  stop(limitMs?: number): Promise<boolean>;
}

const POLL_SECONDS = 20;
const PAUSE_AFTER_ERROR = 1000;

export function startEventSource(options: EventSourceOptions): EventSource {
  const { concurrency, clock = systemClock } = options;
  const stopping = new AbortController();
  let running = 0;
  const poller = async () => {
    while (!stopping.signal.aborted) {
      const messages = await receive(options, stopping.signal);
      if (messages === 'failed') await pause(clock, stopping.signal);
      else if (messages.length > 0) {
        running++;
        await handleBatch(options, messages).catch(options.onError);
        running--;
      }
    }
  };
  const pollers = Promise.all(Array.from({ length: concurrency }, poller));
  return {
    running: () => running,
    stop: async (limitMs = 5000) => {
      stopping.abort();
      return await Promise.race([pollers.then(() => true), timeUp(clock, limitMs)]);
    },
  };
}

function timeUp(clock: EventSourceClock, ms: number): Promise<false> {
  return new Promise((resolve) => clock.after(ms, () => resolve(false)));
}

function pause(clock: EventSourceClock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(PAUSE_AFTER_ERROR, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}

const received = z.object({ Messages: z.nullish(z.array(receivedMessage)) });
const deleted = z.object({ Failed: z.nullish(z.array(z.object({ Code: z.string() }))) });

async function receive(
  options: EventSourceOptions,
  signal: AbortSignal,
): Promise<readonly ReceivedMessage[] | 'failed'> {
  const { client, queueUrl, batchSize, onError } = options;
  const input = {
    MaxNumberOfMessages: batchSize,
    WaitTimeSeconds: POLL_SECONDS,
    MessageSystemAttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  };
  try {
    return z.parse(received, await client.ask({ action: 'ReceiveMessage', queueUrl, input, signal })).Messages ?? [];
  } catch (error) {
    if (signal.aborted) return [];
    onError(error);
    return 'failed';
  }
}

async function handleBatch(options: EventSourceOptions, messages: readonly ReceivedMessage[]): Promise<void> {
  const { clock = systemClock, queueArn, onBegin, onInvocation, onError } = options;
  const requestId = randomUUID();
  const started = clock.now();
  const event = sqsEvent(messages, { queueArn });
  const messageIds = event.Records.map((one) => one.messageId);
  onBegin?.(messageIds);
  const outcome = await invoke(options, { event, requestId, started });
  // Without an answer nothing is deleted: the whole batch comes back when its visibility ends.
  if (outcome.kind === 'answered') {
    await deleteMessages(options, messages, outcome.deleted).catch((error: unknown) => onError(error));
  }
  onInvocation?.({ requestId, messageIds, durationMs: clock.now() - started, outcome });
}

interface Call {
  readonly event: SQSEvent;
  readonly requestId: string;
  readonly started: number;
}

/** Races the function against its time-out; on time-out its promise is abandoned, as the sandbox would be. */
async function invoke(options: EventSourceOptions, { event, requestId, started }: Call): Promise<InvocationOutcome> {
  const { clock = systemClock, functionTimeoutMs, functionName, queueArn } = options;
  const remaining = () => Math.max(0, started + functionTimeoutMs - clock.now());
  const context = lambdaContext({ requestId, functionName, region: queueArn.split(':')[3] ?? '', remaining });
  const messageIds = event.Records.map((one) => one.messageId);
  let cancel = () => {};
  const timedOut = new Promise<InvocationOutcome>((resolve) => {
    cancel = clock.after(functionTimeoutMs, () => resolve({ kind: 'timedOut' }));
  });
  const call = async () => await options.invoke(event, context);
  const answered = call().then(
    (response) => outcomeOf(response, messageIds),
    (error: unknown): InvocationOutcome => ({ kind: 'threw', error }),
  );
  return await Promise.race([answered, timedOut]).finally(() => cancel());
}

function outcomeOf(response: unknown, messageIds: readonly string[]): InvocationOutcome {
  const verdict = verdictOf(response, messageIds);
  if (verdict.kind === 'invalid') return verdict;
  const { failed } = verdict;
  return { kind: 'answered', deleted: messageIds.filter((id) => !failed.has(id)), failed: [...failed] };
}

/** By what was received: what the function does to its event must not change which messages are deleted. */
async function deleteMessages(
  options: EventSourceOptions,
  messages: readonly ReceivedMessage[],
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const done = messages.filter((one) => ids.includes(one.MessageId));
  const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  const { client, queueUrl } = options;
  const answer = z.parse(deleted, await client.ask({ action: 'DeleteMessageBatch', queueUrl, input: { Entries } }));
  const [fault] = answer.Failed ?? [];
  if (fault !== undefined) throw new Error(`deleting ${answer.Failed?.length} handled messages: ${fault.Code}`);
}
