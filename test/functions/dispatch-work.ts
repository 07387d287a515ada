/*
 * Works a batch through the dispatch under virtual time, with a queue and a log that remember.
 * Used by the tests of the dispatch.
 */
import { expect } from 'vitest';
import { createDispatch, type QueueRecord } from '../../functions/dispatch.ts';
import type { Handler } from '../../functions/handler.ts';
import {
  ACCOUNT,
  configOf,
  type MemoryLog,
  type MemoryQueue,
  memoryLog,
  memoryQueue,
  NOW,
  virtualClock,
} from './fixtures.ts';

/** A log that remembers also the times that were counted, and what was said of every line. */
function tellingLog() {
  const [log, times, shared]: [MemoryLog, unknown[], unknown[]] = [memoryLog(), [], []];
  const telling = { ...log, times, shared };
  telling.count = (metric, labels, measured) => {
    log.count(metric, labels);
    times.push(measured);
  };
  telling.with = (fields) => {
    shared.push(fields);
    return telling;
  };
  return telling;
}

/** Works a batch to its end, in at most ten minutes of virtual time. */
export async function work(
  handler: Handler,
  records: readonly QueueRecord[],
  {
    queue = memoryQueue(),
    now = NOW,
    config = configOf(),
    chance = 0,
  }: { queue?: MemoryQueue; now?: number; config?: ReturnType<typeof configOf>; chance?: number } = {},
) {
  // A function has run for a while before its batch comes.
  const clock = virtualClock(now - 5_000);
  await clock.advance(5_000);
  const log = tellingLog();
  const aws = (_service: string, region: string) => ({
    region,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 1, requestTimeout: 1, throwOnRequestTimeout: true } as const,
  });
  const dispatch = createDispatch({ handler, config, clock, random: () => chance, queue, log, aws });
  const working = dispatch(records, { endsAt: now + 300_000, account: ACCOUNT });
  await clock.advance(600_000);
  const failed = await working;
  expect(clock.pending(), 'timers left behind').toBe(0);
  return { failed, queue, log, outcomes: queue.results().map(({ data }) => data.result) };
}
