/*
 * Draws short scripts of a queue: a few messages, whatever order. Run against the model and an emulator of SQS by
 * test/e2e/agreement-queue.test.ts, which must agree at every step. No step waits for time, and no receive leaves any behind:
 * which ones a queue gives out first is its own choice.
 */
import * as fc from 'fast-check';
import type { QueueScript, QueueStep } from './queue-script.ts';

const body = fc.constantFrom('a', 'b', 'c');
const bodies = fc.uniqueArray(body, { minLength: 1, maxLength: 3 });
const receipt = fc.constantFrom({}, {}, { receipt: 'first' } as const);

const step: fc.Arbitrary<QueueStep> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<QueueStep>({ do: 'receive', max: 10 }) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(bodies, receipt)
      .map(([of, which]): QueueStep => ({ do: 'hide', bodies: of, seconds: 0, ...which })),
  },
  { weight: 2, arbitrary: fc.tuple(bodies).map(([of]): QueueStep => ({ do: 'hide', bodies: of, seconds: 600 })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<QueueStep>(
      ...[{ do: 'dead' } as const, { do: 'deleteUnknown' } as const, { do: 'hideUnknown' } as const],
      ...[{ do: 'sendAgain', by: 'stranger' } as const, { do: 'sendAgain', by: 'bridge' } as const],
    ),
  },
);

/** A message is sent once, and deleted while it is in work: when it is visible again, emulator and SQS differ. */
const deletion = body.map((of): readonly QueueStep[] => [
  { do: 'receive', max: 10 },
  { do: 'delete', body: of },
]);

/** Scripts of a queue that gives everything out twice. */
export const randomQueueScripts: fc.Arbitrary<QueueScript> = fc
  .tuple(fc.array(step, { maxLength: 8 }), deletion, fc.array(step, { maxLength: 8 }))
  .map(([before, deleting, after]) => ({
    title: 'drawn',
    options: { maxReceiveCount: 2 },
    steps: [
      { do: 'send', bodies: ['a', 'b'] },
      { do: 'send', bodies: ['c'], by: 'stranger' },
      ...before,
      ...deleting,
      ...after,
      { do: 'receive', max: 10 },
      { do: 'dead' },
    ],
  }));
