/*
 * One batch of requests: every record counts as failed until its request was answered and the answer was sent.
 * Called by entry.ts with real ports, and by the simulation with virtual ones; knows no SDK and no environment.
 * Each record is judged in its own try; duplicates in a batch share one run, and its answer acknowledges them all.
 */
import {
  continueTrace,
  decodeRequest,
  encodeResult,
  makeResult,
  type Outcome,
  type Request,
} from '../bridge/contract.ts';
import type { Config } from './config.ts';
import { judgeRequest, type Verdict } from './guards.ts';
import type { AwsClientInput, Handler } from './handler.ts';
import { beforeTime, type Clock, type Log, type Queue, type Random, type VisibilityEntry } from './ports.ts';
import { type Outgoing, report } from './report.ts';
import { runTeardown } from './run.ts';
import { backOffSeconds, runVisibilitySeconds, visibilityUntil } from './visibility.ts';

/** One received message, as far as the dispatch needs it. */
export interface QueueRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Who sent it, as the queue itself says. */
  readonly senderId: string;
  /** 1 at the first receive. */
  readonly receiveCount: number;
}

/** What is fixed for the life of a function. */
export interface DispatchInput {
  readonly handler: Handler;
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly queue: Queue;
  readonly log: Log;
  readonly aws: (service: string, region: string) => AwsClientInput;
}

/** What differs per invocation. */
export interface Invocation {
  /** When the platform kills the invocation, in ms since the epoch. */
  readonly endsAt: number;
  /** The function's own account. */
  readonly account: string;
}

/** Works a batch; resolves with the messageIds that stay in the queue. */
export type Dispatch = (records: readonly QueueRecord[], invocation: Invocation) => Promise<readonly string[]>;

type Answerable = Exclude<Verdict, { verdict: 'ignore' }>;

/** One request that will be answered, with all records of the batch that carry it. */
interface Job {
  readonly records: readonly [QueueRecord, ...QueueRecord[]];
  readonly request: Request;
  readonly verdict: Answerable;
}

interface Answer extends Job {
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** The span of this run within the request's trace. */
  readonly traceparent: string;
}

const VISIBILITY_BATCH = 10;
/** How long before the end of the invocation the answers are sent, or given up; what is left is for the visibilities. */
const REPORT_ENDS_MS = 4_000;
/** How long before the end of the invocation everything ends: killed, it would lose also what it has done. */
const DISPATCH_ENDS_MS = 1_000;

/** Makes the dispatch of one function. */
export function createDispatch(input: DispatchInput): Dispatch {
  const { handler } = input;
  return async (records, invocation) => {
    const { endsAt } = invocation;
    // What is beyond the handler's batch size would only wait behind slow work: it goes back at once, unstarted.
    const taken = records.slice(0, handler.limits.batchSize);
    const handedBack = records.slice(taken.length);
    const jobs = jobsOf(input, invocation, taken);
    const hidden = hide(input, firstVisibilities(handler, jobs, handedBack));
    const answers = await Promise.all(jobs.map((job) => answer(input, invocation, job)));
    const results = answers.map((one) => outgoing(input, one));
    const sent = await report(results, input, endsAt - REPORT_ENDS_MS);
    const done = new Set(answers.filter((one) => sent.has(keyOf(one)) && isFinal(one)).flatMap(messageIds));
    const staying = taken.filter(({ messageId }) => !done.has(messageId));
    await beforeTime(input.clock, endsAt - DISPATCH_ENDS_MS, async () => {
      await hidden;
      await hide(input, lastVisibilities(input, staying, answers));
    });
    return [...staying, ...handedBack].map(({ messageId }) => messageId);
  };
}

/** While the work lasts: what is not taken comes back at once, what is run stays hidden a little longer than a run. */
function firstVisibilities(
  { limits }: Handler,
  jobs: readonly Job[],
  handedBack: readonly QueueRecord[],
): readonly VisibilityEntry[] {
  const starting = jobs.flatMap(({ verdict, records }) => (verdict.verdict === 'run' ? records : []));
  return [
    ...handedBack.map((record) => visibilityOf(record, 0)),
    ...starting.map((record) => visibilityOf(record, runVisibilitySeconds(limits.timeBudgetSeconds))),
  ];
}

/** When each record that stays comes back: when its answer says, else after a back-off. */
function lastVisibilities(
  { clock, random }: DispatchInput,
  staying: readonly QueueRecord[],
  answers: readonly Answer[],
): readonly VisibilityEntry[] {
  const asked = new Map(answers.flatMap((one) => messageIds(one).map((id) => [id, retryTime(one.outcome)] as const)));
  return staying.map((record) => {
    const retryAt = asked.get(record.messageId);
    const seconds =
      retryAt === undefined ? backOffSeconds(record.receiveCount, random) : visibilityUntil(retryAt, clock.now());
    return visibilityOf(record, seconds);
  });
}

