/*
 * A model of an SQS standard queue: at least once, hidden while somebody works, receive counts, a dead-letter queue, the
 * sender as the queue itself knows it; by chance copies, delays and another order. Made by world.ts, reached through
 * queue-port.ts. `onSend`, `onRead` and `onDelete` are where promises.ts and the scenarios look on.
 */
import type { VirtualTime } from './clock.ts';

/** A message in a queue. Times in ms since the epoch; `handedOverAt`: when its sender made the call that brought it. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly sender: string;
  readonly handedOverAt: number;
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
  /** Ends the wait for its becoming visible. */
  cancel: () => void;
  receiveCount: number;
  receipt: string;
}

/** A long poll that was answered has taken what it was given within this. */
const NOT_TAKEN_MS = 1_000;
/** Another order is another order among so many of the oldest. */
const SHUFFLED_AMONG = 40;

/** One queue. */
export class SimulatedQueue {
  readonly url: string;
  readonly settings: QueueSettings;
  deadLetters: StoredMessage[] = [];
  /** How many messages came twice by chance. */
  copied = 0;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #waiting = new Map<() => void, () => boolean>();
  readonly #sendListeners = new Set<(message: StoredMessage) => void>();
  readonly #readListeners = new Set<(message: StoredMessage, by: string) => void>();
  readonly #deleteListeners = new Set<(message: StoredMessage, by: string) => void>();
  readonly #entries = new Set<Entry>();
  readonly #visible = new Set<Entry>();
  readonly #byReceipt = new Map<string, Entry>();
  #ids = 0;
  #heldUntil = 0;
  #isCalm = false;
  #isWakingAgain = false;
  #filter: (message: StoredMessage) => boolean = () => true;

  constructor(world: { time: VirtualTime; random: () => number }, url: string, settings: QueueSettings) {
    this.#time = world.time;
    this.#random = world.random;
    this.url = url;
    this.settings = settings;
  }

  /** Messages in it, hidden ones included. */
  get size(): number {
    return this.#entries.size;
  }

  onSend(listener: (message: StoredMessage) => void): void {
    this.#sendListeners.add(listener);
  }

  onRead(listener: (message: StoredMessage, by: string) => void): void {
    this.#readListeners.add(listener);
  }

  onDelete(listener: (message: StoredMessage, by: string) => void): void {
    this.#deleteListeners.add(listener);
  }

  /** Gives nothing out for so many ms: an outage of its consumers, or a very slow queue. */
  hold(ms: number): void {
    this.#heldUntil = this.#time.now() + ms;
    this.#time.after(ms, () => this.#wake());
  }

  /** From now on nothing is late, lost, or comes twice. */
  calm(): void {
    this.#heldUntil = 0;
    this.#isCalm = true;
    this.#wake();
  }

