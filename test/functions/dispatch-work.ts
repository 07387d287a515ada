/*
 * Works a batch through the dispatch under virtual time, with a queue and a log that remember.
 * Used by the tests of the dispatch.
 */
import { expect } from 'vitest';
import { createDispatch, type QueueRecord } from '../../functions/dispatch.ts';
import type { Handler } from '../../functions/handler.ts';
import { ACCOUNT, configOf, type MemoryQueue, memoryLog, memoryQueue, NOW, virtualClock } from './fixtures.ts';

/** Works a batch to its end, in at most ten minutes of virtual time. */
export async function work(
  handler: Handler,
  records: readonly QueueRecord[],
  {
    queue = memoryQueue(),
    now = NOW,
    config = configOf(),
  }: { queue?: MemoryQueue; now?: number; config?: ReturnType<typeof configOf> } = {},
) {
  const clock = virtualClock(now);
  const log = memoryLog();
  const aws = (_service: string, region: string) => ({
    region,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 1, requestTimeout: 1, throwOnRequestTimeout: true } as const,
  });
  const dispatch = createDispatch({ handler, config, clock, random: () => 0, queue, log, aws });
  const working = dispatch(records, { endsAt: now + 300_000, account: ACCOUNT });
  await clock.advance(600_000);
  const failed = await working;
  expect(clock.pending(), 'timers left behind').toBe(0);
  return { failed, queue, log, outcomes: queue.results().map(({ data }) => data.result) };
}
