/*
 * One incarnation of a process (a bridge, or one run of a function) and the fault points that its port calls pass.
 * Made by world.ts; the ports of cluster-port.ts, queue-port.ts and cloud-handler.ts go through `call`.
 * A dead incarnation never acts again: its promises stay open, its timers do not fire, its calls do nothing.
 */
import type { Clock } from '../../bridge/ports.ts';
import type { VirtualTime } from './clock.ts';

/**
 * What happens at a port call. `crash` ends the caller, `crash-others` every other process, `error` gives the caller an
 * error for an answer, `stall` stops the whole caller for five minutes.
 * `before`: the call has not taken effect yet (of `crash` and `error`: it never will). `after`: it has, the answer has
 * not come (and of `crash` and `error` never will). `late`: as `after`, and the effect comes long after from the wire.
 */
export type Kind =
  | { readonly kind: 'crash' | 'crash-others' | 'error' | 'stall'; readonly side: 'before' | 'after' | 'late' }
  /** An error that says so much of itself. */
  | ({ readonly kind: 'answer'; readonly side: 'before' | 'after' } & Refusal)
  /** It takes effect, and the caller waits in vain until it gives up. */
  | { readonly kind: 'mute'; readonly side: 'after' }
  /** The way there or back takes so many ms longer: less than a caller waits. */
  | { readonly kind: 'slow'; readonly side: 'before' | 'after'; readonly ms: number };

/** What a server says instead of the answer. `status` is of HTTP, `retryAfter` in ms. */
export interface Refusal {
  readonly status: number;
  readonly retryAfter?: number;
}

/** A fault at a call, by the number of the call in the world, from 0. */
export type Fault = Kind & { readonly call: number };

/** What processes need of their world. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly random: () => number;
  /** Told of a call as its process hands it over: one that stands still then makes it when it goes on. */
  onHandedOver(process: SimulatedProcess, point: string): void;
  /** Numbers a call and says what is to happen at it. */
  passFaultPoint(process: SimulatedProcess, point: string): Kind | undefined;
  /** Told of each call that goes out on the wire and of each that has arrived. */
  onWire(change: 1 | -1, point: string): void;
  /** Ends every other process. */
  endOthers(process: SimulatedProcess): void;
  /** Told when a process ends or stops by a fault. */
  onFault(process: SimulatedProcess, kind: Kind['kind']): void;
}

/** Who a process is. `sender` is what the queue says of it, `skew` (ms) how far its clock is ahead. */
export interface Identity {
  readonly role: 'bridge' | 'function';
  readonly name: string;
  readonly sender: string;
  readonly skew: number;
}

/**
 * One port call: what it does to the model, and what the caller sees when the connection fails, or is told. `handedOverAt`, ms
 * since the epoch: when the process made the call, however late it arrives.
 */
export interface PortCall<T> {
  readonly point: string;
  readonly effect: (handedOverAt: number) => T;
  readonly lost: (told?: Refusal) => Error;
}

/** A call that knows when it was handed over. */
type Wired<T> = PortCall<T> & { readonly effect: () => T };

/** Slowest way to a model and back, each, in ms. */
const LATENCY_MAX_MS = 20;
/** How long a stalled process stands still. */
export const STALL_MS = 5 * 60_000;
const LATE_MS = 90_000;
/** A caller gives up a call that is not answered for this long, as the real ports do. */
const GIVES_UP_MS = 15_000;

/** One incarnation. */
export class SimulatedProcess {
  readonly identity: Identity;
  readonly #world: Surroundings;
  readonly #born: number;
  #alive = true;
  #resumesAt = 0;
  #slept = 0;
  #wallStoppedAt: number | undefined;
  /** What tells the caller of each call in flight that no answer came. */
  readonly #inFlight = new Set<() => void>();
  readonly #clock: Clock = {
    now: () => (this.#wallStoppedAt ?? this.#world.time.now()) + this.identity.skew,
    monotonic: () => this.#world.time.now() - this.#born - this.#slept,
    after: (ms, task) => this.later(ms, task),
  };

