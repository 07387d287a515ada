/*
 * A run's only way to the outside. Every call checks the abort signal, has a time-out of at most 30 s and is classified;
 * a destructive call needs a proof of ownership that is no older than 5 s, or goes to somebody who proves it himself.
 * Made by run.ts, used by handlers. Looks are repeated on trouble that passes; what may destroy never is.
 */
import { CALL_TIMEOUT_MS, type Ownership } from '../bridge/contract.ts';
import { classify, type ErrorTable, type Fault, isTransient, type Meaning } from './aws-errors.ts';
import { judgeOwnership, type OwnershipVerdict, type Tags } from './ownership.ts';
import { type Clock, type Log, pause, type Random } from './ports.ts';

/** Longest time between a proof of ownership and the destructive call that leans on it. */
export const PROOF_MAX_AGE_MS = 5_000;
const LOOK_ATTEMPTS = 3;
const LOOK_BACKOFF_MS = 200;

/** What an SDK client's `send` takes as its second argument. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/** The answer of a call: done, or a classified fault that the handler has to know. "Again" is thrown. */
export type Answer<T> =
  | { readonly means: 'done'; readonly value: T }
  | (Fault & { readonly means: Exclude<Meaning, 'again'> });

/** Ways out for one run. */
export interface Calls {
  /** A call that changes nothing. @throws CallFailed for "again", OutOfTime after the abort signal. */
  look<T>(call: string, send: (options: CallOptions) => Promise<T>): Promise<Answer<T>>;
  /** A call that changes something. @throws as `look`, and Error if ownership was not proven just before. */
  destroy<T>(call: string, send: (options: CallOptions) => Promise<T>): Promise<Answer<T>>;
  /**
   * A call that takes back what this very deletion had put there, told by the deletion's uid: it needs no proof, since it
   * is made when ownership may be lost. @throws as `look`
   */
  restore<T>(call: string, send: (options: CallOptions) => Promise<T>): Promise<Answer<T>>;
  /**
   * A call that asks somebody else to prove ownership and to take down: he was told what is required, and his answer has
   * to show what he read. Never repeated. @throws as `look`.
   */
  ask<T>(call: string, send: (options: CallOptions) => Promise<T>): Promise<Answer<T>>;
  /** Judges the tags that were just read; a proof counts for 5 s. */
  prove(tags: Tags): OwnershipVerdict;
  /** Age in ms of the last proof, infinite if there is none. */
  proofAge(): number;
}

/** A call that has to be tried again, with its classification. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly fault: Fault;
  constructor(fault: Fault, cause: unknown) {
    super(`calling ${fault.call}: ${fault.code}${fault.status === undefined ? '' : ` (HTTP ${fault.status})`}`, {
      cause,
    });
    this.fault = fault;
  }
}

/** The abort signal came; no further call is made in this run. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** Told of each call as it begins; a test kit may throw here, as if the call had failed. */
export type Observe = (call: string, kind: CallKind) => void;
/** What a call may do; only a look changes nothing. */
export type CallKind = 'look' | 'destroy' | 'restore' | 'ask';

/** What a run's calls are made from. */
export interface CallsInput {
  readonly observe?: Observe | undefined;
  /** Told of each call that was answered; what it throws loses the answer, as a broken connection does. */
  readonly answered?: Observe | undefined;
  readonly signal: AbortSignal;
  readonly ownership: Ownership;
  readonly errors: ErrorTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Makes the calls of one run. */
export function createCalls(input: CallsInput): Calls {
  const { signal, ownership, clock, random, log } = input;
  let provenAt = Number.NEGATIVE_INFINITY;
  return {
    async look(call, send) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await callOnce(input, { call, kind: 'look', send });
        } catch (error) {
          if (!(error instanceof CallFailed) || !isTransient(error.fault) || attempt === LOOK_ATTEMPTS) throw error;
          log.debug('repeating a look', { call, code: error.fault.code, attempt });
          await pause(clock, LOOK_BACKOFF_MS * 2 ** (attempt - 1) * (1 + random()), signal);
        }
      }
    },
    async destroy(call, send) {
      const age = clock.monotonic() - provenAt;
      if (age > PROOF_MAX_AGE_MS) {
        throw new Error(
          `calling ${call}: ownership was last proven ${age} ms ago, at most ${PROOF_MAX_AGE_MS} ms count`,
        );
      }
      return await callOnce(input, { call, kind: 'destroy', send });
    },
    restore: (call, send) => callOnce(input, { call, kind: 'restore', send }),
    ask: (call, send) => callOnce(input, { call, kind: 'ask', send }),
    prove(tags) {
      const verdict = judgeOwnership(ownership, tags);
      provenAt = verdict.owned ? clock.monotonic() : Number.NEGATIVE_INFINITY;
      return verdict;
    },
    proofAge: () => clock.monotonic() - provenAt,
  };
}

interface OneCall<T> {
  readonly call: string;
  readonly kind: CallKind;
  readonly send: (options: CallOptions) => Promise<T>;
}

async function callOnce<T>(
  { signal, errors, clock, log, observe, answered }: CallsInput,
  { call, kind, send }: OneCall<T>,
): Promise<Answer<T>> {
  if (signal.aborted) throw new OutOfTime(`calling ${call}: the time of this run is used up`);
  const timeout = new AbortController();
  const began = clock.monotonic();
  const told = (means: string) => log.debug('made a call', { call, kind, means, ms: clock.monotonic() - began });
  const cancel = clock.after(CALL_TIMEOUT_MS, () => timeout.abort());
  try {
    observe?.(call, kind);
    const value = await send({ abortSignal: AbortSignal.any([signal, timeout.signal]) });
    answered?.(call, kind);
    told('done');
    return { means: 'done', value };
  } catch (cause) {
    if (signal.aborted) throw new OutOfTime(`calling ${call}: the time of this run is used up`, { cause });
    const fault = classify(call, cause, errors);
    const { means } = fault;
    told(`${means} (${fault.code})`);
    if (means === 'again') throw new CallFailed(fault, cause);
    return { ...fault, means };
  } finally {
    cancel();
  }
}
