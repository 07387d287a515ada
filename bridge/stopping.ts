/*
 * How the process ends. In order: it takes nothing new, ends what runs, and gives the lease back, so that another bridge goes
 * on within seconds. What does not end in time is left: every message and every object is looked at again by whoever leads
 * next, and a patch that is still on its way is guarded by what was read. Called by main.ts.
 */
import { constants } from 'node:os';
import type { Bridge } from './bridge.ts';
import type { Candidate } from './leader.ts';
import { explain, type Log } from './log.ts';
import type { Clock } from './ports.ts';
import type { RuleKeeper } from './rule-keeper.ts';
import type { Server } from './server.ts';
import { within } from './time-out.ts';

/** What runs is waited for this long: a queue or an API server that is silent holds up nobody else. */
const END_WITHIN_MS = 1_500;
/** If even that hangs. Far below the usual 30 s grace period of a Pod. */
const STOP_WITHIN_MS = 8_000;

/** The exit codes, beside 128 + n for a second signal n. */
export const EXIT = { stopped: 0, failed: 1, usage: 2, lostLease: 3 } as const;

/** What a start has brought up so far; the server answers before the API server does. */
export interface Running {
  server?: Server;
  candidate?: Candidate;
  bridge?: Bridge;
  /** Where rules come from the API. */
  keeper?: RuleKeeper;
}

/** What ending needs. */
export interface StopOptions {
  readonly running: { readonly [Part in keyof Running]: Pick<NonNullable<Running[Part]>, 'stop'> };
  readonly clock: Clock;
  readonly log: Log;
  readonly exit: (code: number) => void;
}

/** Ends the process in order, once. */
export class Stopping {
  readonly #options: StopOptions;
  #isStopping = false;

  constructor(options: StopOptions) {
    this.#options = options;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The first signal ends in order, the second at once. */
  onSignal(signal: 'SIGTERM' | 'SIGINT'): void {
    const { log, exit } = this.#options;
    if (this.#isStopping) {
      log.warn({ signal }, 'ending at once: a second signal');
      exit(128 + constants.signals[signal]);
      return;
    }
    log.info({ signal }, 'stopping the bridge');
    void this.end(EXIT.stopped);
  }

  /** Ends with that code; what fails on the way is said, and keeps nothing from ending. */
  async end(code: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { running, clock, log, exit } = this.#options;
    clock.after(STOP_WITHIN_MS, () => {
      log.error({}, 'stopping the bridge: it hangs');
      exit(EXIT.failed);
    });
    try {
      await within({ clock, ms: END_WITHIN_MS }, async () => {
        await Promise.all([running.keeper?.stop(), running.bridge?.stop()]);
      });
    } catch (error) {
      log.warn({ err: explain(error) }, 'ending what runs: left to whoever leads next');
    }
    try {
      await running.candidate?.stop();
      await running.server?.stop();
    } catch (error) {
      log.warn({ err: explain(error) }, 'stopping the bridge: going on');
    }
    log.info({ code }, 'stopping the bridge: done');
    exit(code);
  }
}
