/*
 * What a world is made with, and what it writes down. Types only.
 * Given by deletion.ts, the traps and storm.ts to world.ts.
 */
import type { startBridge } from '../../bridge/bridge.ts';
import type { Candidate } from '../../bridge/leader.ts';
import type { ApiError } from '../../bridge/ports.ts';
import type { RuleBook } from '../../bridge/rule-book.ts';
import type { Served } from '../../bridge/served.ts';
import type { createDispatch } from '../../functions/dispatch.ts';
import type { Fate } from '../support/fake-leases.ts';
import type { Fault, Kind } from './process.ts';
import type { QueueSettings } from './queue.ts';
import type { WatchFaults } from './watch-faults.ts';
import type { World } from './world.ts';

/** The code under test; a mutant brings its own. */
export interface Product {
  readonly startBridge: typeof startBridge;
  readonly createDispatch: typeof createDispatch;
  readonly Candidate: typeof Candidate;
  readonly ApiError: typeof ApiError;
}

/** How a world is. Times in ms. */
export interface WorldOptions {
  readonly seed: number;
  readonly faults?: readonly Fault[];
  readonly product?: Product;
  /** A fault chosen by what is called; `times` counts the calls of a point, from 0. */
  readonly strike?: (point: string, times: number) => Kind | undefined;
  /** Since when the term is known to be in force, in ms since the epoch; files do not say. */
  readonly termHeldSince?: number;
  /** Replaces parts of the rule's spec. */
  readonly rule?: Readonly<Record<string, unknown>>;
  /** The rules themselves, for scenarios that edit them while a bridge lives; otherwise those of `rule`. */
  readonly book?: RuleBook;
  /** The namespaces that bridges serve; all of them unless told. */
  readonly served?: Served;
  readonly queue?: Partial<QueueSettings>;
  /** How far the functions' clocks are ahead. */
  readonly functionSkew?: number;
  /** How long the handler is busy with something else between its proof of ownership and its step. */
  readonly handlerRestsMs?: number;
  /** Whether bridges stand for leader over a lease, as they do in a cluster; otherwise each one has it until it is taken. */
  readonly election?: boolean;
  /** What becomes of a call about the lease; `process` is who makes it. */
  readonly leaseFate?: (process: string) => Fate;
  /** From the end of a bridge to the start of the next. */
  readonly restartMs?: number;
  /** How far watches are behind. */
  readonly watchLag?: (random: () => number) => number;
  /** What happens to watches. */
  readonly watchFaults?: WatchFaults;
  /** Told of each port call before it is made: where others act at a chosen moment. */
  readonly onCall?: (world: World, call: number) => unknown;
}

/** One port call that was made. */
export interface TracedCall {
  readonly at: number;
  readonly process: string;
  readonly point: string;
  readonly fault: Kind | undefined;
}

/** How a bridge is started. */
export interface BridgeStart {
  readonly skew?: number;
  /** Text of its rules; the world's by default. */
  readonly rules?: string;
  readonly watchLag?: () => number;
}
