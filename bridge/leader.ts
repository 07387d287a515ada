/*
 * Stands for leader by the lease, and renews it while it leads. Started by main.ts, which begins to watch when this bridge
 * is elected and ends the process when the lease is lost: what an old leader holds in memory is worth nothing to anybody.
 * What to do next is decided by leader-state.ts; here are the calls, their time-outs and the clock.
 */
import {
  type Candidacy,
  givenBack,
  HOLD_MS,
  isLeading,
  LEASE_MS,
  type LeaseRecord,
  look,
  nextStep,
  type StoredLease,
  whyOver,
  won,
} from './leader-state.ts';
import { explain, type Log } from './log.ts';
import type { Clock, Lease, Leases, Random } from './ports.ts';
import { within } from './time-out.ts';

/** How often the leader renews, and how soon it tries again. */
const RENEW_EVERY_MS = 2_000;
/** How often the others look; a leader that leaves is followed within this. */
const LOOK_EVERY_MS = 1_000;
/** A call that takes longer is given up, so that another one fits in before the lease is lost. */
const CALL_WITHIN_MS = 3_000;
/** Leaving is in a hurry: without it the lease runs out by itself. */
const GIVE_BACK_WITHIN_MS = 1_000;
const AGAIN_MS = 100;

/** What standing for leader needs. */
export interface CandidateOptions {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  /** Of this process and no other, whatever host it runs on. */
  readonly identity: string;
  readonly log: Log;
}

/** One bridge that leads, or waits until it may. */
export class Candidate implements Lease {
  readonly #options: CandidateOptions;
  readonly #elected = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<string>();
  readonly #stopping = new AbortController();
  #candidacy: Candidacy;
  #stored: StoredLease | undefined;
  /** By the wall clock, which goes on where a machine that sleeps stops the other one. */
  #wonAtWall = 0;
  #isOver = false;
  #answeredAt: number | undefined;
  #failure: string | undefined;
  #wake = () => {};
  #done: Promise<void> | undefined;

  constructor(options: CandidateOptions) {
    this.#options = options;
    this.#candidacy = { identity: options.identity, seen: undefined, wonAt: undefined };
  }

  /** Resolves when this bridge leads for the first time. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Resolves with the reason when a bridge that led does so no more, for good. */
  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  /** Whether it was elected, and has not lost it since. */
  get isElected(): boolean {
    return this.#candidacy.wonAt !== undefined;
  }

