/*
 * A function's calls to SQS with a clock of the test's: pauses between attempts pass at once and are written down, a call's
 * time-out is left to the test. Used by the tests of functions/sqs-client.ts.
 */
import { createSqsClient, type SqsClientOptions } from '../../functions/sqs-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { REGION } from './fixtures.ts';

export const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
export const CALL = { action: 'ChangeMessageVisibilityBatch', input: { Entries: [] } } as const;

/** Calls to the queue `requests` of a server. */
export function benchAt(endpoint: string, changes: Partial<SqsClientOptions> = {}) {
  const clock = new ManualClock();
  const pauses: number[] = [];
  const impatient = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms: number, task: () => void) {
      if (ms >= 5_000) return clock.after(ms, task);
      pauses.push(ms);
      queueMicrotask(task);
      return () => undefined;
    },
  };
  const ask = createSqsClient({
    ...{ region: REGION, endpoint, clock: impatient, random: () => 0.5, keys: () => KEYS },
    ...{ trace: () => ({}), ...changes },
  });
  return { ask: () => ask({ ...CALL, queueUrl: `${endpoint}/1/requests` }), clock, pauses };
}
