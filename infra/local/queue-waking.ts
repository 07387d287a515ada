/*
 * Makes the SQS emulator wake as many long polls as its messages need, as SQS does, and none whose caller has hung up. Of
 * itself it wakes all that wait for one message, and answers those that find nothing empty: load that no real queue makes.
 * Installed by queue-server.ts.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { buildApp } from 'fauxqs';

/** Most messages that one receive takes. */
const BATCH = 10;

interface Waiter {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/** What the emulator's queues are made of inside, as far as waking goes. */
interface QueueInside {
  readonly messages: readonly unknown[];
  readonly pollWaiters: Waiter[];
  isFifo(): boolean;
  stopPollTimerIfEmpty(): void;
}

/** The class of the emulator's queues; `notifyWaiters` is called whenever there is something to receive. */
export interface QueueClass {
  readonly prototype: QueueInside & { notifyWaiters(): void; waitForMessages(seconds: number): Promise<void> };
}

/** The methods that have to be there. */
export const QUEUE_METHODS = ['isFifo', 'notifyWaiters', 'stopPollTimerIfEmpty', 'waitForMessages'] as const;

const mended = new WeakSet<QueueClass>();
const callers = new AsyncLocalStorage<Socket>();

/** Mends an emulator that does not listen yet, and all queues of this process, once. FIFO queues stay as they are. */
export function wakeAsNeeded(app: ReturnType<typeof buildApp>, queues: QueueClass): void {
  app.addHook('preHandler', (request, _reply, done) => callers.run(request.raw.socket, done));
  if (mended.has(queues)) return;
  mended.add(queues);
  wakeSomeOnly(queues);
  forgetWhoHungUp(queues);
}

function wakeSomeOnly({ prototype }: QueueClass): void {
  const wakeAll = prototype.notifyWaiters;
  const waking = new WeakSet<QueueInside>();
  prototype.notifyWaiters = function (this: QueueInside): void {
    if (this.isFifo()) wakeAll.call(this);
    if (this.isFifo() || waking.has(this)) return;
    waking.add(this);
    // After this turn all entries of a batch are there, and whoever was woken has taken what it came for.
    setImmediate(() => {
      waking.delete(this);
      for (const waiter of this.pollWaiters.splice(0, Math.ceil(this.messages.length / BATCH))) {
        clearTimeout(waiter.timer);
        waiter.resolve();
      }
      if (this.messages.length > 0 && this.pollWaiters.length > 0) {
        setImmediate(() => void prototype.notifyWaiters.call(this));
      }
    });
  };
}

/** A poll whose caller is gone would take messages, and count them as received, before it is found out. */
function forgetWhoHungUp({ prototype }: QueueClass): void {
  const waitPlain = prototype.waitForMessages;
  prototype.waitForMessages = function (this: QueueInside, seconds: number): Promise<void> {
    const waiting = waitPlain.call(this, seconds);
    const waiter = this.pollWaiters.at(-1);
    const socket = callers.getStore();
    const leave = () => {
      const place = waiter === undefined ? -1 : this.pollWaiters.indexOf(waiter);
      if (place < 0) return;
      this.pollWaiters.splice(place, 1);
      clearTimeout(waiter?.timer);
      this.stopPollTimerIfEmpty();
    };
    socket?.once('close', leave);
    void waiting.finally(() => socket?.off('close', leave));
    return waiting;
  };
}
