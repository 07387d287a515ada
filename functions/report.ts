/*
 * Sends a batch's results to the clusters' result queues: up to 10 per call and 256 KiB, every entry accounted for.
 * Called by dispatch.ts as the last act of an invocation. A result that the queue did not confirm leaves its records
 * failed, so the request comes back and is answered again; HTTP 200 alone proves nothing.
 */
import { utf8Bytes } from '../bridge/contract.ts';
import {
  beforeTime,
  type Clock,
  type EntryFault,
  type Log,
  pause,
  type Queue,
  type Random,
  type SendEntry,
} from './ports.ts';

/** Entries in one SendMessageBatch, and their bytes together. */
export const BATCH_MAX_ENTRIES = 10;
export const BATCH_MAX_BYTES = 262_144;
const ATTEMPTS = 3;
const BACKOFF_MS = 200;

/** A result on its way. `key` is the caller's name for it, unique in one report. */
export interface Outgoing {
  readonly key: string;
  readonly queueUrl: string;
  readonly body: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** What reporting needs. */
export interface ReportPorts {
  readonly queue: Pick<Queue, 'send'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Sends results, until `until` (ms since the epoch) at the latest: what no queue has confirmed by then counts as not sent.
 * Resolves with the keys of those that a queue confirmed. Never rejects.
 */
export async function report(
  outgoing: readonly Outgoing[],
  ports: ReportPorts,
  until: number,
): Promise<ReadonlySet<string>> {
  const byQueue = Map.groupBy(outgoing, ({ queueUrl }) => queueUrl);
  const batches = [...byQueue].flatMap(([queueUrl, results]) =>
    splitBatches(results.map(({ key, queueUrl: _, ...entry }) => ({ id: key, ...entry }))).map((entries) => ({
      queueUrl,
      entries,
    })),
  );
  const confirmed = new Set<string>();
  const onConfirmed = (id: string) => confirmed.add(id);
  await beforeTime(ports.clock, until, async (signal) => {
    await Promise.all(batches.map((batch) => sendBatch({ ...batch, onConfirmed, signal }, ports)));
  });
  const lost = outgoing.length - confirmed.size;
  if (lost > 0) {
    ports.log.error('sending results: not all were taken; their requests stay in the queue', { lost });
    ports.log.count('ResultsNotSent', {});
  }
  // A copy: what is confirmed too late for the caller must not change what it was told.
  return new Set(confirmed);
}

/** Splits entries, in order, so that each batch is within the queue's limits. */
export function splitBatches(entries: readonly SendEntry[]): readonly (readonly SendEntry[])[] {
  const batches: SendEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
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

/** Bytes of a message. The queue counts body and attributes alike: their names, their type and what they say. */
export function sizeOf({ body, attributes = {} }: Pick<SendEntry, 'body' | 'attributes'>): number {
  const facts = Object.entries(attributes).map(([name, text]) => utf8Bytes(`${name}String${text}`));
  return facts.reduce((sum, size) => sum + size, utf8Bytes(body));
}

interface Sending {
  readonly queueUrl: string;
  readonly entries: readonly SendEntry[];
  readonly onConfirmed: (id: string) => void;
  /** After it no call begins. */
  readonly signal: AbortSignal;
}

async function sendBatch({ queueUrl, entries, onConfirmed, signal }: Sending, ports: ReportPorts): Promise<void> {
  let open = entries;
  for (let attempt = 1; open.length > 0 && attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) await pause(ports.clock, BACKOFF_MS * 2 ** (attempt - 2) * (1 + ports.random()), signal);
    if (signal.aborted) return;
    const faults = await trySending(queueUrl, open, ports);
    const faulty = new Map(faults.map((fault) => [fault.id, fault]));
    for (const { id } of open) if (!faulty.has(id)) onConfirmed(id);
    open = open.filter(({ id }) => faulty.get(id)?.senderFault === false);
  }
}

async function trySending(
  queueUrl: string,
  entries: readonly SendEntry[],
  { queue, log }: ReportPorts,
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
