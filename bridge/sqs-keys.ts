/*
 * Keys for calls to SQS: the SDK's usual chain, which renews temporary ones before they expire, given up when it does not come
 * to an end. One renewal serves all calls, so one that is waited for without end would stop every call for good.
 * Made by sqs-client.ts, which asks before each call.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { BegunPrograms } from './begun-programs.ts';
import { doubled } from './doubling.ts';
import type { Clock } from './ports.ts';
import type { SigningCredentials } from './sqs-signature.ts';
import { within } from './time-out.ts';

/** For each of the SDK's tries to get keys from STS or a sign-on. */
const TRY_TIMEOUT_MS = 5_000;
/** For all of it: several tries, and a `credential_process`, which the SDK waits for without end. */
const KEYS_TIMEOUT_MS = 60_000;
/** What hangs and is no process cannot be ended from here, so it is begun anew ever less often. */
const PAUSE_MS = { first: 30_000, most: 600_000 };

/** Resolves to keys that are good now. */
export type Keys = (signal?: AbortSignal) => Promise<SigningCredentials>;

/** The SDK reads environment, files, processes, web identity and metadata services, keeps what it got, and renews it in time. */
export function credentialsOfSdk(region: string, timeout = TRY_TIMEOUT_MS): () => Promise<SigningCredentials> {
  const requestHandler = { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true };
  const { config } = new SQSClient({ region, requestHandler });
  return () => config.credentials();
}

/**
 * Keys of a chain that is given up after a minute, and begun anew: at once where that ended it, as it does where it has started a
 * process; otherwise after a pause, 30 s, and twice as long each time, up to ten minutes, and never while such a process lives on.
 * What comes late counts as well.
 * @throws Error when there are none, or when the signal aborts
 */
export function boundedKeys(begin: () => () => Promise<SigningCredentials>, clock: Clock): Keys {
  let programs = new BegunPrograms(clock);
  /** Those of what was given up last. */
  let hung = programs;
  let chain = begin();
  let pauses = 0;
  /** Monotonic ms; until then a chain that was given up is not begun anew. Undefined: none was. */
  let hungUntil: number | undefined;

  const giveUp = (keys: Promise<SigningCredentials>) => {
    const until = clock.monotonic() + doubled(PAUSE_MS, pauses);
    const isOver = () => {
      if (hungUntil === until) hungUntil = undefined;
    };
    hungUntil = until;
    pauses += 1;
    keys.then(isOver, isOver);
    [hung, programs] = [programs, new BegunPrograms(clock)];
    return hung.end();
  };

  return async (signal) => {
    refuseDuring(hungUntil, clock);
    if (hungUntil !== undefined && hung.living > 0) throw new Error(LIVES_ON);
    if (hungUntil !== undefined) [chain, hungUntil] = [begin(), undefined];
    const own = chain;
    const keys = programs.run(own);
    const settled = settling(keys);
    try {
      const got = await within({ clock, ms: KEYS_TIMEOUT_MS, ...(signal ? { stop: signal } : {}) }, () => keys);
      pauses = 0;
      return got;
    } catch (cause) {
      // Of all that wait for one chain, one gives it up.
      const isFirst = hungUntil === undefined && chain === own;
      const ended = isFirst && !settled.is && signal?.aborted !== true ? giveUp(keys) : 0;
      throw new Error(`getting keys for SQS${ended > 0 ? ': the process that was asked is ended' : ''}`, { cause });
    }
  };
}

const LIVES_ON =
  'getting keys for SQS: the process that was asked for them hangs and could not be ended, so no other is started';

function refuseDuring(until: number | undefined, clock: Clock): void {
  if (until === undefined || clock.monotonic() >= until) return;
  const left = Math.ceil((until - clock.monotonic()) / 1000);
  throw new Error(`getting keys for SQS: they have not come within ${KEYS_TIMEOUT_MS / 1000} s; again in ${left} s`);
}

function settling(work: Promise<unknown>): { readonly is: boolean } {
  const state = { is: false };
  const settle = () => {
    state.is = true;
  };
  work.then(settle, settle);
  return state;
}
