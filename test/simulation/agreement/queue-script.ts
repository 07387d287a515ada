/*
 * The language in which a behaviour of a queue is written down, what a queue has to offer to be run by it, and the run itself.
 * queue-model.ts and queue-real.ts are such queues; the scripts are in scripts-queues.ts, and queue-random.ts draws more.
 */
import { normalised, type Shown } from './transcript.ts';

/** Who may send. */
export const QUEUE_SENDERS = { bridge: 'AROABRIDGE:run', stranger: 'AROASTRANGER:somebody' } as const;
export type QueueSender = keyof typeof QUEUE_SENDERS;

/** What a queue is made with. */
export interface QueueOptions {
  readonly visibilitySeconds: number;
  readonly maxReceiveCount: number;
}

/** One step. Messages are called by their bodies. */
export type QueueStep =
  /** In one call, under the ids `0`, `1` and so on unless told. */
  | {
      readonly do: 'send';
      readonly bodies: readonly string[];
      readonly ids?: readonly string[];
      readonly by?: QueueSender;
    }
  | { readonly do: 'sendLater'; readonly body: string; readonly seconds: number }
  /** What is visible now, or as soon as anything is. */
  | { readonly do: 'receive'; readonly max: number; readonly waits?: boolean }
  /** A receive that begins to wait here, and is looked at later. */
  | { readonly do: 'poll' | 'polled' }
  | { readonly do: 'delete'; readonly body: string; readonly receipt?: 'first' }
  | { readonly do: 'hide'; readonly bodies: readonly string[]; readonly seconds: number; readonly receipt?: 'first' }
  /** With a receipt that the queue never gave. */
  | { readonly do: 'deleteUnknown' | 'hideUnknown' }
  | { readonly do: 'purge' }
  /** What has been received too often. */
  | { readonly do: 'dead' }
  /** Somebody sends all of that again: receives it, sends it and deletes it. */
  | { readonly do: 'sendAgain'; readonly by: QueueSender }
  /** The queue itself is told to. */
  | { readonly do: 'redrive' };

/** One behaviour. */
export interface QueueScript {
  /** A sentence about queues. */
  readonly title: string;
  readonly options?: Partial<QueueOptions>;
  readonly steps: readonly QueueStep[];
}

/** A message as it was received. */
export interface QueueMessage {
  readonly body: string;
  readonly sender: string;
  readonly receiveCount: number;
  readonly receipt: string;
  readonly id: string;
}

/** What was received too often, as it lies where it then is. */
export interface DeadLetter {
  readonly id: string;
  readonly body: string;
  readonly sender: string;
}

/** A queue in the hands of a script. */
export interface QueueDriver {
  /** The codes of the entries that were not taken. Rejects with the code as the error's name when the whole call is refused. */
  send(entries: readonly { readonly id: string; readonly body: string }[], by: QueueSender): Promise<readonly object[]>;
  sendLater(body: string, seconds: number): Promise<void>;
  receive(max: number, waits: boolean): Promise<readonly QueueMessage[]>;
  delete(receipt: string): Promise<void>;
  /** Rejects when one of them is not in work. */
  hide(receipts: readonly string[], seconds: number): Promise<void>;
  purge(): Promise<void>;
  dead(): Promise<readonly DeadLetter[]>;
  sendAgain(by: QueueSender): Promise<void>;
  /** Rejects where it is no such queue. */
  redrive(): Promise<void>;
  /** Lets time go on until a call has been answered. */
  answered<T>(call: Promise<T>): Promise<T>;
}

/** Runs a script. */
export async function runQueueScript(queue: QueueDriver, script: QueueScript): Promise<readonly Shown[]> {
  const run = new QueueRun(queue);
  const shown: Shown[] = [];
  for (const step of script.steps) {
    const { do: doing, ...rest } = step;
    shown.push({ step: `${doing} ${JSON.stringify(rest).slice(0, 200)}`, saw: await run.do(step) });
  }
  return normalised(shown);
}

class QueueRun {
  readonly #queue: QueueDriver;
  /** By body, the receipts of a message, oldest first. */
  readonly #receipts = new Map<string, string[]>();
  #poll: Promise<readonly QueueMessage[]> = Promise.resolve([]);

  constructor(queue: QueueDriver) {
    this.#queue = queue;
  }

  async do(step: QueueStep): Promise<unknown> {
    const queue = this.#queue;
    switch (step.do) {
      case 'send': {
        const entries = step.bodies.map((body, index) => ({ id: step.ids?.[index] ?? String(index), body }));
        return await this.#told(queue.send(entries, step.by ?? 'bridge'));
      }
      case 'sendLater':
        return await queue.answered(queue.sendLater(step.body, step.seconds));
      case 'receive':
        return this.#received(await queue.answered(queue.receive(step.max, step.waits ?? false)));
      case 'poll':
        this.#poll = queue.receive(10, true);
        return undefined;
      case 'polled':
        return this.#received(await queue.answered(this.#poll));
      case 'delete':
        return await this.#told(queue.delete(this.#receipt(step.body, step.receipt)));
      case 'hide':
        return await this.#told(
          queue.hide(
            step.bodies.map((body) => this.#receipt(body, step.receipt)),
            step.seconds,
          ),
        );
      case 'deleteUnknown':
        return await this.#told(queue.delete('no such receipt'));
      case 'hideUnknown':
        return await this.#told(queue.hide(['no such receipt'], 5));
      case 'purge':
        return await this.#told(queue.purge());
      case 'dead':
        return inOrder((await queue.dead()).map(({ id, ...letter }) => ({ ...letter, uid: id })));
      case 'sendAgain':
        return await this.#told(queue.sendAgain(step.by));
      case 'redrive':
        return await this.#told(queue.redrive());
      default:
        return step satisfies never;
    }
  }

  /** In no order: a queue has none. */
  #received(messages: readonly QueueMessage[]): unknown {
    for (const { body, receipt } of messages) this.#receipts.set(body, [...(this.#receipts.get(body) ?? []), receipt]);
    const shown = messages.map(({ body, sender, receiveCount, id }) => ({ body, sender, receiveCount, uid: id }));
    return inOrder(shown);
  }

  #receipt(body: string, which: 'first' | undefined): string {
    return this.#receipts.get(body)?.at(which === 'first' ? 0 : -1) ?? 'never received';
  }

  async #told(call: Promise<unknown>): Promise<unknown> {
    try {
      return (await this.#queue.answered(call)) ?? 'done';
    } catch (error) {
      return { refused: error instanceof Error ? error.name : String(error) };
    }
  }
}

function inOrder<T extends { readonly body: string }>(messages: readonly T[]): readonly T[] {
  return messages.toSorted((left, right) => (left.body < right.body ? -1 : 1));
}
