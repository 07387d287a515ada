/*
 * The conformance suite that every handler gets by being registered, as `finalizer-bridge/testing`: the contract of
 * handler.ts as runnable checks. Free of any test framework: a list of titles and functions that throw. A harness puts
 * targets in place for it, on an emulator or the real service. Beside it what tests of a handler need: one run, requests,
 * time, a log.
 */
import assert from 'node:assert/strict';
import type { Options, Ownership, Target } from '../bridge/contract.ts';
import type { Observe } from './calls.ts';
import type { AwsClientInput, Handler } from './handler.ts';
import type { Clock, Random } from './ports.ts';
import { runAborting, runOnce, runToEnd, type Subject } from './testing/runs.ts';

export { type ManualClock, manualClock, systemClock } from './testing/clock.ts';
export { type MemoryLog, memoryLog } from './testing/log.ts';
export { type Delivery, lambdaEvent, requestFor, type TestRequest } from './testing/requests.ts';
export { type Answers, clientsFor, type Trial, type Tried, tryTeardown } from './testing/trial.ts';

/** A target in the outside world. */
export interface Scene {
  readonly target: Target;
  readonly options?: Options;
  /** Whether something is still there that has not even begun to go. */
  readonly exists: () => Promise<boolean>;
}

/** Puts targets in place. Each scene is new and has nothing to do with the others. */
export interface ConformanceHarness {
  readonly account: string;
  readonly region: string;
  /** The uid that `owned` scenes are tagged for. */
  readonly uid: string;
  /** What the rule requires; proven by `owned` scenes. */
  readonly ownership: Ownership;
  /** The handler's own settings, if it has any. */
  readonly settings?: unknown;
  readonly aws: (service: string, region: string) => AwsClientInput;
  readonly clock: Clock;
  /** Chance that runs may lean on to tell themselves apart; always 0 unless told. */
  readonly random?: Random;
  /** Longest wait in ms between two runs, for a service that takes its time; none unless told. */
  readonly patience?: number;
  /** A target that is not there. */
  readonly absent: () => Promise<Scene>;
  readonly owned: () => Promise<Scene>;
  /** A target without the ownership proof. */
  readonly foreign: () => Promise<Scene>;
  /** Like `owned`, with the keep tag. */
  readonly kept: () => Promise<Scene>;
}

/** One check; `run` throws if the handler breaks the contract. */
export interface ConformanceTest {
  readonly title: string;
  readonly run: () => Promise<void>;
}

const CALLS_MAX = 100;

/** The checks for one handler. */
export function conformance(handler: Handler, harness: ConformanceHarness): readonly ConformanceTest[] {
  const subject: Subject = { handler, harness };
  return [
    handler.absence === 'gone'
      ? { title: 'says gone, absent, when there is nothing', run: () => absentIsGone(subject) }
      : { title: 'refuses, and never says gone, when its target is not there', run: () => absentIsRefused(subject) },
    { title: 'takes an owned target down, and says gone again whenever asked', run: () => ownedGoes(subject) },
    { title: 'ends the same when called five times at once', run: () => togetherIsFine(subject) },
    { title: 'refuses what ownership does not prove, and leaves it', run: () => foreignStays(subject) },
    { title: 'refuses what carries the keep tag, whatever the rule says', run: () => keptStays(subject) },
    {
      title: 'begins no destructive call after the abort signal, wherever it comes',
      run: () => abortIsObeyed(subject),
    },
    {
      title: 'never says gone because a call failed, and ends the same after it',
      run: () => failuresHeal(subject, 'observe'),
    },
    {
      title: 'ends the same when a call was done and its answer is lost',
      run: () => failuresHeal(subject, 'answered'),
    },
    { title: 'refuses an option that it does not know', run: () => optionsAreClosed(subject) },
  ];
}

async function absentIsGone(subject: Subject): Promise<void> {
  const scene = await subject.harness.absent();
  assert.deepEqual(await runOnce(subject, scene), { outcome: 'gone', evidence: 'absent' });
}

async function absentIsRefused(subject: Subject): Promise<void> {
  const { outcome } = await runOnce(subject, await subject.harness.absent());
  assert.equal(outcome, 'refused');
}

async function ownedGoes(subject: Subject): Promise<void> {
  const scene = await subject.harness.owned();
  assert.deepEqual(await runToEnd(subject, scene), { outcome: 'gone', evidence: 'deleted' });
  assert.equal(await scene.exists(), false, 'it said gone while the target was still there');
  for (let again = 0; again < 2; again += 1) {
    const outcome = await runOnce(subject, scene);
    assert.equal(outcome.outcome, 'gone', `called after gone it said ${JSON.stringify(outcome)}`);
  }
}

