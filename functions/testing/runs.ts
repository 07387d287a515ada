/*
 * Runs of the handler under test, as the dispatch makes them, with requests of the suite's own.
 * Used by the checks in testing.ts.
 */
import type { Options, Outcome, Ownership, Target } from '../../bridge/contract.ts';
import { type Observe, OutOfTime } from '../calls.ts';
import type { Handler, PreparedTeardown } from '../handler.ts';
import { type Log, pause } from '../ports.ts';
import { createRunContext, runTeardown } from '../run.ts';
import type { ConformanceHarness, Scene } from '../testing.ts';
import { requestFor } from './requests.ts';

const RUNS_MAX = 50;
const RUN_MS = 60_000;

/** What the suite is run on. */
export interface Subject {
  readonly handler: Handler;
  readonly harness: ConformanceHarness;
}

/** How a run differs from the usual one. */
export type RunChoices = {
  readonly ownership?: Ownership;
  readonly observe?: Observe;
  readonly answered?: Observe;
};

/** Runs until the handler says something else than pending. */
export async function runToEnd(subject: Subject, scene: Scene): Promise<Outcome> {
  for (let run = 1; ; run += 1) {
    const outcome = await runOnce(subject, scene);
    if (outcome.outcome !== 'pending' || run === RUNS_MAX) return outcome;
    const { clock, patience = 0 } = subject.harness;
    if (patience > 0) await pause(clock, patience);
  }
}

/** One run, as the dispatch makes it. */
export function runOnce(subject: Subject, scene: Scene, choices: RunChoices = {}): Promise<Outcome> {
  const { clock } = subject.harness;
  return runTeardown({ ...inputOf(subject, scene, choices), invocationEnds: clock.now() + 2 * RUN_MS });
}

/** One run whose signal is the caller's. */
export async function runAborting(
  subject: Subject,
  scene: Scene,
  { signal, observe }: { readonly signal: AbortSignal; readonly observe: Observe },
): Promise<Outcome['outcome']> {
  const input = inputOf(subject, scene, { observe });
  const context = createRunContext(input, signal, () => {});
  try {
    const { outcome } = await input.teardown.run(context);
    return outcome;
  } catch (error) {
    // What the dispatch makes of it.
    if (error instanceof OutOfTime) return 'pending';
    throw error;
  }
}

function inputOf({ handler, harness }: Subject, { target, options = {} }: Scene, choices: RunChoices) {
  const { account, region, clock, aws, uid, settings, random = () => 0 } = harness;
  const { ownership = harness.ownership, ...told } = choices;
  const request = requestFor({ handler: handler.name, target, options, ownership, object: { uid }, now: clock.now() });
  const teardown = preparedOf(handler, target, options);
  return {
    ...{ request, handler, teardown, account, region, clock, aws, settings },
    ...told,
    allow: { accounts: [account], regions: [region], names: ['*'] },
    random,
    log: silent,
  };
}

function preparedOf(handler: Handler, target: Target, options: Options): PreparedTeardown {
  const prepared = handler.prepare(target, options);
  if (prepared.ok) return prepared;
  throw new Error(`preparing a run of ${handler.name}: the harness's target is refused: ${prepared.message}`);
}

const silent: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  count: () => {},
  with: () => silent,
};
