/*
 * One teardown under its time budget: context, abort signal, the call, and an outcome whatever happens.
 * Called by dispatch.ts once the guards let a request through. Anything thrown ends as `pending`, never as `gone`.
 */
import * as z from 'zod/mini';
import { CLOCK_SKEW_MS, type Outcome, outcomeSchema, type Request } from '../bridge/contract.ts';
import { CallFailed, createCalls, type Observe, OutOfTime } from './calls.ts';
import type { Allow } from './config.ts';
import {
  type AwsClientInput,
  type Handler,
  type PreparedTeardown,
  pending,
  RESERVE_SECONDS,
  type RunContext,
} from './handler.ts';
import type { Clock, Log, Random } from './ports.ts';

/** How long after the abort signal the dispatch stops waiting for a teardown that does not obey it. */
const PATIENCE_MS = 20_000;
/** A run that made progress and ran out of time goes on at once. */
const GO_ON_SECONDS = 1;
/** Why the signal of a run that has ended aborts; made once, since making one costs more than the rest of a short run. */
const ENDED = new DOMException('The run has ended.', 'AbortError');

/** One run. */
export interface RunInput {
  readonly request: Request;
  readonly handler: Handler;
  readonly teardown: PreparedTeardown;
  readonly account: string;
  readonly region: string;
  readonly allow: Allow;
  /** The handler's own settings of the configuration, not read yet. */
  readonly settings?: unknown;
  /** End of the invocation, in ms since the epoch. */
  readonly invocationEnds: number;
  readonly aws: (service: string, region: string) => AwsClientInput;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Told of each call as it begins, and as it was answered. */
  readonly observe?: Observe;
  readonly answered?: Observe;
}

/** Runs a teardown. Resolves with its outcome, or with a `pending` that says what went wrong; never rejects. */
export async function runTeardown(input: RunInput): Promise<Outcome> {
  const { clock, log, teardown } = input;
  const controller = new AbortController();
  const delay = Math.max(0, abortTime(input) - clock.now());
  if (delay === 0) return outOfTime(input, undefined);
  const cancels = [clock.after(delay, () => controller.abort())];
  const state: { progress?: string } = {};
  const context = createRunContext(input, controller.signal, (text) => {
    state.progress = text;
  });
  try {
    const overrun = new Promise<'overrun'>((resolve) => {
      cancels.push(clock.after(delay + PATIENCE_MS, () => resolve('overrun')));
    });
    // A teardown that outlives its run may still reject later; that has to be seen by somebody.
    const ended = teardown.run(context).then(
      (outcome) => ({ outcome }),
      (error: unknown) => ({ error }),
    );
    const first = await Promise.race([ended, overrun]);
    if (first === 'overrun') {
      log.error('waiting for the teardown: it did not obey the abort signal');
      return pending({ reason: 'Overran', message: 'the handler did not stop when its time was used up' });
    }
    if ('error' in first) return fromThrown(input, first.error, state.progress);
    return checked(first.outcome, state.progress, log);
  } catch (error) {
    return fromThrown(input, error, state.progress);
  } finally {
    controller.abort(ENDED);
    for (const cancel of cancels) cancel();
  }
}

/** Whichever comes first: the time budget, the invocation's end less its reserve, a minute before the request expires. */
function abortTime({ clock, handler, invocationEnds, request }: RunInput): number {
  return Math.min(
    clock.now() + handler.limits.timeBudgetSeconds * 1000,
    invocationEnds - RESERVE_SECONDS * 1000,
    Date.parse(request.data.expires) - CLOCK_SKEW_MS,
  );
}

/** What a teardown is given, with the signal that ends it. */
export function createRunContext(
  input: Omit<RunInput, 'invocationEnds' | 'teardown'>,
  signal: AbortSignal,
  progress: (text: string) => void,
): RunContext {
  const { request, handler, account, region, allow, settings = {}, clock, random, log, aws, observe, answered } = input;
  const { id, traceparent } = request;
  const { cluster, rule, attempt, targetDigest, ruleDigest, expires, object, ownership } = request.data;
  return {
    request: { id, traceparent, cluster, rule, attempt, targetDigest, ruleDigest, expires, object },
    calls: createCalls({ signal, ownership, errors: handler.errors, clock, random, log, observe, answered }),
    settings: (schema) => z.parse(schema, settings),
    inSeconds: (seconds) => new Date(clock.now() + seconds * 1000).toISOString(),
    ...{ ownership, account, region, allow, signal, clock, random, log, aws, progress },
  };
}

/** A handler may be plain JavaScript: what it returns is checked, and what is not an outcome is "again". */
function checked(outcome: unknown, progress: string | undefined, log: Log): Outcome {
  const parsed = outcomeSchema.safeParse(outcome);
  if (!parsed.success) {
    log.error('reading the outcome of the teardown: it is none', { outcome });
    return pending({ reason: 'InvalidOutcome', message: 'the handler returned something that is not an outcome' });
  }
  const { data } = parsed;
  if (data.outcome !== 'pending' || data.progress !== undefined || progress === undefined) return data;
  return { ...data, progress };
}

function fromThrown(input: RunInput, error: unknown, progress: string | undefined): Outcome {
  if (error instanceof OutOfTime) return outOfTime(input, progress);
  const how = progress === undefined ? {} : { progress };
  if (error instanceof CallFailed) {
    const { call, code, reason, status } = error.fault;
    input.log.warn('calling a service failed; it is tried again', { call, code, status, error });
    return pending({ reason, message: error.message, ...how });
  }
  input.log.error('running the teardown: it threw; it is tried again', { error });
  const message =
    error instanceof Error ? `${error.name}: ${error.message}` : 'something that is not an Error was thrown';
  return pending({ reason: 'HandlerError', message, ...how });
}

function outOfTime({ clock }: RunInput, progress: string | undefined): Outcome {
  const message = 'the time of this run is used up; the next one goes on';
  if (progress === undefined) return pending({ reason: 'OutOfTime', message });
  const retryAt = new Date(clock.now() + GO_ON_SECONDS * 1000).toISOString();
  return pending({ reason: 'OutOfTime', message, progress, retryAt });
}