async function togetherIsFine(subject: Subject): Promise<void> {
  const scene = await subject.harness.owned();
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => runOnce(subject, scene)));
  const refusals = outcomes.filter(({ outcome }) => outcome === 'refused');
  assert.deepEqual(refusals, [], 'a duplicate was refused');
  const last = await runToEnd(subject, scene);
  assert.equal(last.outcome, 'gone', `it ended as ${JSON.stringify(last)}`);
  assert.equal(await scene.exists(), false, 'the target is still there');
}

async function foreignStays(subject: Subject): Promise<void> {
  await staysRefused(subject, await subject.harness.foreign(), subject.harness.ownership);
}

async function keptStays(subject: Subject): Promise<void> {
  await staysRefused(subject, await subject.harness.kept(), subject.harness.ownership);
  await staysRefused(subject, await subject.harness.kept(), { none: true });
}

async function staysRefused(subject: Subject, scene: Scene, ownership: Ownership): Promise<void> {
  const destroyed: string[] = [];
  const observe: Observe = (call, kind) => {
    if (kind === 'destroy') destroyed.push(call);
  };
  const outcome = await runOnce(subject, scene, { ownership, observe });
  assert.equal(outcome.outcome, 'refused', `it said ${JSON.stringify(outcome)}`);
  assert.deepEqual(destroyed, [], 'it made a destructive call');
  assert.equal(await scene.exists(), true, 'the target is not there any more');
}

/** Aborts at the first call, then with a new target at the second, and so on, until a run ends before. */
async function abortIsObeyed(subject: Subject): Promise<void> {
  for (let at = 1; at <= CALLS_MAX; at += 1) {
    const scene = await subject.harness.owned();
    const controller = new AbortController();
    const late: string[] = [];
    let calls = 0;
    let hasBegun = false;
    const observe: Observe = (call, kind) => {
      if (controller.signal.aborted && kind !== 'look') late.push(call);
      hasBegun ||= kind !== 'look';
      calls += 1;
      if (calls === at) controller.abort();
    };
    const outcome = await runAborting(subject, scene, { signal: controller.signal, observe });
    assert.deepEqual(late, [], `it went on after the signal came during call ${at}`);
    if (!controller.signal.aborted) return;
    // Also a delete that bypasses `calls` shows here.
    if (!hasBegun)
      assert.equal(await scene.exists(), true, `the signal came during call ${at}, and the target is gone`);
    const isFine = outcome === 'pending' || (outcome === 'gone' && !(await scene.exists()));
    assert.ok(isFine, `when the signal came during call ${at} it said ${outcome}`);
    const last = await runToEnd(subject, scene);
    assert.equal(last.outcome, 'gone', `after the signal came during call ${at} it ended as ${JSON.stringify(last)}`);
  }
  assert.fail(`one run made more than ${CALLS_MAX} calls; the scene is too large for this suite`);
}

/** Fails the first call or loses its answer, then with a new target the second, and so on, until a run ends before. */
async function failuresHeal(subject: Subject, when: 'observe' | 'answered'): Promise<void> {
  for (let at = 1; at <= CALLS_MAX; at += 1) {
    const scene = await subject.harness.owned();
    let calls = 0;
    const fail: Observe = (call) => {
      calls += 1;
      if (calls === at) throw new Error(`calling ${call}: failed on purpose`);
    };
    const outcome = await runOnce(subject, scene, { [when]: fail });
    assert.notEqual(outcome.outcome, 'refused', `when call ${at} failed it said ${JSON.stringify(outcome)}`);
    if (outcome.outcome === 'gone') assert.equal(await scene.exists(), false, `it said gone because call ${at} failed`);
    if (calls < at) return;
    const last = await runToEnd(subject, scene);
    assert.equal(last.outcome, 'gone', `after call ${at} had failed it ended as ${JSON.stringify(last)}`);
    assert.equal(await scene.exists(), false, 'it said gone while the target was still there');
  }
  assert.fail(`one run made more than ${CALLS_MAX} calls; the scene is too large for this suite`);
}

async function optionsAreClosed({ handler, harness }: Subject): Promise<void> {
  const { target, options = {} } = await harness.absent();
  const prepared = handler.prepare(target, { ...options, 'no such option': true });
  assert.equal(prepared.ok ? 'accepted' : prepared.reason, 'InvalidOptions');
}
