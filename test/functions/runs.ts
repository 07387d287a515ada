/*
 * Runs a shipped handler as the dispatch does, in real time, against a server at an endpoint. Used by the handlers' tests.
 * The clock is real unless told, since HTTP takes real time.
 */
import type { Options, Outcome, Ownership, Target } from '../../bridge/contract.ts';
import type { Observe } from '../../functions/calls.ts';
import { clientInput } from '../../functions/client-input.ts';
import { type Handler, RESERVE_SECONDS } from '../../functions/handler.ts';
import type { Clock, Random } from '../../functions/ports.ts';
import { runTeardown } from '../../functions/run.ts';
import { ACCOUNT, configOf, memoryLog, OWNER_TAG, REGION, requestOf, UID } from './fixtures.ts';

const PATIENCE = { connectionTimeout: 30_000, requestTimeout: 30_000 };

/** What a test may vary. */
export interface RunChanges {
  readonly ownership?: Ownership;
  readonly regions?: readonly string[];
  readonly clock?: Clock;
  /** Ms from now until the run's signal aborts. */
  readonly time?: number;
  /** Aborts the run already when it is about to make this call for the n-th time. */
  readonly abortAt?: { readonly call: string; readonly time: number };
  /** Told of each call as it begins. */
  readonly observe?: Observe;
  readonly random?: Random;
  readonly createdAgo?: number;
  /** How long ago the deletion began, in ms; one minute unless told. */
  readonly deletedAgo?: number;
  readonly uid?: string;
  readonly options?: Options;
  readonly names?: readonly string[];
  /** The term's number; 0 unless told. */
  readonly attempt?: number;
  /** The handler's own settings. */
  readonly settings?: unknown;
}

/** Real time. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, callback) {
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  },
};

/** The tags that prove that a resource belongs to the usual object. */
export const OWNED = { [OWNER_TAG]: UID };

/** Gives the SDK credentials that mean nothing, and keeps it away from those of the machine. */
export function useNoCredentials(): void {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
}

/** One run of a handler on a target. */
export function runOnce(
  handler: Handler,
  target: Target,
  endpoint: string | undefined,
  changes: RunChanges = {},
): Promise<Outcome> {
  const { time = 60_000, regions = [REGION], names = ['*'] } = changes;
  const { clock, observe } = aborting(changes.clock ?? realClock, changes);
  const now = clock.now();
  const base = requestOf();
  const uid = changes.uid ?? UID;
  const request = requestOf({
    handler: handler.name,
    target,
    options: changes.options ?? {},
    attempt: changes.attempt ?? 0,
    ownership: changes.ownership ?? { tags: { [OWNER_TAG]: uid } },
    object: {
      ...base.data.object,
      uid,
      creationTimestamp: new Date(now - (changes.createdAgo ?? 86_400_000)).toISOString(),
      deletionTimestamp: new Date(now - (changes.deletedAgo ?? 60_000)).toISOString(),
    },
  });
  const teardown = handler.prepare(request.data.target, request.data.options);
  if (!teardown.ok) throw new Error(`preparing ${handler.name}: ${teardown.reason}: ${teardown.message}`);
  const { allow } = configOf({ allow: { accounts: [ACCOUNT], regions, names } });
  return runTeardown({
    ...{ request, handler, teardown, allow, clock, observe, settings: changes.settings },
    account: ACCOUNT,
    region: REGION,
    invocationEnds: now + time + RESERVE_SECONDS * 1000,
    aws: (_service, region) => clientInput(region, endpoint, PATIENCE),
    random: changes.random ?? (() => 0),
    log: memoryLog(),
  });
}

/** The first timer of a run is the one that aborts it; here a call may bring it forward. */
function aborting(
  clock: Clock,
  { abortAt: at, observe }: RunChanges,
): { readonly clock: Clock; readonly observe: Observe } {
  let abort: (() => void) | undefined;
  let seen = 0;
  return {
    clock: {
      now: clock.now,
      monotonic: clock.monotonic,
      after(delay, callback) {
        abort ??= callback;
        return clock.after(delay, callback);
      },
    },
    observe(call, kind) {
      observe?.(call, kind);
      if (call !== at?.call) return;
      seen += 1;
      if (seen === at.time) abort?.();
    },
  };
}
