/*
 * What Lambda does with the request queue: takes batches, starts a process for each, runs the REAL dispatch in it, and
 * deletes what did not fail. Made by world.ts. A process that dies leaves its batch to the visibility timeout, and one
 * that outlives its time is killed.
 */
import * as z from 'zod/mini';
import { readConfig } from '../../functions/config.ts';
import type { createDispatch } from '../../functions/dispatch.ts';
import type { Log } from '../../functions/ports.ts';
import type { Cloud } from './cloud.ts';
import { createHandler, HANDLER, TIME_BUDGET_SECONDS } from './cloud-handler.ts';
import type { SimulatedProcess } from './process.ts';
import type { ReceivedMessage, SimulatedQueue } from './queue.ts';
import { createFunctionQueue, type Queues } from './queue-port.ts';

/** Names of the simulated installation. */
export const ACCOUNT = '111122223333';
export const REGION = 'eu-central-1';
export const CLUSTER_UID = 'cluster-1';
export const RESULTS_URL = 'https://queues.example.com/results';
export const REQUESTS_URL = 'https://queues.example.com/requests';
export const BRIDGE_ROLE = 'AROABRIDGE';
export const FUNCTION_ROLE = 'AROAFUNCTION';
/** The function's own time-out, in ms. */
export const FUNCTION_TIMEOUT_MS = (TIME_BUDGET_SECONDS + 30) * 1000;
const BATCH = 5;
const CONCURRENCY = 3;

const config = readConfig(
  { name: HANDLER, dangerous: [], schemas: { settings: z.strictObject({}) } },
  {
    FINALIZER_BRIDGE_CONFIG: JSON.stringify({
      handler: HANDLER,
      region: REGION,
      clusters: [{ uid: CLUSTER_UID, sender: BRIDGE_ROLE, resultQueueUrl: RESULTS_URL }],
      allow: { accounts: [ACCOUNT], regions: [REGION], names: ['*'] },
      logLevel: 'silent',
    }),
  },
);

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, count() {}, with: () => silent };

/** What the host works with. */
export interface FunctionHostInput {
  readonly queues: Queues;
  readonly requests: SimulatedQueue;
  readonly cloud: Cloud;
  readonly random: () => number;
  readonly restsMs: number;
  readonly createDispatch: typeof createDispatch;
  readonly startProcess: (batch: readonly ReceivedMessage[]) => SimulatedProcess;
}

/** Feeds one handler's function. */
export class FunctionHost {
  readonly #input: FunctionHostInput;
  readonly #running = new Set<SimulatedProcess>();

  constructor(input: FunctionHostInput) {
    this.#input = input;
    this.#wait();
  }

  /** Processes that work. */
  running(): readonly SimulatedProcess[] {
    return [...this.#running].filter(({ isAlive }) => isAlive);
  }

  /** Told that a process ended by itself or by a fault. */
  forget(process: SimulatedProcess): void {
    process.kill();
    if (this.#running.delete(process)) this.#wait();
  }

  #wait(): void {
    this.#input.requests.whenVisible(this.#poll);
  }

  /** One function value, so that waiting twice is waiting once. */
  readonly #poll = (): void => {
    if (this.running().length >= CONCURRENCY) return;
    const batch = this.#input.requests.receive(BATCH);
    if (batch.length > 0) {
      const process = this.#input.startProcess(batch);
      this.#running.add(process);
      process.later(FUNCTION_TIMEOUT_MS, () => this.forget(process));
      void this.#invoke(process, batch).catch(() => this.forget(process));
    }
    this.#wait();
  };

  async #invoke(process: SimulatedProcess, batch: readonly ReceivedMessage[]): Promise<void> {
    const { queues, requests, cloud, random, restsMs } = this.#input;
    const clock = process.clock();
    const dispatch = this.#input.createDispatch({
      ...{ handler: createHandler(cloud, process, { restsMs }), config, clock, random, log: silent },
      queue: createFunctionQueue(queues, process, { requests }),
      aws: (_service, region) => ({
        ...{ region, maxAttempts: 1 },
        requestHandler: { connectionTimeout: 1000, requestTimeout: 25_000, throwOnRequestTimeout: true },
      }),
    });
    const records = batch.map(({ messageId, receiptHandle, body, sender, receiveCount }) => ({
      ...{ messageId, receiptHandle, body, senderId: sender, receiveCount },
    }));
    const endsAt = clock.now() + FUNCTION_TIMEOUT_MS;
    const stays = new Set(await dispatch(records, { endsAt, account: ACCOUNT }));
    const done = batch.filter(({ messageId }) => !stays.has(messageId));
    if (done.length > 0) {
      await process.call({
        point: 'delete requests',
        effect: () => {
          for (const { receiptHandle } of done) requests.delete(receiptHandle, process.identity.name);
        },
        lost: () => new Error('delete requests: no answer'),
      });
    }
    this.forget(process);
  }
}
