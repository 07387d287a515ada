/*
 * One run of a handler in a test, as the dispatch makes it: its time budget, its checked calls, its outcome. What the calls
 * reach is a server at an endpoint, or answers that the test scripts. Part of `finalizer-bridge/testing`.
 */
import type { ObjectRef, Options, Outcome, Ownership, Target } from '../../bridge/contract.ts';
import type { CallKind, Calls } from '../calls.ts';
import { clientInput } from '../client-input.ts';
import { systemClock } from '../clock.ts';
import type { Allow } from '../config.ts';
import type { AwsClientInput, Handler, PreparedTeardown } from '../handler.ts';
import type { Clock } from '../ports.ts';
import { runTeardown } from '../run.ts';
import { type MemoryLog, memoryLog } from './log.ts';
import { requestFor } from './requests.ts';

const RUN_MS = 300_000;
const PATIENCE = { connectionTimeout: 1_000, requestTimeout: 20_000 };

/**
 * Answers by call, `service:Operation`: the first call gets the first, the last one stands for all later. An Error is thrown
 * as if the service had refused; a function is called.
 */
export type Answers = Readonly<Record<string, readonly unknown[]>>;

/** What to run, on what. */
export interface Trial {
  readonly handler: Handler;
  readonly target: Target;
  readonly options?: Options;
  /** The tag `finalizer-bridge.dev/owner-uid` with the object's uid unless told. */
  readonly ownership?: Ownership;
  readonly object?: Partial<ObjectRef>;
  readonly settings?: unknown;
  /** Account and region of the run; 111122223333 and eu-west-1 unless told. */
  readonly account?: string;
  readonly region?: string;
  readonly allow?: Allow;
  /** Real time unless told. */
  readonly clock?: Clock;
  /** A server for the handler's client. */
  readonly endpoint?: string;
  /** Answers instead of a server; a call that has none is a fault of the test. */
  readonly answers?: Answers;
  /** Ms until the function would be stopped; 5 min unless told. */
  readonly time?: number;
}

/** What came of it. */
export interface Tried {
  readonly outcome: Outcome;
  /** The calls in the order in which they began. */
  readonly calls: readonly { readonly call: string; readonly kind: CallKind }[];
  readonly log: MemoryLog;
}

/** Inputs of clients whose every service is at an endpoint, for ConformanceHarness.aws. */
export function clientsFor(endpoint?: string): (service: string, region: string) => AwsClientInput {
  return (_service, region) => clientInput(region, endpoint, PATIENCE);
}

/**
 * Runs a handler once.
 * @throws Error when its schemas refuse target or options, or a call has no answer.
 */
export async function tryTeardown(trial: Trial): Promise<Tried> {
  const { handler, target, options = {}, account = '111122223333', region = 'eu-west-1', answers } = trial;
  const { clock = systemClock, time = RUN_MS, settings, endpoint, ownership, object } = trial;
  const prepared = handler.prepare(target, options);
  if (!prepared.ok) throw new Error(`trying ${handler.name}: ${prepared.reason}: ${prepared.message}`);
  const asked = { handler: handler.name, target, options, now: clock.now() };
  const said = { ...(ownership === undefined ? {} : { ownership }), ...(object === undefined ? {} : { object }) };
  const calls: { call: string; kind: CallKind }[] = [];
  const log = memoryLog();
  const script = scriptOf(answers);
  const outcome = await runTeardown({
    ...{ request: requestFor({ ...asked, ...said }), handler, account, region, settings, clock, log },
    teardown: script.over(prepared),
    allow: trial.allow ?? { accounts: [account], regions: [region], names: ['*'] },
    aws: clientsFor(endpoint),
    invocationEnds: clock.now() + time,
    random: () => 0,
    observe: (call, kind) => calls.push({ call, kind }),
  });
  if (script.missing.size > 0) {
    throw new Error(`trying ${handler.name}: no answer is scripted for ${[...script.missing].join(', ')}`);
  }
  return { outcome, calls, log };
}

function scriptOf(answers: Answers | undefined) {
  const missing = new Set<string>();
  const taken = new Map<string, number>();
  // The types of answers are the handler's own; a test that scripts others finds out by what the handler does.
  const next = async (call: string): Promise<never> => {
    const all = answers?.[call] ?? [];
    const at = taken.get(call) ?? 0;
    taken.set(call, at + 1);
    if (all.length === 0) missing.add(call);
    const answer = all[Math.min(at, all.length - 1)];
    if (answer instanceof Error) throw answer;
    return (typeof answer === 'function' ? await answer() : answer) as never;
  };
  const scripted = (calls: Calls): Calls => ({
    ...calls,
    look: (call) => calls.look(call, () => next(call)),
    destroy: (call) => calls.destroy(call, () => next(call)),
    restore: (call) => calls.restore(call, () => next(call)),
    ask: (call) => calls.ask(call, () => next(call)),
  });
  const over = (prepared: PreparedTeardown): PreparedTeardown =>
    answers === undefined
      ? prepared
      : { ...prepared, run: (context) => prepared.run({ ...context, calls: scripted(context.calls) }) };
  return { missing, over };
}
