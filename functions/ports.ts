/*
 * What the functions need from outside, as small interfaces: time, chance, the queue, the log.
 * The entry fills them with the real things; tests and the simulation run the same code under virtual time.
 */

/** Time as an argument, in milliseconds. */
export interface Clock {
  /** Since the Unix epoch (UTC); may be set forward or back. */
  now(): number;
  /** Since some moment of its own; never set, so only its differences say how long something took. */
  monotonic(): number;
  /** Calls back once after `delay` ms, unless the returned function is called first. */
  after(delay: number, callback: () => void): () => void;
}

/** A number from 0 (included) to 1 (excluded), for jitter and for ids that only have to differ. */
export type Random = () => number;

/** One message of a send. `id` is unique in its batch. */
export interface SendEntry {
  readonly id: string;
  readonly body: string;
  /** Facts beside the body, as text. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A new visibility for one received message, in seconds from now. */
export interface VisibilityEntry {
  readonly receiptHandle: string;
  readonly seconds: number;
}

/** An entry that a batch call did not take; `senderFault` means that the same entry would be refused again. */
export interface EntryFault {
  readonly id: string;
  readonly code: string;
  readonly senderFault: boolean;
}

/** The queue, as far as functions need it. A call that fails as a whole rejects. */
export interface Queue {
  /** At most 10 entries. Resolves with the entries of which the queue did not confirm that it took them. */
  send(queueUrl: string, entries: readonly SendEntry[]): Promise<readonly EntryFault[]>;
  /** At most 10 entries of the queue that feeds this function. */
  changeVisibility(entries: readonly VisibilityEntry[]): Promise<void>;
}

/** Facts of a log line. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log and counters. Never throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Counts one occurrence, and measures times of it in ms by name; labels have few values each, the most telling last. */
  count(metric: string, labels: Readonly<Record<string, string>>, times?: Readonly<Record<string, number>>): void;
  /** The same log with more fields on every line. */
  with(fields: LogFields): Log;
}

/** Resolves after `delay` ms of the clock, or as soon as the signal aborts. */
export function pause(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(delay, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

/** Why the signal of work that is over aborts; made once, since each one made would carry a stack. */
const OVER = new DOMException('The work is over.', 'AbortError');

/**
 * Waits for work, until `until` (ms since the epoch) at the latest; the signal that the work is given aborts then.
 * Work that goes on all the same is not waited for. Rejects only as the work does, while it is waited for.
 */
export async function beforeTime(
  clock: Clock,
  until: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const cancel = clock.after(Math.max(0, until - clock.now()), () => controller.abort());
  const late = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    await Promise.race([work(signal), late]);
  } finally {
    cancel();
    controller.abort(OVER);
  }
}