/** Judges each record alone, and joins those that carry the same bytes. */
function jobsOf(input: DispatchInput, invocation: Invocation, records: readonly QueueRecord[]): readonly Job[] {
  const judged = records.flatMap((record) => judge(input, invocation, record) ?? []);
  const groups = Map.groupBy(judged, ({ record, verdict }) => `${verdict.verdict} ${record.body}`);
  return [...groups.values()].flatMap(([first, ...copies]) => {
    if (first === undefined) return [];
    const { record, request, verdict } = first;
    return { records: [record, ...copies.map((copy) => copy.record)] as const, request, verdict };
  });
}

/** Decodes and judges one record; undefined if it is not to be answered. Never throws. */
function judge(
  { handler, config, clock, log }: DispatchInput,
  { account }: Invocation,
  record: QueueRecord,
): { readonly record: QueueRecord; readonly request: Request; readonly verdict: Answerable } | undefined {
  const { messageId, senderId } = record;
  try {
    const decoded = decodeRequest(record.body);
    if (!decoded.ok) {
      log.error('reading a message: it is not a request; it stays in the queue', {
        ...{ messageId, senderId, failure: decoded.failure, detail: decoded.detail },
      });
      log.count('RequestsIgnored', { reason: decoded.failure });
      return undefined;
    }
    const request = decoded.message;
    const verdict = judgeRequest({ request, senderId, handler, config, ownAccount: account, now: clock.now() });
    if (verdict.verdict !== 'ignore') return { record, request, verdict };
    const { reason } = verdict;
    log.error('judging a request: it is not acted on; it stays in the queue', {
      ...{ messageId, senderId, requestId: request.id, reason },
    });
    log.count('RequestsIgnored', { reason });
  } catch (error) {
    log.error('judging a request failed; it stays in the queue', { messageId, error });
    log.count('RequestsIgnored', { reason: 'JudgeFailed' });
  }
  return undefined;
}

async function answer(input: DispatchInput, { endsAt }: Invocation, job: Job): Promise<Answer> {
  const { verdict } = job;
  const { clock, config } = input;
  const { allow, settings } = config;
  const traceparent = continueTrace(job.request.traceparent, `${job.request.id} ${keyOf(job)} ${clock.now()}`);
  const request = { ...job.request, traceparent };
  const log = input.log.with({ requestId: request.id, traceparent });
  const began = clock.monotonic();
  log.debug('judged a request', { verdict: verdict.verdict });
  const outcome =
    verdict.verdict === 'answer'
      ? verdict.outcome
      : await runTeardown({ ...input, ...verdict, log, request, allow, settings, invocationEnds: endsAt });
  const durationMs = Math.round(clock.monotonic() - began);
  log.info('answering a request', { ...outcome, durationMs, copies: job.records.length });
  const reason = 'reason' in outcome ? outcome.reason : outcome.evidence;
  log.count('Outcomes', { outcome: outcome.outcome, reason }, { Duration: durationMs });
  return { ...job, outcome, durationMs, traceparent };
}

function outgoing({ handler, clock, random }: DispatchInput, one: Answer): Outgoing {
  const { records, request, verdict, outcome, durationMs, traceparent } = one;
  const [first] = records;
  const chance = Math.floor(random() * 2 ** 32).toString(16);
  const nonce = `${first.messageId}.${first.receiveCount}.${chance}`;
  const { name, version } = handler;
  const about = { handler: { name, version }, nonce, now: clock.now(), durationMs, traceparent };
  const result = makeResult({ request, outcome, ...about });
  return { key: keyOf(one), queueUrl: verdict.cluster.resultQueueUrl, body: encodeResult(result) };
}

/** Whether the answer ends the message: everything but a run's own "not yet". */
function isFinal({ verdict, outcome }: Answer): boolean {
  return verdict.verdict === 'answer' || outcome.outcome !== 'pending';
}

function retryTime(outcome: Outcome): string | undefined {
  return outcome.outcome === 'pending' ? outcome.retryAt : undefined;
}

function messageIds({ records }: Job): readonly string[] {
  return records.map(({ messageId }) => messageId);
}

/** One record's messageId stands for the job: unique in the batch, and a valid id of a batch entry. */
function keyOf({ records: [first] }: Job): string {
  return first.messageId;
}

function visibilityOf({ receiptHandle }: QueueRecord, seconds: number): VisibilityEntry {
  return { receiptHandle, seconds };
}

/** Changes visibilities; a failure only means that the queue's own, longer time-out applies. Never rejects. */
async function hide({ queue, log }: DispatchInput, entries: readonly VisibilityEntry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += VISIBILITY_BATCH) {
    try {
      await queue.changeVisibility(entries.slice(from, from + VISIBILITY_BATCH));
    } catch (error) {
      log.warn('changing visibilities failed; the time-out of the queue applies', { error });
    }
  }
}
