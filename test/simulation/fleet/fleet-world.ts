/*
 * One world of many deletions: models, the real bridges and functions as processes in them, faults at their port calls by
 * chance, acts by plan, and a ledger that looks on. Run by fleet.ts; the same plan is the same run, whose hash says so.
 */

import { ApiServer } from '../api-server.ts';
import { nameOf } from '../call-faults.ts';
import { seededRandom, VirtualTime } from '../clock.ts';
import { Cloud } from '../cloud.ts';
import { FUNCTION_TIMEOUT_MS, RESULTS_URL } from '../function-host.ts';
import type { Fault, Kind, SimulatedProcess, Surroundings } from '../process.ts';
import { SimulatedQueue } from '../queue.ts';
import { drawnFaults, WATCH_FAULTS } from '../watch-faults.ts';
import { FleetBridges, type FleetProduct } from './fleet-bridges.ts';
import { FleetFunctions } from './fleet-functions.ts';
import { Ledger } from './ledger.ts';
import { watchMessages } from './ledger-messages.ts';
import { watchPlaces } from './ledger-places.ts';
import { watchWrites } from './ledger-writes.ts';
import type { FleetPlan } from './plan.ts';
import { Site } from './site.ts';
import { Tally } from './tally.ts';
import { Trace } from './trace.ts';

/** The handlers of every world, and the queues that feed them. */
export const HANDLERS = {
  machine: 'https://queues.example.com/requests-machine',
  disk: 'https://queues.example.com/requests-disk',
} as const;

const RESULT_VISIBILITY_MS = 60_000;
const STALL_CALL = { kind: 'stall', side: 'before' } as const;

/** A world. */
export class FleetWorld implements Surroundings {
  readonly time = new VirtualTime();
  readonly random: () => number;
  readonly server = new ApiServer(this.time);
  readonly cloud = new Cloud(this.time);
  readonly results: SimulatedQueue;
  readonly requests: readonly SimulatedQueue[];
  readonly site: Site;
  readonly ledger: Ledger;
  readonly bridges: FleetBridges;
  readonly functions: readonly FleetFunctions[];
  readonly trace: Trace;
  readonly faults = new Tally();
  readonly plan: FleetPlan;
  readonly #chance: () => number;
  /** Bridges that stand still at their next call. */
  #stalls = 0;
  #isCalm = false;
  #wire = 0;
  #events = 0;

