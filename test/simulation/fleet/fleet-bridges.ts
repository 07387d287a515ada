/*
 * The bridges of a world: put together as main.ts does it, over simulated ports, each with a keeper of the rules and, where
 * there is an election, a candidacy. Made by fleet-world.ts. What died is started again some time later.
 */
import type { Bridge } from '../../../bridge/bridge.ts';
import type { EventInput, Lease } from '../../../bridge/ports.ts';
import type { startRuleKeeper } from '../../../bridge/rule-keeper.ts';
import { EVERYWHERE, type Served } from '../../../bridge/served.ts';
import { FakeLeases } from '../../support/fake-leases.ts';
import type { ApiServer } from '../api-server.ts';
import { standForLeader } from '../election.ts';
import { BRIDGE_ROLE } from '../function-host.ts';
import { SimulatedProcess, type Surroundings } from '../process.ts';
import type { Queues } from '../queue-port.ts';
import type { WatchFaults } from '../watch-faults.ts';
import type { Product } from '../world-options.ts';
import { CrashBackoff } from './crash-backoff.ts';
import { lead } from './lead.ts';
import type { LaterForm, Weather } from './plan.ts';
import type { Site } from './site.ts';

/** What bridges are made of. */
export interface BridgesOptions {
  readonly surroundings: Surroundings;
  readonly server: ApiServer;
  readonly site: Site;
  readonly queues: Queues;
  readonly handlers: Readonly<Record<string, string>>;
  readonly weather: Weather;
  /** The version that runs first, where it is a later one. */
  readonly later: LaterForm | undefined;
  readonly product: Partial<FleetProduct>;
  isCalm(): boolean;
  isRefused(): boolean;
  readonly watchFaults: WatchFaults;
  onEvent(event: EventInput): void;
}

/** The parts of the product that run in a world; a mutant brings its own. */
export interface FleetProduct extends Product {
  readonly startRuleKeeper: typeof startRuleKeeper;
}

/** One bridge from its start to its end. */
export interface Incarnation {
  readonly process: SimulatedProcess;
  readonly slot: number;
  readonly handlers: Readonly<Record<string, string>>;
  readonly served: Served;
  /** How it writes, where it is of a later version. */
  readonly later: LaterForm | undefined;
  bridge: Bridge | undefined;
  lease: Lease;
}

/** In an election the second is started again when the first one is there again. */
const ROLLS_AFTER_MS = 30_000;

/** All bridges of a world. */
export class FleetBridges {
  readonly leases = new FakeLeases();
  readonly #options: BridgesOptions;
  readonly #living = new Set<Incarnation>();
  /** What each bridge was told to serve, living or not. */
  readonly #served = new Map<string, Served>();
  readonly #backoffs: readonly CrashBackoff[];
  #count = 0;
  #isLater: boolean;
  #restarts = 0;
  #isOver = false;
  /** The only slot in which a bridge runs, once one is left. */
  #left: number | undefined;

  constructor(options: BridgesOptions) {
    this.#options = options;
    this.#isLater = options.later !== undefined;
    this.#backoffs = options.weather.bridgeSkews.map(() => new CrashBackoff(options.weather.restartMs));
  }