  /** Takes out what somebody picks: an operator at work. */
  purge(isMeant: (message: StoredMessage) => boolean): void {
    for (const entry of [...this.#entries]) if (isMeant(entry.message)) this.#drop(entry);
    this.deadLetters = this.deadLetters.filter((message) => !isMeant(message));
  }

  /** Loses, without a word, what the predicate does not keep. */
  keepOnly(filter: (message: StoredMessage) => boolean): void {
    this.#filter = filter;
  }

  send(body: string, sender: string, handedOverAt = this.#time.now()): void {
    const message = this.#newMessage({ body, sender, handedOverAt });
    for (const listener of this.#sendListeners) listener(message);
    if (this.#filter(message)) this.put(message);
  }

  /** Puts a message in, such as a copy of an earlier one. */
  put(message: StoredMessage, afterMs = this.#isCalm ? 0 : this.#random() * this.settings.delayMs): void {
    const entry = { message, cancel: () => {}, receiveCount: 0, receipt: '' };
    this.#entries.add(entry);
    this.#hide(entry, afterMs);
  }

  /** Sends all dead letters again as new messages: of the senders that they had, or by hand, of who does so. */
  redrive(by?: string): void {
    for (const message of this.deadLetters.splice(0)) {
      this.put(this.#newMessage({ ...message, sender: by ?? message.sender }));
    }
  }

  /** Takes what is visible, and hides it. */
  receive(max: number): readonly ReceivedMessage[] {
    if (this.#time.now() < this.#heldUntil) return [];
    return this.#choose(max).map((entry) => {
      entry.receiveCount += 1;
      this.#byReceipt.delete(entry.receipt);
      entry.receipt = `${entry.message.messageId}#${entry.receiveCount}.${this.#time.now()}`;
      this.#byReceipt.set(entry.receipt, entry);
      const isCopied = !this.#isCalm && this.#random() < this.settings.copies;
      if (isCopied) this.copied += 1;
      this.#hide(entry, isCopied ? this.#random() * this.settings.visibilityMs : this.settings.visibilityMs);
      return { ...entry.message, receiptHandle: entry.receipt, receiveCount: entry.receiveCount };
    });
  }

  /** Says that what was received has reached its reader: an answer can be lost on its way. */
  arrived(messages: readonly StoredMessage[], by: string): void {
    for (const listener of this.#readListeners) for (const message of messages) listener(message, by);
  }

  /** Deletes by receipt; with chance, not for good: a standard queue may give a deleted message out once more. */
  delete(receiptHandle: string, by: string): void {
    const entry = this.#byReceipt.get(receiptHandle);
    if (entry === undefined) return;
    this.#drop(entry);
    for (const listener of this.#deleteListeners) listener(entry.message, by);
    if (!this.#isCalm && this.#random() < this.settings.copies / 2) this.put(entry.message, this.#random() * 30_000);
  }

  /** False: nobody works on it by that receipt. */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const entry = this.#byReceipt.get(receiptHandle);
    if (entry === undefined || this.#visible.has(entry)) return false;
    this.#hide(entry, seconds * 1000);
    return true;
  }

  /** Calls `wake` when something may be there; the caller then receives. `isWaiting`: whether it still does. */
  whenVisible(wake: () => void, isWaiting = () => true): void {
    if (this.#visible.size > 0 && this.#time.now() >= this.#heldUntil) wake();
    else this.#waiting.set(wake, isWaiting);
  }

  #newMessage({ body, sender, handedOverAt }: Pick<StoredMessage, 'body' | 'sender' | 'handedOverAt'>): StoredMessage {
    this.#ids += 1;
    const messageId = `${this.url.split('/').at(-1)}-${this.#ids}`;
    return { messageId, body, sender, handedOverAt, sentAt: this.#time.now() };
  }

  /** What the next receive gets; what was received too often goes to the dead letters instead. */
  #choose(max: number): readonly Entry[] {
    const { shuffled, maxReceiveCount } = this.settings;
    const chosen: Entry[] = [];
    const wanted = shuffled ? Math.max(max, SHUFFLED_AMONG) : max;
    for (const entry of [...this.#visible.values().take(2 * wanted)]) {
      if (chosen.length === wanted) break;
      if (entry.receiveCount < maxReceiveCount) {
        chosen.push(entry);
        continue;
      }
      this.#drop(entry);
      this.deadLetters.push(entry.message);
    }
    return shuffled ? shuffle(chosen, this.#random).slice(0, max) : chosen;
  }

  #drop(entry: Entry): void {
    entry.cancel();
    this.#entries.delete(entry);
    this.#visible.delete(entry);
    this.#byReceipt.delete(entry.receipt);
  }

  /** Out of sight for so many ms. */
  #hide(entry: Entry, ms: number): void {
    this.#visible.delete(entry);
    if (ms <= 0) this.#visible.add(entry);
    entry.cancel();
    entry.cancel = this.#time.after(ms, () => {
      this.#visible.add(entry);
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#visible.size === 0 || this.#time.now() < this.#heldUntil || this.#waiting.size === 0) return;
    let left = this.#visible.size;
    for (const [wake, isWaiting] of [...this.#waiting]) {
      if (left === 0) break;
      this.#waiting.delete(wake);
      if (!isWaiting()) continue;
      left -= 1;
      wake();
    }
    // Whoever was given it may not live to take it: then it is another's.
    if (this.#waiting.size > 0) this.#wakeAgain();
  }

  #wakeAgain(): void {
    if (this.#isWakingAgain) return;
    this.#isWakingAgain = true;
    this.#time.after(NOT_TAKEN_MS, () => {
      this.#isWakingAgain = false;
      this.#wake();
    });
  }
}

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ item }) => item);
}
