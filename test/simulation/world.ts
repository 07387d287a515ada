/*
 * A simulated world: models of API server, queues and cloud, the real bridge and the real dispatch as processes in it,
 * and a fault point at every port call of theirs. Made by the scenarios; same options, same run.
 * What crashed is started again some time later; `report` says everything that is needed to replay a run.
 */
import { type Bridge, startBridge } from '../../bridge/bridge.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { EventInput, Lease } from '../../bridge/ports.ts';
import { createDispatch } from '../../functions/dispatch.ts';
import { FakeLeases } from '../support/fake-leases.ts';
import { ApiServer } from './api-server.ts';
import { seededRandom, VirtualTime } from './clock.ts';
import { Cloud } from './cloud.ts';
import { HANDLER } from './cloud-handler.ts';
import { createClusterPort } from './cluster-port.ts';
import { standForLeader } from './election.ts';
import {
  BRIDGE_ROLE,
  CLUSTER_UID,
  FUNCTION_ROLE,
  FUNCTION_TIMEOUT_MS,
  FunctionHost,
  REQUESTS_URL,
  RESULTS_URL,
} from './function-host.ts';
import { hasOurEntry, isDeleting, isHeld, KIND, ruleBook, ruleText } from './installation.ts';
import { type Kind, SimulatedProcess, STALL_MS, type Surroundings } from './process.ts';
import { Promises } from './promises.ts';
import { type ReceivedMessage, SimulatedQueue } from './queue.ts';
import { createBridgeQueue } from './queue-port.ts';
import type { BridgeStart, TracedCall, WorldOptions } from './world-options.ts';

interface Incarnation {
  readonly process: SimulatedProcess;
  readonly start: BridgeStart;
  /** From when it leads. */
  bridge: Bridge | undefined;
  lease: Lease;
}

const RESTART_MS = 5_000;
/** Longer than anything that is written at most once a minute. */
const QUIET_MS = 90_000;
const RESULT_VISIBILITY_MS = 60_000;
const ACTS = /^(patch|send requests)/;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const metrics = createMetrics();