  /** The bridges that live and have begun to act. */
  get acting(): readonly Bridge[] {
    return [...this.#living].flatMap(({ bridge }) => bridge ?? []);
  }

  /** Whether the process of that name lives. */
  isAlive(name: string): boolean {
    return [...this.#living].some(({ process }) => process.identity.name === name);
  }

  /** What the process of that name was told to serve; undefined for one that is no bridge. */
  servedBy(name: string): Served | undefined {
    return this.#served.get(name);
  }

  get isRestarting(): boolean {
    return this.#restarts > 0;
  }

  get isCalling(): boolean {
    return [...this.#living].some(({ process }) => process.callsInFlight > 0);
  }

  /** Whether a process lives and must not act: it has lost its lease, or never had it. */
  isStranger(process: SimulatedProcess): boolean {
    const incarnation = this.#of(process);
    return incarnation !== undefined && !incarnation.lease.holds();
  }

  /** Starts one bridge, or two that stand side by side. */
  start(): void {
    this.#start(0);
    if (this.#options.weather.leaders !== 'one') this.#start(1);
  }

  /** Ends a bridge by a crash; the first that acts unless one is named. `without`: a handler that the next one is not told of. */
  crash(process = this.#leader()?.process, without?: string): void {
    const incarnation = process && this.#of(process);
    if (incarnation === undefined) return;
    incarnation.process.kill();
    this.#living.delete(incarnation);
    this.#restart(incarnation, without);
  }

  /** Starts those again that were not told of every handler. */
  tellHandlers(): void {
    const all = Object.keys(this.#options.handlers).length;
    for (const { process, handlers } of [...this.#living]) if (Object.keys(handlers).length < all) this.crash(process);
  }

  /** Starts all of them again with the configuration as it is now; where there is an election, one after the other. */
  upgrade(): void {
    const { surroundings, weather } = this.#options;
    for (const { process, slot } of [...this.#living]) {
      const end = () => this.#endInOrder(process);
      if (weather.leaders === 'election' && slot > 0) surroundings.time.after(ROLLS_AFTER_MS, end);
      else end();
    }
  }

  /** Goes from a later version to this one, by a rollback, and to the later one again. */
  changeVersion(isLater = !this.#isLater): void {
    if (isLater === this.#isLater) return;
    this.#isLater = isLater;
    this.upgrade();
  }

  /** Takes the lease away, as somebody with the rights may. */
  rob(): void {
    if (this.#options.weather.leaders === 'election') this.leases.put({ holder: 'somebody' });
    else this.crash();
  }

  /** Tells that a process stood still: without an election, whoever stands still loses the lease and ends. */
  stalled(process: SimulatedProcess): void {
    const incarnation = this.#of(process);
    if (incarnation === undefined || this.#options.weather.leaders === 'election') return;
    incarnation.lease = { holds: () => false };
    this.crash(process);
  }

  /** Stands still, as a machine that is overloaded does. */
  stall(): SimulatedProcess | undefined {
    return this.#leader()?.process;
  }

  /** Leaves one for good: of two that both believe to lead the first, as a lease does within seconds; else who leads. */
  leaveOne(): void {
    const leader = this.#options.weather.leaders === 'election' ? this.#leader() : undefined;
    const left = leader?.slot ?? 0;
    this.#left = left;
    for (const incarnation of [...this.#living]) {
      if (incarnation.slot === left) continue;
      incarnation.process.kill();
      this.#living.delete(incarnation);
    }
  }

  /** Ends all for good. */
  end(): void {
    this.#isOver = true;
    for (const { process } of this.#living) process.kill();
    this.#living.clear();
  }

  #leader(): Incarnation | undefined {
    return [...this.#living].find(({ bridge }) => bridge !== undefined);
  }

  #of(process: SimulatedProcess): Incarnation | undefined {
    for (const incarnation of this.#living) if (incarnation.process === process) return incarnation;
    return undefined;
  }

  #restart({ slot }: Incarnation, without?: string): void {
    if (this.#isOver) return;
    const { surroundings, weather } = this.#options;
    const { time } = surroundings;
    this.#startLater(slot, this.#backoffs[slot]?.ended(time.now()) ?? weather.restartMs, without);
  }

  /** As a Deployment does: the one that comes in its place is a new one, which no crash before it makes wait. */
  #endInOrder(process: SimulatedProcess): void {
    const incarnation = this.#of(process);
    if (incarnation === undefined || this.#isOver) return;
    process.kill();
    this.#living.delete(incarnation);
    this.#startLater(incarnation.slot, this.#options.weather.restartMs);
  }

  #startLater(slot: number, ms: number, without?: string): void {
    const { surroundings, isCalm } = this.#options;
    this.#restarts += 1;
    surroundings.time.after(ms, () => {
      this.#restarts -= 1;
      // Who was to be told of all handlers when the faults ended may not have been there.
      if (!this.#isOver && slot === (this.#left ?? slot)) this.#start(slot, isCalm() ? undefined : without);
    });
  }

  #start(slot: number, without?: string): void {
    const { surroundings, weather, handlers, site, isCalm } = this.#options;
    this.#count += 1;
    this.#backoffs[slot]?.started(surroundings.time.now());
    const name = `bridge-${this.#count}`;
    const skew = weather.bridgeSkews[slot] ?? 0;
    const process = new SimulatedProcess(surroundings, {
      role: 'bridge',
      name,
      sender: `${BRIDGE_ROLE}:${name}`,
      skew,
    });
    const known = Object.fromEntries(Object.entries(handlers).filter(([handler]) => handler !== without));
    const incarnation: Incarnation = {
      ...{ process, slot, handlers: known, bridge: undefined, lease: { holds: () => true } },
      served: site.chart?.served ?? EVERYWHERE,
      later: this.#isLater ? this.#options.later : undefined,
    };
    this.#living.add(incarnation);
    this.#served.set(name, incarnation.served);
    if (weather.leaders !== 'election') {
      lead(this.#options, incarnation);
      return;
    }
    incarnation.lease = standForLeader({
      ...{ leases: this.leases, process, random: surroundings.random, options: { seed: 0 }, isCalm },
      elected: () => lead(this.#options, incarnation),
      lost: () => this.crash(process),
    });
  }
}
