/*
 * Calls to SQS in its JSON protocol over Node's own HTTP client, with connections that are kept. Used by sqs.ts. The SDK's
 * client cost most of what a short run costs, and 300 KB of a bundle that needs no other of AWS's (docs/benchmarks.md).
 * A call that meets trouble that passes is made again, as the SDK does: what is sent twice is answered once (P6).
 */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { jsonOf, refusalOf } from '../bridge/sqs-refusal.ts';
import { headersOf, type SigningCredentials, signersFor, skewBy } from '../bridge/sqs-signature.ts';
import { classify, isTransient } from './aws-errors.ts';
import { type Clock, pause, type Random } from './ports.ts';
import { ServiceError } from './service-error.ts';

/** From the connection to the end of the answer. */
const CALL_TIMEOUT_MS = 5_000;
const ATTEMPTS = 3;
/** In characters: ten entries, each with its id and what became of it. */
const ANSWER_MAX = 65_536;
/** At most; twice as long before the last attempt. */
const BACKOFF_MS = 200;

/** Where the queues are, and as whom they are called. */
export interface SqsClientOptions {
  /** Of queues whose URL names none, and of all where there is an endpoint. */
  readonly region: string;
  /** Another than that of the queues' own URLs. */
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Asked before each call. @throws Error where there are no keys */
  readonly keys: () => SigningCredentials;
  /** Headers beside those of the call, not signed; asked before each call. */
  readonly trace: () => Readonly<Record<string, string>>;
}

/** What is asked of SQS. */
export interface SqsCall {
  readonly action: 'SendMessageBatch' | 'ChangeMessageVisibilityBatch';
  readonly queueUrl: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Makes a call; resolves to the answer's JSON, not yet decoded.
 * @throws ServiceError when SQS refuses, Error when no answer came.
 */
export type AskSqs = (call: SqsCall) => Promise<unknown>;

/** Creates the calls. */
export function createSqsClient({ region, endpoint, clock, random, keys, trace }: SqsClientOptions): AskSqs {
  const signerOf = signersFor(region, endpoint !== undefined);
  const keptOpen = { keepAlive: true };
  const plain = { make: plainRequest, agent: new PlainAgent(keptOpen) };
  const secure = { make: request, agent: new Agent(keptOpen) };
  /** How far the clock of SQS is ahead of ours, in ms, once they are known to differ. */
  let skew = 0;

  async function once({ action, queueUrl, input }: SqsCall): Promise<unknown> {
    const url = new URL(endpoint === undefined ? '/' : `${endpoint.replace(/\/$/, '')}/`, queueUrl);
    const { host, pathname: path } = url;
    const body = JSON.stringify({ QueueUrl: queueUrl, ...input });
    const at = clock.now() + skew;
    const signed = signerOf(queueUrl).sign({ host, path, headers: headersOf(action), body, at }, keys());
    const headers = { ...trace(), ...signed, 'content-length': Buffer.byteLength(body) };
    const { make, agent } = url.protocol === 'http:' ? plain : secure;
    const { response, said } = await answerOf(make(url, { method: 'POST', headers, agent }), body, clock);
    skew = skewBy(response.headers, { now: clock.now(), skew });
    if (response.statusCode === 200 && said !== undefined) return said;
    const { code, status, detail } = refusalOf(response.statusCode ?? 0, said);
    throw new ServiceError({ code, status, message: `asking SQS for ${action} at ${queueUrl}: ${code}: ${detail}` });
  }

  return async (call) => {
    for (let attempt = 1; ; attempt += 1) {
      const before = skew;
      try {
        return await once(call);
      } catch (error) {
        const mayHelp = skew !== before || isTransient(classify(call.action, error));
        if (attempt === ATTEMPTS || !mayHelp) throw error;
      }
      await pause(clock, random() * BACKOFF_MS * attempt);
    }
  };
}

interface Answer {
  readonly response: IncomingMessage;
  /** Undefined where it is no JSON. */
  readonly said: unknown;
}

/** @throws Error with the code of what went wrong on the network */
async function answerOf(sent: ClientRequest, body: string, clock: Clock): Promise<Answer> {
  let late: Error | undefined;
  const cancel = clock.after(CALL_TIMEOUT_MS, () => {
    late = failed('ETIMEDOUT', `no answer in ${CALL_TIMEOUT_MS} ms`);
    sent.destroy(late);
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent
        .on('response', resolve)
        .on('error', reject)
        // As with 101, where nobody asked for another protocol.
        .on('close', () => reject(failed('ECONNRESET', 'the connection has ended without an answer')))
        .end(body);
    });
    return { response, said: jsonOf(await textOf(response)) };
  } catch (error) {
    // An answer that has begun is told of a reset only.
    throw late ?? error;
  } finally {
    cancel();
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: AsyncIterable<string> = response.setEncoding('utf8');
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > ANSWER_MAX) throw failed('AnswerTooLarge', `an answer of more than ${ANSWER_MAX} characters`);
  }
  return text;
}

function failed(code: string, what: string): Error {
  return Object.assign(new Error(`asking SQS: ${what}`), { code });
}