/** A world. */
export class World implements Surroundings {
  readonly time = new VirtualTime();
  readonly random: () => number;
  readonly server = new ApiServer(this.time);
  readonly cloud = new Cloud(this.time);
  readonly requests: SimulatedQueue;
  readonly results: SimulatedQueue;
  readonly functions: FunctionHost;
  readonly promises: Promises;
  readonly calls: TracedCall[] = [];
  readonly events: EventInput[] = [];
  readonly leases = new FakeLeases();
  /** How often a bridge has said that somebody else took an entry off. */
  bypassed = 0;
  readonly #log = {
    ...silent,
    warn: (fields: object) => {
      if ('reason' in fields && fields.reason === 'Bypassed') this.bypassed += 1;
    },
  };
  readonly #options: WorldOptions;
  readonly #incarnations: Incarnation[] = [];
  readonly #batches = new Map<string, readonly ReceivedMessage[]>();
  readonly #queues: ReadonlyMap<string, SimulatedQueue>;
  #lastAct = 0;
  #wire = 0;
  #restarts = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed);
    const settings = { maxReceiveCount: 1_000, copies: 0, delayMs: 0, shuffled: false, ...options.queue };
    this.requests = new SimulatedQueue(this, REQUESTS_URL, { visibilityMs: 6 * FUNCTION_TIMEOUT_MS, ...settings });
    this.results = new SimulatedQueue(this, RESULTS_URL, { visibilityMs: RESULT_VISIBILITY_MS, ...settings });
    this.#queues = new Map([this.requests, this.results].map((queue) => [queue.url, queue]));
    this.promises = new Promises({
      ...{ time: this.time, server: this.server, cloud: this.cloud, requests: this.requests, results: this.results },
      isBridge: (name) => name.startsWith('bridge-'),
      batchOf: (name) => this.#batches.get(name),
    });
    const { handlerRestsMs: restsMs = 0 } = options;
    this.functions = new FunctionHost({
      ...{ queues: this.#queues, requests: this.requests, cloud: this.cloud, random: this.random, restsMs },
      createDispatch: options.product?.createDispatch ?? createDispatch,
      startProcess: (batch) => this.#startFunction(batch),
    });
  }

  /** Bridges that live. */
  get bridges(): readonly Bridge[] {
    return this.#incarnations.flatMap(({ process, bridge }) => (process.isAlive ? (bridge ?? []) : []));
  }

  /** All bridge processes so far, the dead ones too. */
  get processes(): readonly SimulatedProcess[] {
    return this.#incarnations.map(({ process }) => process);
  }

  /** Starts a bridge, beside others that may live. */
  startBridge(start: BridgeStart = {}): SimulatedProcess {
    const name = `bridge-${this.#incarnations.length + 1}`;
    const identity = { role: 'bridge', name, sender: `${BRIDGE_ROLE}:${name}`, skew: start.skew ?? 0 } as const;
    const process = new SimulatedProcess(this, identity);
    const incarnation: Incarnation = { process, start, bridge: undefined, lease: { holds: () => true } };
    this.#incarnations.push(incarnation);
    if (this.#options.election === true) {
      incarnation.lease = standForLeader({
        ...{ leases: this.leases, process, random: this.random, options: this.#options },
        elected: () => this.#lead(incarnation),
        lost: () => this.crash(process),
      });
    } else this.#lead(incarnation);
    return process;
  }

  #lead(incarnation: Incarnation): void {
    const { process, start } = incarnation;
    const { random, server, events } = this;
    const { product, rule, book, watchLag, watchFaults, termHeldSince, served } = this.#options;
    const lag = start.watchLag ?? (watchLag === undefined ? () => 0 : () => watchLag(random));
    incarnation.bridge = (product?.startBridge ?? startBridge)({
      ...{ clock: process.clock(), random, metrics, log: this.#log, ...(served && { served }) },
      cluster: createClusterPort({
        ...{ server, process, random, watchLag: lag, watchFaults, ApiError: product?.ApiError },
        onEvent: (event) => events.push(event),
      }),
      queue: createBridgeQueue(this.#queues, process),
      lease: { holds: () => incarnation.lease.holds() },
      rules: book ?? ruleBook(start.rules ?? ruleText(rule), termHeldSince),
      clusterId: { uid: CLUSTER_UID },
      handlers: { [HANDLER]: { queueUrl: REQUESTS_URL, sender: FUNCTION_ROLE } },
      resultQueueUrl: RESULTS_URL,
    });
  }

  /** Ends a bridge; `start` is how the next one is started. */
  crash(process: SimulatedProcess, start?: BridgeStart): void {
    process.kill();
    this.#restart(process, start);
  }

  /** Takes the lease from a process that goes on living. */
  takeLease(process: SimulatedProcess): void {
    const incarnation = this.#incarnations.find((one) => one.process === process);
    if (incarnation !== undefined) incarnation.lease = { holds: () => false };
  }

  /** Names of the processes that hold the lease. */
  get holders(): readonly string[] {
    const holding = this.#incarnations.filter(({ process, lease }) => process.isAlive && lease.holds());
    return holding.map(({ process }) => process.identity.name);
  }

  /** Runs for so many ms, or until `isDone`. */
  async run(ms: number, isDone: () => boolean = () => false): Promise<boolean> {
    return await this.time.run(this.time.now() + ms, isDone);
  }

  /** Runs until nothing is under way any more: every deletion gone or held, no message left, nobody at work for long. */
  async settle(ms: number): Promise<boolean> {
    const from = this.time.now();
    const isQuiet = () => this.time.now() >= Math.max(from, this.#lastAct) + QUIET_MS;
    return await this.run(ms, () => isQuiet() && this.#isSettled());
  }

  /** What happened, and what it takes to see it again. */
  report(): string {
    const { seed, faults = [] } = this.#options;
    const lines = this.calls.map(({ at, process, point, fault }, index) => {
      const struck = fault === undefined ? '' : `  <- ${fault.kind} ${fault.side}`;
      return `${String(index).padStart(4)} ${new Date(at).toISOString().slice(11, 23)} ${process} ${point}${struck}`;
    });
    return [`seed ${seed}, faults ${JSON.stringify(faults)}`, ...this.promises.broken, ...lines].join('\n');
  }

  passFaultPoint({ identity }: SimulatedProcess, point: string): Kind | undefined {
    const number = this.calls.length;
    const fault = this.#options.faults?.find(({ call }) => call === number) ?? this.#strikeAt(point);
    this.calls.push({ at: this.time.now(), process: identity.name, point, fault });
    this.#options.onCall?.(this, number);
    return fault;
  }

  onHandedOver(process: SimulatedProcess, point: string): void {
    const lease = this.#incarnations.find((one) => one.process === process)?.lease;
    if (lease?.holds() !== false || !ACTS.test(point)) return;
    this.promises.note('V3', `${process.identity.name} acts without the lease: ${point}`);
  }

  #strikeAt(point: string): Kind | undefined {
    const times = this.calls.filter((call) => call.point === point).length;
    return this.#options.strike?.(point, times);
  }

  onWire(change: 1 | -1, point: string): void {
    this.#wire += change;
    if (!point.startsWith('watch')) this.#lastAct = this.time.now();
  }

  endOthers(process: SimulatedProcess): void {
    for (const other of this.functions.running()) if (other !== process) this.functions.forget(other);
    for (const { process: other } of this.#incarnations) if (other !== process && other.isAlive) this.crash(other);
  }

  onFault(process: SimulatedProcess, kind: Kind['kind']): void {
    if (kind === 'crash' && process.identity.role === 'function') this.functions.forget(process);
    if (process.identity.role === 'function') return;
    if (kind === 'crash') this.#restart(process);
    // Where there is an election the process finds out by itself.
    if (kind === 'stall' && this.#options.election !== true) {
      // Whoever stands still loses the lease, and ends as soon as it notices.
      this.takeLease(process);
      this.time.after(STALL_MS + 1_000, () => process.kill());
      this.#restart(process);
    }
  }

  #restart(process: SimulatedProcess, start?: BridgeStart): void {
    const before = this.#incarnations.find((one) => one.process === process);
    this.#restarts += 1;
    this.time.after(this.#options.restartMs ?? RESTART_MS, () => {
      this.#restarts -= 1;
      this.startBridge(start ?? before?.start);
    });
  }

  #startFunction(batch: readonly ReceivedMessage[]): SimulatedProcess {
    const name = `function-${this.#batches.size + 1}`;
    this.#batches.set(name, batch);
    const skew = this.#options.functionSkew ?? 0;
    return new SimulatedProcess(this, { role: 'function', name, sender: `${FUNCTION_ROLE}:${name}`, skew });
  }

  #isSettled(): boolean {
    if (this.#wire > 0 || this.#restarts > 0 || this.functions.running().length > 0) return false;
    if (this.requests.size > 0 || this.results.size > 0) return false;
    if (this.#incarnations.some(({ process }) => process.callsInFlight > 0)) return false;
    const pending = this.server.all(KIND).filter((object) => isDeleting(object) && hasOurEntry(object));
    return pending.every(isHeld);
  }
}
