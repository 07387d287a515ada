/*
 * A model of an SQS standard queue: at least once, hidden while somebody works, receive counts, a dead-letter queue, the
 * sender as the queue itself knows it; by chance copies, delays and another order. Made by world.ts, reached through
 * queue-port.ts. `onSend` and `onDelete` are where promises.ts and the scenarios look on.
 */
import type { VirtualTime } from './clock.ts';

/** A message in a queue. Times in ms since the epoch. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly sender: string;
  readonly sentAt: number;
}

/** A message as one receive got it. */
export interface ReceivedMessage extends StoredMessage {
  readonly receiptHandle: string;
  readonly receiveCount: number;
}

/** How a queue behaves. `copies` is the chance that a receive leaves the message where it is, once more. */
export interface QueueSettings {
  readonly visibilityMs: number;
  readonly maxReceiveCount: number;
  readonly copies: number;
  /** Longest time from a send to the first receive, in ms. */
  readonly delayMs: number;
  readonly shuffled: boolean;
}

interface Entry {
  readonly message: StoredMessage;
  visibleAt: number;
  receiveCount: number;
  receipt: string;
}

/** One queue. */
export class SimulatedQueue {
  readonly url: string;
  readonly settings: QueueSettings;
  readonly deadLetters: StoredMessage[] = [];
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #waiting = new Set<() => void>();
  readonly #sendListeners = new Set<(message: StoredMessage) => void>();
  readonly #deleteListeners = new Set<(message: StoredMessage, by: string) => void>();
  #entries: Entry[] = [];
  #ids = 0;
  #heldUntil = 0;
  #filter: (message: StoredMessage) => boolean = () => true;

  constructor(world: { time: VirtualTime; random: () => number }, url: string, settings: QueueSettings) {
    this.#time = world.time;
    this.#random = world.random;
    this.url = url;
    this.settings = settings;
  }

  /** Messages in it, hidden ones included. */
  get size(): number {
    return this.#entries.length;
  }

  onSend(listener: (message: StoredMessage) => void): void {
    this.#sendListeners.add(listener);
  }

  onDelete(listener: (message: StoredMessage, by: string) => void): void {
    this.#deleteListeners.add(listener);
  }

  /** Gives nothing out for so many ms: an outage of its consumers, or a very slow queue. */
  hold(ms: number): void {
    this.#heldUntil = this.#time.now() + ms;
    this.#wakeIn(ms);
  }

  /** Loses, without a word, what the predicate does not keep. */
  keepOnly(filter: (message: StoredMessage) => boolean): void {
    this.#filter = filter;
  }

  send(body: string, sender: string): void {
    this.#ids += 1;
    const messageId = `${this.url.split('/').at(-1)}-${this.#ids}`;
    const message = { messageId, body, sender, sentAt: this.#time.now() };
    for (const listener of this.#sendListeners) listener(message);
    if (this.#filter(message)) this.put(message);
  }

  /** Puts a message in, such as a copy of an earlier one. */
  put(message: StoredMessage, afterMs = this.#random() * this.settings.delayMs): void {
    this.#entries.push({ message, visibleAt: this.#time.now() + afterMs, receiveCount: 0, receipt: '' });
    this.#wakeIn(afterMs);
  }

  /** Takes what is visible, and hides it. */
  receive(max: number): readonly ReceivedMessage[] {
    this.#bury();
    const visible = this.#visible();
    const chosen = this.settings.shuffled ? shuffle(visible, this.#random) : visible;
    return chosen.slice(0, max).map((entry) => {
      entry.receiveCount += 1;
      entry.receipt = `${entry.message.messageId}#${entry.receiveCount}.${this.#time.now()}`;
      const isCopied = this.#random() < this.settings.copies;
      this.#hide(entry, isCopied ? this.#random() * this.settings.visibilityMs : this.settings.visibilityMs);
      return { ...entry.message, receiptHandle: entry.receipt, receiveCount: entry.receiveCount };
    });
  }

  /** Deletes by receipt; with chance, not for good: a standard queue may give a deleted message out once more. */
  delete(receiptHandle: string, by: string): void {
    const entry = this.#entries.find(({ receipt }) => receipt === receiptHandle);
    if (entry === undefined) return;
    this.#entries = this.#entries.filter((other) => other !== entry);
    for (const listener of this.#deleteListeners) listener(entry.message, by);
    if (this.#random() < this.settings.copies / 2) this.put(entry.message, this.#random() * 30_000);
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    const entry = this.#entries.find(({ receipt }) => receipt === receiptHandle);
    if (entry !== undefined) this.#hide(entry, seconds * 1000);
  }

  /** Resolves (through `wake`) when something may be there; the caller then receives. */
  whenVisible(wake: () => void): void {
    if (this.#visible().length > 0) wake();
    else this.#waiting.add(wake);
  }

  #visible(): readonly Entry[] {
    const now = this.#time.now();
    if (now < this.#heldUntil) return [];
    return this.#entries.filter(({ visibleAt }) => visibleAt <= now);
  }

  #hide(entry: Entry, ms: number): void {
    entry.visibleAt = this.#time.now() + ms;
    this.#wakeIn(ms);
  }

  #wakeIn(ms: number): void {
    this.#time.after(ms, () => {
      if (this.#visible().length === 0) return;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const wake of waiting) wake();
    });
  }

  /** Moves what was received too often to the dead letters. */
  #bury(): void {
    const dead = this.#visible().filter(({ receiveCount }) => receiveCount >= this.settings.maxReceiveCount);
    this.deadLetters.push(...dead.map(({ message }) => message));
    this.#entries = this.#entries.filter((entry) => !dead.includes(entry));
  }
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ item }) => item);
}