  constructor(world: Surroundings, identity: Identity) {
    this.#world = world;
    this.identity = identity;
    this.#born = world.time.now();
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  /** Calls whose answer has not come yet. */
  get callsInFlight(): number {
    return this.#alive ? this.#inFlight.size : 0;
  }

  /** Ends it without a word. */
  kill(): void {
    this.#alive = false;
  }

  /** Stands still for so many ms, as under SIGSTOP; `asleep`: with its machine, whose monotonic clock stands still as well. */
  pause(ms: number, asleep?: 'asleep'): void {
    this.#resumesAt = this.#world.time.now() + ms;
    if (asleep !== undefined) this.#slept += ms;
  }

  /** Its wall clock goes on no more. */
  stopWallClock(): void {
    this.#wallStoppedAt = this.#world.time.now();
  }

  /** Ends all its connections: what is on the wire arrives, and no answer comes. */
  sever(): void {
    for (const lose of this.#inFlight) this.#answer(lose, { ms: 0, settle: lose });
  }

  /** Its clock: may be off, and its timers end with it. */
  clock(): Clock {
    return this.#clock;
  }

  /** Runs a task in this process after `ms`: not while it stands still, never once it is dead. */
  later(ms: number, task: () => void): () => void {
    const { time } = this.#world;
    const run = () => {
      if (!this.#alive) return;
      const rest = this.#resumesAt - time.now();
      if (rest > 0) time.after(rest, run);
      else task();
    };
    return time.after(ms, run);
  }

  /** Makes a call through the fault points; never resolves once the process is dead. */
  call<T>({ point, effect, lost }: PortCall<T>): Promise<T> {
    if (this.#alive) this.#world.onHandedOver(this, point);
    const handedOverAt = this.#world.time.now();
    const call: Wired<T> = { point, effect: () => effect(handedOverAt), lost };
    return new Promise<T>((resolve, reject) => {
      if (this.#resumesAt > this.#world.time.now()) this.later(0, () => this.#begin(call, resolve, reject));
      else if (this.#alive) this.#begin(call, resolve, reject);
    });
  }

  #begin<T>({ point, effect, lost }: Wired<T>, resolve: (value: T) => void, reject: (error: unknown) => void): void {
    const { time, random } = this.#world;
    const fault = this.#world.passFaultPoint(this, point);
    const reach = 1 + random() * LATENCY_MAX_MS + delayOf(fault, 'before');
    const back = 1 + random() * LATENCY_MAX_MS + delayOf(fault, 'after');
    const lose = () => reject(lost());
    this.#inFlight.add(lose);
    const answer = (ms: number, settle: () => void) => this.#answer(lose, { ms, settle });
    if (fault !== undefined && fault.side !== 'after') this.#strike(fault);
    if (fault?.side === 'before' && fault.kind === 'crash') return;
    const failure = failureOf(fault);
    if (fault?.side === 'before' && failure !== undefined) {
      answer(reach + back, () => reject(lost(failure.told)));
      return;
    }
    // What is on the wire arrives, whether or not its sender lives to hear the answer.
    this.#world.onWire(1, point);
    time.after(reach, () => {
      this.#world.onWire(-1, point);
      const settle = attempt(effect, resolve, reject);
      if (fault?.side === 'after') this.#strike(fault);
      answer(back, failure === undefined ? settle : () => reject(lost(failure.told)));
    });
  }

  /** Once for each call: the first that comes counts. `lose` is what the call is known by. */
  #answer(lose: () => void, { ms, settle }: { readonly ms: number; readonly settle: () => void }): void {
    this.later(ms, () => {
      if (this.#inFlight.delete(lose)) settle();
    });
  }

  #strike({ kind }: Kind): void {
    if (!this.#alive) return;
    if (kind === 'crash') this.kill();
    if (kind === 'crash-others') this.#world.endOthers(this);
    if (kind === 'stall') this.#resumesAt = this.#world.time.now() + STALL_MS;
    this.#world.onFault(this, kind);
  }
}

/** How much longer the way there (`before`) or back (`after`) takes, in ms. */
function delayOf(fault: Kind | undefined, side: 'before' | 'after'): number {
  if (fault?.kind === 'slow') return fault.side === side ? fault.ms : 0;
  if (fault?.kind === 'mute') return side === 'after' ? GIVES_UP_MS : 0;
  return fault?.side === 'late' && side === 'before' ? LATE_MS : 0;
}

/** What the caller is told instead of the answer; undefined where it is answered. */
function failureOf(fault: Kind | undefined): { readonly told?: Refusal } | undefined {
  if (fault?.kind === 'answer') return { told: fault };
  return fault?.kind === 'error' || fault?.kind === 'mute' ? {} : undefined;
}

/** Lets the effect happen now; the returned function hands its answer over. */
function attempt<T>(effect: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const value = effect();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
