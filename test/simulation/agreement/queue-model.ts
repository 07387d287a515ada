/*
 * The model of a queue in the hands of a script: the function's port over it, as the simulation plugs it in, and what others do
 * to it. Used by the tests of agreement; a mistaken model is given to show that they notice.
 */
import { seededRandom, VirtualTime } from '../clock.ts';
import { SimulatedProcess } from '../process.ts';
import { SimulatedQueue } from '../queue.ts';
import { createFunctionQueue } from '../queue-port.ts';
import { QUEUE_SENDERS, type QueueDriver, type QueueOptions, type QueueSender } from './queue-script.ts';

const URL = 'https://queues.example.com/agreed';
const SECOND = 1_000;
/** Longest that anything takes, in virtual ms. */
const LONG = 3_600 * SECOND;
/** The longest poll that SQS has. */
const POLL_MS = 20 * SECOND;

/** Makes an empty queue without weather. */
export function createQueueModel(
  { visibilitySeconds, maxReceiveCount }: QueueOptions,
  Queue: typeof SimulatedQueue = SimulatedQueue,
): QueueDriver {
  const time = new VirtualTime();
  const random = seededRandom(1);
  const settings = {
    visibilityMs: visibilitySeconds * SECOND,
    maxReceiveCount,
    copies: 0,
    delayMs: 0,
    shuffled: false,
  };
  const queue = new Queue({ time, random }, URL, settings);
  const queues = new Map([[URL, queue]]);
  const portOf = (sender: QueueSender) => {
    const process = new SimulatedProcess(
      { time, random, onHandedOver() {}, passFaultPoint: () => undefined, onWire() {}, endOthers() {}, onFault() {} },
      { role: 'function', name: sender, sender: QUEUE_SENDERS[sender], skew: 0 },
    );
    return createFunctionQueue(queues, process, { requests: queue });
  };
  const ports = { bridge: portOf('bridge'), stranger: portOf('stranger') };
  const receive = (max: number) =>
    queue.receive(max).map(({ messageId, body, sender, receiptHandle, receiveCount }) => {
      return { id: messageId, body, sender, receiveCount, receipt: receiptHandle };
    });
  return {
    send: async (entries, by) => await ports[by].send(URL, entries),
    sendLater: async (body, seconds) => {
      const sentAt = time.now();
      queue.put(
        { messageId: `later-${body}`, body, sender: QUEUE_SENDERS.bridge, handedOverAt: sentAt, sentAt },
        seconds * SECOND,
      );
    },
    receive: async (max, waits) => {
      const now = receive(max);
      if (now.length > 0 || !waits) return now;
      let isWaiting = true;
      await new Promise<void>((resolve) => {
        queue.whenVisible(resolve, () => isWaiting);
        time.after(POLL_MS, resolve);
      });
      isWaiting = false;
      return receive(max);
    },
    delete: async (receipt) => queue.delete(receipt, 'test'),
    hide: async (receipts, seconds) =>
      await ports.bridge.changeVisibility(receipts.map((receiptHandle) => ({ receiptHandle, seconds }))),
    purge: async () => queue.purge(() => true),
    dead: async () => queue.deadLetters.map(({ messageId: id, body, sender }) => ({ id, body, sender })),
    sendAgain: async (by) => queue.redrive(QUEUE_SENDERS[by]),
    redrive: async () => queue.redrive(),
    answered: async (call) => {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      void call.then(over, over);
      if (!(await time.run(time.now() + LONG, () => isOver))) throw new Error('waiting for a call in the model: never');
      return await call;
    },
  };
}