  constructor(plan: FleetPlan, product: Partial<FleetProduct> = {}, trace = new Trace()) {
    this.plan = plan;
    this.trace = trace;
    const { weather, seed } = plan;
    this.random = seededRandom(seed + 1);
    this.#chance = seededRandom(seed + 2);
    const { time, server, cloud } = this;
    this.results = this.#queue(RESULTS_URL, RESULT_VISIBILITY_MS);
    const queues = new Map(
      [...Object.values(HANDLERS).map((url) => this.#queue(url, 6 * FUNCTION_TIMEOUT_MS)), this.results].map(
        (queue) => [queue.url, queue],
      ),
    );
    this.requests = [...queues.values()].filter((queue) => queue !== this.results);
    const { admission, admissionLagMs } = weather;
    this.site = new Site({ time, server, admission, admissionLagMs, served: plan.served, boundBy: plan.boundBy });
    this.ledger = new Ledger({
      ...{ time, server, cloud, plan, results: this.results, requests: this.requests },
      chart: this.site.chart,
      isBridgeAlive: (name) => this.bridges.isAlive(name),
      servedBy: (name) => this.bridges.servedBy(name),
      batchOf: (name) => this.functions.map((one) => one.batchOf(name)).find((batch) => batch !== undefined),
    });
    watchWrites(this.ledger);
    watchMessages(this.ledger);
    if (this.site.chart !== undefined) watchPlaces(this.ledger, this.site.chart);
    const isRefused = () =>
      !this.#isCalm && this.#chance() < weather.refusedShare && this.faults.count('queue refused');
    const common = { surroundings: this, queues, product, isRefused };
    this.functions = Object.entries(HANDLERS).map(([handler, url]) => {
      const requests = queues.get(url) ?? this.results;
      const own = { skew: weather.functionSkew, ownershipNone: plan.allowsNone === true };
      return new FleetFunctions({ ...common, handler, requests, cloud, ...own });
    });
    const struck = drawnFaults(this.#chance, weather.watchFaultShare, WATCH_FAULTS);
    this.bridges = new FleetBridges({
      ...{ ...common, server, site: this.site, handlers: HANDLERS, weather, later: plan.later },
      isCalm: () => this.#isCalm,
      watchFaults: () => {
        const fault = this.#isCalm ? undefined : struck();
        if (fault !== undefined) this.faults.count(`watch ${fault.kind}`);
        return fault;
      },
      onEvent: () => {
        this.#events += 1;
      },
    });
    server.onWrite(({ path, by, after }) =>
      this.trace.line(
        time.now(),
        by,
        `wrote ${path.resource}/${path.name} ${after?.metadata.resourceVersion ?? 'off'}`,
      ),
    );
  }

  /** Events that bridges have told. */
  get events(): number {
    return this.#events;
  }

  /** Runs for so many ms, or until `isDone`. */
  async run(ms: number, isDone: () => boolean = () => false): Promise<boolean> {
    return await this.time.run(this.time.now() + ms, isDone);
  }

  /** From now on nothing goes wrong any more. */
  calm(): void {
    this.#isCalm = true;
    this.#stalls = 0;
    this.site.calm();
    if (!this.isRightless) this.mend();
    this.bridges.tellHandlers();
    for (const queue of [...this.requests, this.results]) {
      queue.calm();
      queue.purge(({ messageId }) => this.ledger.forged.has(messageId));
    }
  }

  /** Whether rights that nothing keeps went with their namespace: before somebody gives others, each rule has to say so. */
  get isRightless(): boolean {
    return (this.site.chart?.rightless.length ?? 0) > 0;
  }

  /** Puts right what people have to. */
  mend(): void {
    this.bridges.changeVersion(false);
    if (this.site.chart?.mend() === true) this.bridges.upgrade();
  }

  /** The next call of a bridge finds it standing still. */
  stall(): void {
    this.#stalls += 1;
  }

  /** Whether nothing is under way any more. */
  isSettled(): boolean {
    if (this.ledger.open.size > 0 || this.bridges.isRestarting) return false;
    if (this.functions.some(({ busy }) => busy > 0)) return false;
    return this.results.size + this.requests.reduce((sum, { size }) => sum + size, 0) === 0;
  }

  passFaultPoint(process: SimulatedProcess, point: string): Kind | undefined {
    const fault = this.#isCalm ? undefined : this.#draw(process);
    const { name } = process.identity;
    this.trace.line(this.time.now(), name, fault === undefined ? point : `${point} <- ${fault.kind} ${fault.side}`);
    if (fault !== undefined) this.faults.count(`call ${nameOf(fault)}`);
    if (this.plan.weather.isFair) this.#countCall(point);
    return fault;
  }

  /** No look at the lease can be later than this: who is stopped between the look and the call makes it when it goes on. */
  onHandedOver(process: SimulatedProcess, point: string): void {
    const isAct = point.startsWith('patch') || point === 'send requests';
    if (!isAct || !this.bridges.isStranger(process)) return;
    this.ledger.note('P5', '', `${process.identity.name} acts without the lease: ${point}`);
  }

  onWire(change: 1 | -1): void {
    this.#wire += change;
  }

  /** Calls on the wire. */
  get wire(): number {
    return this.#wire;
  }

  endOthers(): void {}

  onFault(process: SimulatedProcess, kind: Fault['kind']): void {
    const { role } = process.identity;
    if (kind === 'crash' && role === 'function') for (const one of this.functions) one.died(process);
    if (kind === 'crash' && role === 'bridge') this.bridges.crash(process);
    if (kind === 'stall' && role === 'bridge') this.bridges.stalled(process);
  }

  #draw({ identity }: SimulatedProcess): Kind | undefined {
    if (this.#stalls > 0 && identity.role === 'bridge') {
      this.#stalls -= 1;
      return STALL_CALL;
    }
    const { faultShare, faults, crashShare = 1 } = this.plan.weather;
    if (faultShare === 0 || faults.length === 0 || this.#chance() >= faultShare) return undefined;
    const fault = faults[Math.floor(this.#chance() * faults.length)];
    const isRare = fault?.kind === 'crash' && identity.role === 'bridge' && crashShare < 1;
    if (isRare && this.#chance() >= crashShare) return undefined;
    // A 409 or 422 is the API server's word about a write; queues and clouds have others.
    return fault;
  }

  /** For the price of a deletion, which is asked for in fair weather only. */
  #countCall(point: string): void {
    const verb = point.startsWith('get ') ? 'get' : point.startsWith('patch ') ? 'patch' : undefined;
    if (verb === undefined) return;
    for (const hold of this.ledger.namesakes.get(point.slice(verb.length + 1)) ?? []) hold.calls[verb] += 1;
  }

  #queue(url: string, visibilityMs: number): SimulatedQueue {
    const { queue, lostShare } = this.plan.weather;
    const made = new SimulatedQueue(this, url, { visibilityMs, maxReceiveCount: 1_000, ...queue });
    if (lostShare > 0) {
      made.keepOnly(() => this.#isCalm || this.#chance() >= lostShare || !this.faults.count('queue lost'));
    }
    return made;
  }
}
