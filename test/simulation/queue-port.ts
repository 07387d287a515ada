/*
 * The queue ports of bridge and function over the model queues: every call passes a fault point of its process.
 * Made by world.ts for each incarnation. A consumer handles a batch whole before it polls again, as the real one does,
 * and deletes exactly what the handler returned.
 */
import type { Queue as BridgeQueue, Consumption, IncomingMessage } from '../../bridge/ports.ts';
import type { EntryFault, Queue as FunctionQueue } from '../../functions/ports.ts';
import type { SimulatedProcess } from './process.ts';
import type { ReceivedMessage, SimulatedQueue } from './queue.ts';
import { refusedOf } from './queue-limits.ts';

const CONSUMERS = 2;
const BATCH = 10;
const INVALID = 'InvalidMessageContents';
const PAUSE_AFTER_ERROR_MS = 1_000;

/** Queues by their URL. */
export type Queues = ReadonlyMap<string, SimulatedQueue>;

/** Whether the queue refuses one entry of a batch. */
export type Refuses = () => boolean;
const never: Refuses = () => false;

/** The queue port of one bridge. */
export function createBridgeQueue(queues: Queues, process: SimulatedProcess, refuses = never): BridgeQueue {
  return {
    send: (queueUrl, batch) =>
      process.call({
        point: 'send requests',
        effect: (handedOverAt) => {
          const queue = queueAt(queues, queueUrl);
          const refused = refusedOf(batch);
          return batch.flatMap(({ id, body }) => {
            if (refused.has(id)) return [{ id, code: INVALID, detail: 'characters that no message has' }];
            if (refuses()) return [{ id, code: 'InternalError', detail: 'try again' }];
            queue.send(body, process.identity.sender, handedOverAt);
            return [];
          });
        },
        lost: () => new Error('send requests: no answer'),
      }),
    consume(queueUrl, handle) {
      const consumers = Array.from({ length: CONSUMERS }, () =>
        consume({ queue: queueAt(queues, queueUrl), process, handle }),
      );
      return { stop: async () => void (await Promise.all(consumers.map((consumer) => consumer.stop()))) };
    },
  };
}

/** The queue port of one function, fed from `requests`. */
export function createFunctionQueue(
  queues: Queues,
  process: SimulatedProcess,
  { requests, refuses = never }: { readonly requests: SimulatedQueue; readonly refuses?: Refuses },
): FunctionQueue {
  return {
    send: (queueUrl, entries) =>
      process.call({
        point: 'send results',
        effect: () => {
          const queue = queueAt(queues, queueUrl);
          const refused = refusedOf(entries);
          return entries.flatMap(({ id, body }): readonly EntryFault[] => {
            if (refused.has(id)) return [{ id, code: INVALID, senderFault: true }];
            if (refuses()) return [{ id, code: 'InternalError', senderFault: false }];
            queue.send(body, process.identity.sender);
            return [];
          });
        },
        lost: () => new Error('send results: no answer'),
      }),
    changeVisibility: (entries) =>
      entries.length === 0
        ? Promise.resolve()
        : process.call({
            point: 'change visibility',
            effect: () => {
              const isChanged = entries.map((entry) => requests.changeVisibility(entry.receiptHandle, entry.seconds));
              if (isChanged.includes(false)) throw new Error('change visibility: one of them is not in work');
            },
            lost: () => new Error('change visibility: no answer'),
          }),
  };
}

function queueAt(queues: Queues, url: string): SimulatedQueue {
  const queue = queues.get(url);
  if (queue === undefined) throw new Error(`reaching ${url}: there is no such queue`);
  return queue;
}

interface ConsumerInput {
  readonly queue: SimulatedQueue;
  readonly process: SimulatedProcess;
  handle(batch: readonly IncomingMessage[]): Promise<ReadonlySet<string>>;
}

function consume({ queue, process, handle }: ConsumerInput): Consumption {
  let isStopping = false;
  let wake = () => {};
  const visible = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      queue.whenVisible(resolve, () => process.isAlive && !isStopping);
    });
  const poll = async () => {
    await visible();
    if (isStopping || !process.isAlive) return;
    const received = await process.call<readonly ReceivedMessage[]>({
      point: 'receive results',
      effect: () => queue.receive(BATCH),
      lost: () => new Error('receive results: no answer'),
    });
    if (received.length === 0) return;
    queue.arrived(received, process.identity.name);
    const done = await handle(
      received.map(({ messageId, body, sender, receiveCount }) => ({ messageId, body, sender, receiveCount })),
    );
    const receipts = received.filter(({ messageId }) => done.has(messageId)).map(({ receiptHandle }) => receiptHandle);
    if (receipts.length === 0) return;
    await process.call({
      point: 'delete results',
      effect: () => {
        for (const receipt of receipts) queue.delete(receipt, process.identity.name);
      },
      lost: () => new Error('delete results: no answer'),
    });
  };
  const run = async () => {
    while (!isStopping && process.isAlive) {
      try {
        await poll();
      } catch {
        await new Promise<void>((resolve) => void process.later(PAUSE_AFTER_ERROR_MS, resolve));
      }
    }
  };
  const running = run();
  return {
    async stop() {
      isStopping = true;
      wake();
      await running;
    },
  };
}
