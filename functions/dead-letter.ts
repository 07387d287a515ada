/*
 * What becomes of dead letters: where one is a request, its cluster's bridge is told `pending/DeadLettered`; then the body
 * moves to the archive queue, which keeps it for 14 days. Told first, since one that is told twice does no harm, and one
 * that is kept again at each try would fill the archive. The live entry is the truth, not the queue: the bridge publishes
 * again in the next term. Called by dead-letter-entry.ts with the letters of any queue.
 */
import {
  continueTrace,
  DEAD_LETTERED,
  decodeRequest,
  encodeResult,
  isSender,
  makeResult,
  type Request,
} from '../bridge/contract.ts';
import type { DeadLetterConfig } from './config.ts';
import type { LambdaRecord } from './lambda-event.ts';
import type { Clock, Log } from './ports.ts';
import { BATCH_MAX_BYTES, type Outgoing, type ReportPorts, report, sizeOf } from './report.ts';

/** Of the results that this function sends in a handler's place. */
const VERSION = '1.0.0';

/** What is needed. */
export interface DeadLetterInput extends ReportPorts {
  readonly config: Pick<DeadLetterConfig, 'clusters' | 'archiveQueueUrl'>;
  /** When the work has to end, in ms since the epoch. */
  readonly until: number;
}

/** Works a batch of dead letters; resolves with the messageIds that stay in their queue. Never rejects. */
export async function handleDeadLetters(
  received: readonly LambdaRecord[],
  input: DeadLetterInput,
): Promise<readonly string[]> {
  // A batch may bring one twice (P6), and a queue takes no call in which two entries have one id.
  const letters = [...new Map(received.map((letter) => [letter.messageId, letter])).values()];
  const results = letters.flatMap((letter) => resultOf(letter, input) ?? []);
  const told = await report(results, input, input.until);
  const owed = new Set(results.map(({ key }) => key).filter((key) => !told.has(key)));
  const settled = letters.filter(({ messageId }) => !owed.has(messageId));
  const archived = await report(
    settled.map((letter) => archiveOf(letter, input)),
    input,
    input.until,
  );
  return letters.map(({ messageId }) => messageId).filter((id) => !archived.has(id));
}

/**
 * The body as it was, with where it came from beside it, for whoever looks or sends it again by hand. A body that a queue
 * takes only by itself is kept without: the log says then what would stand beside it.
 */
function archiveOf(letter: LambdaRecord, { config, log }: DeadLetterInput): Outgoing {
  const { messageId, body, senderId, receiveCount } = letter;
  const queue = queueOf(letter);
  const attributes = { messageId, queue, receiveCount: String(receiveCount), ...named({ senderId }) };
  const kept = { key: messageId, queueUrl: config.archiveQueueUrl, body };
  if (sizeOf({ body, attributes }) <= BATCH_MAX_BYTES) return { ...kept, attributes };
  log.warn('keeping a dead letter without its facts: its body leaves no room for them', attributes);
  return kept;
}

/** An attribute has to hold something. */
function named(attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(attributes).filter(([, text]) => text !== ''));
}

function resultOf(letter: LambdaRecord, { config, clock, log }: DeadLetterInput): Outgoing | undefined {
  const { messageId, body, senderId, receiveCount } = letter;
  const queue = queueOf(letter);
  const facts = { messageId, senderId, receiveCount, queue };
  const decoded = decodeRequest(body);
  if (!decoded.ok) return unreported(log, facts, decoded.failure);
  const request = decoded.message;
  const cluster = config.clusters.find(({ uid }) => uid === request.data.cluster.uid);
  if (cluster === undefined) return unreported(log, facts, 'UnknownCluster');
  if (!isSender(senderId, cluster.sender)) return unreported(log, facts, 'WrongSender');
  const traceparent = continueTrace(request.traceparent, `${request.id} ${messageId}`);
  log.error('a request is a dead letter: telling its bridge', { ...facts, requestId: request.id, traceparent });
  log.count('DeadLetters', { queue, outcome: 'reported' });
  const text = encodeResult(deadLettered({ ...request, traceparent }, { messageId, receiveCount, now: clock.now() }));
  return { key: messageId, queueUrl: cluster.resultQueueUrl, body: text };
}

function unreported(log: Log, facts: { readonly queue: string }, reason: string): undefined {
  log.error('a dead letter that no bridge is told of: it is in the archive', { ...facts, reason });
  log.count('DeadLetters', { queue: facts.queue, outcome: reason });
}

interface Letter {
  readonly messageId: string;
  readonly receiveCount: number;
  readonly now: ReturnType<Clock['now']>;
}

function deadLettered(request: Request, { messageId, receiveCount, now }: Letter) {
  const message = `given up after ${receiveCount} receives; sent again in the next term`;
  return makeResult({
    request,
    outcome: { outcome: 'pending', reason: DEAD_LETTERED, message },
    handler: { name: request.data.handler, version: VERSION },
    nonce: `dead-letter.${messageId}`,
    ...{ now, durationMs: 0 },
  });
}

function queueOf({ eventSourceARN }: LambdaRecord): string {
  return eventSourceARN.split(':').at(-1) ?? eventSourceARN;
}
