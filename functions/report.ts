/*
 * Sends a batch's results to the clusters' result queues: up to 10 per call and 256 KiB, every entry accounted for.
 * Called by dispatch.ts as the last act of an invocation. A result that the queue did not confirm leaves its records
 * failed, so the request comes back and is answered again; HTTP 200 alone proves nothing.
 */
import { utf8Bytes } from '../bridge/contract.ts';
import { type Clock, type EntryFault, type Log, pause, type Queue, type Random, type SendEntry } from './ports.ts';

/** Entries in one SendMessageBatch, and the bytes of their bodies together. */
export const BATCH_MAX_ENTRIES = 10;
export const BATCH_MAX_BYTES = 262_144;
const ATTEMPTS = 3;
const BACKOFF_MS = 200;

/** A result on its way. `key` is the caller's name for it, unique in one report. */
export interface Outgoing {
  readonly key: string;
  readonly queueUrl: string;
  readonly body: string;
}

/** What reporting needs. */
export interface ReportPorts {
  readonly queue: Pick<Queue, 'send'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Sends results; resolves with the keys of those that a queue confirmed. Never rejects. */
export async function report(outgoing: readonly Outgoing[], ports: ReportPorts): Promise<ReadonlySet<string>> {
  const byQueue = Map.groupBy(outgoing, ({ queueUrl }) => queueUrl);
  const batches = [...byQueue].flatMap(([queueUrl, results]) =>
    splitBatches(results.map(({ key, body }) => ({ id: key, body }))).map((entries) => ({ queueUrl, entries })),
  );
  const sent = await Promise.all(batches.map(({ queueUrl, entries }) => sendBatch(queueUrl, entries, ports)));
  return new Set(sent.flat());
}

/** Splits entries, in order, so that each batch is within the queue's limits. */
export function splitBatches(entries: readonly SendEntry[]): readonly (readonly SendEntry[])[] {
  const batches: SendEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = utf8Bytes(entry.body);
    const last = batches.at(-1);
    if (last !== undefined && last.length < BATCH_MAX_ENTRIES && bytes + size <= BATCH_MAX_BYTES) {
      last.push(entry);
      bytes += size;
    } else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}

async function sendBatch(
  queueUrl: string,
  entries: readonly SendEntry[],
  { queue, clock, random, log }: ReportPorts,
): Promise<readonly string[]> {
  const confirmed: string[] = [];
  let open = entries;
  for (let attempt = 1; open.length > 0 && attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) await pause(clock, BACKOFF_MS * 2 ** (attempt - 2) * (1 + random()));
    const faults = await trySending(queue, queueUrl, open, log);
    const faulty = new Map(faults.map((fault) => [fault.id, fault]));
    confirmed.push(...open.filter(({ id }) => !faulty.has(id)).map(({ id }) => id));
    open = open.filter(({ id }) => faulty.get(id)?.senderFault === false);
  }
  const lost = entries.length - confirmed.length;
  if (lost > 0) {
    log.error('sending results: not all were taken; their requests stay in the queue', { queueUrl, lost });
    log.count('ResultsNotSent', {});
  }
  return confirmed;
}

async function trySending(
  queue: Pick<Queue, 'send'>,
  queueUrl: string,
  entries: readonly SendEntry[],
  log: Log,
): Promise<readonly EntryFault[]> {
  try {
    const faults = await queue.send(queueUrl, entries);
    for (const fault of faults) log.warn('sending a result: the queue did not take it', { queueUrl, ...fault });
    return faults;
  } catch (error) {
    log.warn('sending results: the call failed', { queueUrl, error });
    return entries.map(({ id }) => ({ id, code: 'CallFailed', senderFault: false }));
  }
}
