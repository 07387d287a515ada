/*
 * What is left of a batch when it has ended: nothing. Any mix of outcomes, with a queue that takes, refuses or fails, under
 * virtual time; a timer that outlives its message, or a rejection that nobody waits for, fails the run (Q8, F1).
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { gone, pending, refused } from '../../functions/handler.ts';
import { pause } from '../../functions/ports.ts';
import { work } from './dispatch-work.ts';
import { ACCOUNT, memoryQueue, REGION, recordOf, requestOf, thing } from './fixtures.ts';

const RUNS = ['gone', 'pending', 'refused', 'throws', 'waits'] as const;
const QUEUES = ['takes', 'refuses', 'fails'] as const;

function queueThat(sending: (typeof QUEUES)[number], hiding: (typeof QUEUES)[number]) {
  const queue = memoryQueue((entries) => {
    if (sending === 'fails') throw new Error('the call failed');
    return sending === 'takes' ? [] : entries.map(({ id }) => ({ id, code: 'InternalError', senderFault: false }));
  });
  return hiding === 'takes' ? queue : { ...queue, changeVisibility: () => Promise.reject(new Error('not changed')) };
}

it('leaves no timer and no rejection behind, whatever runs and queue do (Q8)', async () => {
  const scenario = fc.record({
    runs: fc.array(fc.constantFrom(...RUNS), { minLength: 1, maxLength: 4 }),
    sending: fc.constantFrom(...QUEUES),
    hiding: fc.constantFrom(...QUEUES),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ runs, sending, hiding }) => {
      const handler = thing(
        async ({ target, clock, signal }) => {
          const run = RUNS.find((name) => target.name.includes(name));
          if (run === 'throws') throw new Error('the handler broke');
          if (run === 'waits') await pause(clock, 3_600_000, signal);
          return run === 'gone'
            ? gone('deleted')
            : run === 'refused'
              ? refused({ reason: 'No', message: 'no' })
              : pending({ reason: 'Later' });
        },
        { batchSize: 10 },
      );
      const records = runs.map((run, index) => {
        const request = requestOf({ target: { name: `team-a-${run}-${index}`, region: REGION, account: ACCOUNT } });
        return recordOf(request, { messageId: `m-${index}` });
      });
      // It fails on a timer that is left.
      const { failed } = await work(handler, records, { queue: queueThat(sending, hiding) });
      const mayGo = sending === 'takes' ? runs.filter((run) => run === 'gone' || run === 'refused').length : 0;
      expect(failed).toHaveLength(records.length - mayGo);
    }),
    { numRuns: 60 },
  );
});
