/*
 * The functions of a world: for each handler a few warm processes that take batches from its queue, run the REAL dispatch,
 * and delete what did not fail. Made by fleet-world.ts. A process that dies leaves its batch to the visibility time-out.
 */
import * as z from 'zod/mini';
import { readConfig } from '../../../functions/config.ts';
import { createDispatch, type Dispatch } from '../../../functions/dispatch.ts';
import type { Log } from '../../../functions/ports.ts';
import type { Cloud } from '../cloud.ts';
import { createHandler } from '../cloud-handler.ts';
import {
  ACCOUNT,
  BRIDGE_ROLE,
  CLUSTER_UID,
  FUNCTION_ROLE,
  FUNCTION_TIMEOUT_MS,
  REGION,
  RESULTS_URL,
} from '../function-host.ts';
import { SimulatedProcess, type Surroundings } from '../process.ts';
import type { ReceivedMessage, SimulatedQueue } from '../queue.ts';
import { createFunctionQueue, type Queues } from '../queue-port.ts';
import type { FleetProduct } from './fleet-bridges.ts';

const BATCH = 5;
const CONCURRENCY = 6;
/** Longer than any call of a run is under way after it. */
const LATE_CALLS_MS = 3 * 60_000;
/** The slowest deletions of a world take three minutes. */
const LOOK_AGAIN_SECONDS = 60;

const configOf = ({ handler, ownershipNone }: Pick<FleetFunctionsOptions, 'handler' | 'ownershipNone'>) =>
  readConfig(
    { name: handler, dangerous: [], schemas: { settings: z.strictObject({}) } },
    {
      FINALIZER_BRIDGE_CONFIG: JSON.stringify({
        ...{ handler, region: REGION, logLevel: 'silent', ownershipNone },
        clusters: [{ uid: CLUSTER_UID, sender: BRIDGE_ROLE, resultQueueUrl: RESULTS_URL }],
        allow: { accounts: [ACCOUNT], regions: [REGION], names: ['*'] },
      }),
    },
  );
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, count() {}, with: () => silent };

/** What the functions of one handler work with. */
export interface FleetFunctionsOptions {
  readonly surroundings: Surroundings;
  readonly handler: string;
  readonly requests: SimulatedQueue;
  readonly queues: Queues;
  readonly cloud: Cloud;
  readonly skew: number;
  /** Their own configuration allows that no proof is asked for. */
  readonly ownershipNone: boolean;
  readonly product: Partial<FleetProduct>;
  isRefused(): boolean;
}

interface Warm {
  readonly process: SimulatedProcess;
  readonly dispatch: Dispatch;
  batch: readonly ReceivedMessage[];
  /** The name of its run, by which the cloud knows it. */
  run: string;
  cancel: () => void;
}

/** The functions of one handler. */
export class FleetFunctions {
  readonly #options: FleetFunctionsOptions;
  readonly #config: ReturnType<typeof configOf>;
  readonly #idle: Warm[] = [];
  readonly #busy = new Map<string, Warm>();
  /** What each run worked on, until the last of its calls has arrived. */
  readonly #runs = new Map<string, readonly ReceivedMessage[]>();
  /** Runs that have ended, in order, each with the time until which it is known. */
  readonly #ended: { readonly run: string; readonly until: number }[] = [];
  #count = 0;
  #invocations = 0;

  constructor(options: FleetFunctionsOptions) {
    this.#options = options;
    this.#config = configOf(options);
    this.#wait();
  }

  /** How many work. */
  get busy(): number {
    return this.#busy.size;
  }

  /** What a run works on, or did when it made a call that arrives late; undefined for one that is none of ours, or dead. */
  batchOf(run: string): readonly ReceivedMessage[] | undefined {
    this.#forget();
    return this.#runs.get(run);
  }

  /** Told that a process died. */
  died(process: SimulatedProcess): void {
    process.kill();
    const warm = this.#busy.get(process.identity.name);
    if (warm === undefined) return;
    warm.cancel();
    this.#busy.delete(process.identity.name);
    this.#runs.delete(warm.run);
    this.#wait();
  }

  /** Ends all that work. */
  crash(): void {
    for (const { process } of [...this.#busy.values()]) this.died(process);
  }

  #wait(): void {
    this.#options.requests.whenVisible(this.#poll);
  }

  /** One function value, so that waiting twice is waiting once. */
  readonly #poll = (): void => {
    if (this.#busy.size >= CONCURRENCY) return;
    const batch = this.#options.requests.receive(BATCH);
    if (batch.length > 0) {
      const warm = this.#idle.pop() ?? this.#create();
      this.#invocations += 1;
      warm.batch = batch;
      warm.run = `${warm.process.identity.name}/${this.#invocations}`;
      this.#runs.set(warm.run, batch);
      this.#busy.set(warm.process.identity.name, warm);
      warm.cancel = warm.process.later(FUNCTION_TIMEOUT_MS, () => this.died(warm.process));
      void this.#invoke(warm).then(
        () => this.#done(warm),
        () => this.died(warm.process),
      );
    }
    if (batch.length > 0) this.#wait();
    else this.#options.surroundings.time.after(1, () => this.#wait());
  };

  #done(warm: Warm): void {
    const { run } = warm;
    warm.cancel();
    this.#forget();
    this.#ended.push({ run, until: this.#options.surroundings.time.now() + LATE_CALLS_MS });
    this.#busy.delete(warm.process.identity.name);
    this.#idle.push(warm);
    this.#wait();
  }

  #forget(): void {
    const now = this.#options.surroundings.time.now();
    for (let first = this.#ended[0]; first !== undefined && first.until <= now; first = this.#ended[0]) {
      this.#runs.delete(first.run);
      this.#ended.shift();
    }
  }

  async #invoke({ process, dispatch, batch }: Warm): Promise<void> {
    const { requests } = this.#options;
    const records = batch.map(({ messageId, receiptHandle, body, sender, receiveCount }) => ({
      ...{ messageId, receiptHandle, body, senderId: sender, receiveCount },
    }));
    const endsAt = process.clock().now() + FUNCTION_TIMEOUT_MS;
    const stays = new Set(await dispatch(records, { endsAt, account: ACCOUNT }));
    const done = batch.filter(({ messageId }) => !stays.has(messageId));
    if (done.length === 0) return;
    await process.call({
      point: 'delete requests',
      effect: () => {
        for (const { receiptHandle } of done) requests.delete(receiptHandle, process.identity.name);
      },
      lost: () => new Error('delete requests: no answer'),
    });
  }

  #create(): Warm {
    const { surroundings, handler, cloud, queues, requests, skew, product, isRefused } = this.#options;
    this.#count += 1;
    const name = `function-${handler}-${this.#count}`;
    const sender = `${FUNCTION_ROLE}:${name}`;
    const process = new SimulatedProcess(surroundings, { role: 'function', name, sender, skew });
    const as = () => warm.run;
    const dispatch = (product.createDispatch ?? createDispatch)({
      ...{
        handler: createHandler(cloud, process, { name: handler, lookAgainSeconds: LOOK_AGAIN_SECONDS, as }),
        config: this.#config,
        clock: process.clock(),
        log: silent,
      },
      random: surroundings.random,
      queue: createFunctionQueue(queues, process, { requests, refuses: isRefused }),
      aws: (_service, region) => ({
        ...{ region, maxAttempts: 1 },
        requestHandler: { connectionTimeout: 1000, requestTimeout: 25_000, throwOnRequestTimeout: true },
      }),
    });
    const warm: Warm = { process, dispatch, batch: [], run: name, cancel: () => {} };
    return warm;
  }
}
