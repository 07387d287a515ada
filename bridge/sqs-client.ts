/*
 * Calls to SQS in its JSON protocol, over undici. Used by sqs.ts, sqs-acknowledging.ts and sqs-polling.ts. The SDK's client
 * took a third of the bridge's CPU (docs/benchmarks.md), so of it only the credentials are used (sqs-keys.ts).
 * Nothing is repeated here: that is for those who know whether it may still be done.
 */
import { Agent } from 'undici';
import { type Answer, exchange } from './exchange.ts';
import type { Clock } from './ports.ts';
import { boundedKeys, credentialsOfSdk, type Keys } from './sqs-keys.ts';
import { jsonOf, type Refusal, refusalOf } from './sqs-refusal.ts';
import { headersOf, signersFor, skewBy } from './sqs-signature.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** A long poll lasts 20 s. */
const CALL_TIMEOUT_MS = 25_000;
/** A receive brings 1 MiB of messages at the most, which may be several times of that in JSON. */
const ANSWER_MAX_BYTES = 8 * 1024 * 1024;

/** Where the queues are. */
export interface SqsClientOptions {
  /** Of queues whose URL names none, and of all where there is an endpoint. */
  readonly region: string;
  /** Another than that of the queues' own URLs. */
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  /** Where the keys come from, each time one is needed; the SDK's own chain unless told. */
  readonly credentials?: Keys;
}

/** What is asked of SQS. */
export interface SqsCall {
  readonly action: 'SendMessageBatch' | 'ReceiveMessage' | 'DeleteMessageBatch';
  readonly queueUrl: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** Calls to SQS. */
export interface SqsClient {
  /**
   * Resolves to the answer's JSON, not yet decoded.
   * @throws SqsError when SQS refuses, Error when no answer came.
   */
  ask(call: SqsCall): Promise<unknown>;
}

/** A refusal by SQS; `code` as its documentation has it, such as `QueueDoesNotExist`. */
export class SqsError extends Error {
  override readonly name = 'SqsError';
  readonly code: string;
  readonly status: number;

  constructor(doing: string, { code, status, detail }: Refusal) {
    super(`${doing}: ${code}${detail === '' ? '' : `: ${detail}`}`);
    this.code = code;
    this.status = status;
  }
}

/** Creates the client. */
export function createSqsClient({ region, endpoint, clock, credentials }: SqsClientOptions): SqsClient {
  const keysNow = credentials ?? boundedKeys(() => credentialsOfSdk(region), clock);
  const signers = signersFor(region, endpoint !== undefined);
  // A call has a connection to itself: one that hangs holds up no other.
  const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, allowH2: false });
  const onBegin = (cut: (reason: Error) => void) =>
    clock.after(CALL_TIMEOUT_MS, () => cut(new Error(`the answer was not complete in ${CALL_TIMEOUT_MS} ms`)));
  /** How far the clock of SQS is ahead of ours, in ms, once they are known to differ. */
  let skew = 0;

  return {
    async ask({ action, queueUrl, input, signal }) {
      const doing = `asking SQS for ${action} at ${queueUrl}`;
      const { origin, host, pathname } = new URL(endpoint ?? new URL(queueUrl).origin);
      const body = JSON.stringify({ QueueUrl: queueUrl, ...input });
      const path = `${pathname.replace(/\/$/, '')}/`;
      const keys = await keysNow(signal);
      const { host: _, ...headers } = signers(queueUrl).sign(
        { host, path, headers: headersOf(action), body, at: clock.now() + skew },
        keys,
      );
      const call = { origin, path, method: 'POST', headers, body } as const;
      const waiting = { headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: CALL_TIMEOUT_MS };
      const answer = await exchange(
        dispatcher,
        { ...call, ...waiting },
        { signal, onBegin, maxBytes: ANSWER_MAX_BYTES },
      ).catch((cause: unknown) => {
        throw new Error(doing, { cause });
      });
      skew = skewBy(answer.headers, { now: clock.now(), skew });
      if (answer.status !== 200) throw new SqsError(doing, refusalOf(answer.status, jsonOf(answer.text)));
      return parsed(answer, doing);
    },
  };
}

function parsed({ text }: Answer, doing: string): unknown {
  const value = jsonOf(text);
  if (value === undefined) throw new Error(`${doing}: the answer is no JSON`);
  return value;
}