  /** Why it cannot be told who leads; undefined while that is known. */
  get trouble(): string | undefined {
    const { clock } = this.#options;
    if (this.#answeredAt === undefined) return `the lease was not read yet${this.#because}`;
    const silence = clock.monotonic() - this.#answeredAt;
    return silence < LEASE_MS
      ? undefined
      : `the lease was not read for ${Math.round(silence / 1000)} s${this.#because}`;
  }

  /**
   * True while no other process can have it: by the monotonic clock, and not across a leap of the wall clock either, until
   * the lease was renewed after it.
   */
  holds(): boolean {
    const { clock } = this.#options;
    return !this.#isOver && isLeading(this.#candidacy, clock.monotonic()) && clock.now() - this.#wonAtWall < HOLD_MS;
  }

  /** Begins; returns at once. */
  start(): void {
    this.#done = this.#run();
  }

  /** Stands no more, and gives the lease back if it has it. Resolves within about a second; call it when nothing acts any more. */
  async stop(): Promise<void> {
    const { clock, log } = this.#options;
    const mayGiveBack = !this.#isOver && isLeading(this.#candidacy, clock.monotonic());
    this.#isOver = true;
    this.#stopping.abort();
    this.#wake();
    await this.#done;
    if (!mayGiveBack) return;
    try {
      await within({ clock, ms: GIVE_BACK_WITHIN_MS }, (signal) => this.#giveBack(signal));
      log.info({}, 'giving the lease back: done');
    } catch (error) {
      log.warn({ err: explain(error) }, 'giving the lease back: failed, it runs out by itself');
    }
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const pause = await this.#turn();
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        const cancel = this.#options.clock.after(pause, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  /** One look or one renewal; resolves to when the next is due, in ms. */
  async #turn(): Promise<number> {
    const { clock, log, random } = this.#options;
    const began = clock.monotonic();
    try {
      return await this.#step();
    } catch (error) {
      if (this.#isOver) return 0;
      this.#failure = explain(error);
      log.warn(
        { err: this.#failure },
        this.isElected ? 'renewing the lease: trying again' : 'looking at the lease: trying again',
      );
      // What was waited for in vain is pause enough.
      const pause = Math.max(AGAIN_MS, (RENEW_EVERY_MS / 2) * (1 + random()) - (clock.monotonic() - began));
      const { wonAt } = this.#candidacy;
      // Not a moment longer than it may be ours.
      return wonAt === undefined ? pause : Math.max(0, Math.min(pause, wonAt + HOLD_MS - clock.monotonic()));
    }
  }

  async #step(): Promise<number> {
    const { leases, clock, log, random } = this.#options;
    // Asked before any call: there is no time left for one.
    const why = whyOver(this.#candidacy, clock.monotonic());
    if (why !== undefined) {
      this.#lose(why);
      return 0;
    }
    // Who leads knows what stands there, and hears of it when it does not.
    const known = this.isElected ? this.#stored : undefined;
    const stored = known ?? (await this.#call((cut) => leases.get(cut)));
    if (this.#isOver) return 0;
    this.#candidacy = look(this.#candidacy, stored, clock.monotonic());
    const step = nextStep(this.#candidacy, stored, { monotonic: clock.monotonic(), wall: clock.now() });
    switch (step.act) {
      case 'wait':
        log.debug({ holder: step.holder, freeIn: step.freeAt - clock.monotonic() }, 'standing by');
        return LOOK_EVERY_MS * (0.5 + random() / 2);
      case 'lost':
        this.#lose(step.why);
        return 0;
      case 'create':
      case 'replace':
        return await this.#write(stored, step.record);
      default:
        return step satisfies never;
    }
  }

  async #write(stored: StoredLease | undefined, record: LeaseRecord): Promise<number> {
    const { leases, clock, log, identity } = this.#options;
    const [sentAt, wall] = [clock.monotonic(), clock.now()];
    const written = await this.#call((cut) =>
      stored === undefined ? leases.create(record, cut) : leases.replace(stored, record, cut),
    );
    if (this.#isOver) return 0;
    if (written === 'conflict') {
      this.#stored = undefined;
      return AGAIN_MS;
    }
    this.#stored = written;
    const wasElected = this.isElected;
    this.#candidacy = won(this.#candidacy, written, sentAt);
    this.#wonAtWall = wall;
    if (!wasElected) {
      const { holder, renewTime: heldUntil } = stored?.record ?? {};
      // Who gave it back has left no name.
      const before = holder === '' ? 'given back' : holder;
      log.info({ identity, transitions: record.transitions, before, heldUntil }, 'leading: this bridge has the lease');
      this.#elected.resolve();
    }
    return RENEW_EVERY_MS;
  }

  #lose(why: string): void {
    this.#isOver = true;
    this.#options.log.error({ identity: this.#options.identity, why }, 'losing the lease: this bridge acts no more');
    this.#lost.resolve(why);
  }

  async #giveBack(signal: AbortSignal): Promise<void> {
    const { leases, clock, identity } = this.#options;
    let stored = this.#stored;
    // The second time it is known what an answer that never came has left.
    for (let tries = 0; tries < 2; tries += 1) {
      stored ??= await leases.get(signal);
      if (stored === undefined || stored.record.holder !== identity) return;
      if ((await leases.replace(stored, givenBack(stored.record, clock.now()), signal)) !== 'conflict') return;
      stored = undefined;
    }
    throw new Error('giving the lease back: it keeps changing');
  }

  /** A call with a time-out, cut when the candidate stops. */
  async #call<T>(make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const { wonAt } = this.#candidacy;
    const rest = wonAt === undefined ? CALL_WITHIN_MS : wonAt + HOLD_MS - clock.monotonic();
    const ms = Math.max(0, Math.min(CALL_WITHIN_MS, rest));
    const answer = await within({ clock, ms, stop: this.#stopping.signal }, make);
    this.#answeredAt = clock.monotonic();
    this.#failure = undefined;
    return answer;
  }

  get #because(): string {
    return this.#failure === undefined ? '' : `: ${this.#failure}`;
  }
}
