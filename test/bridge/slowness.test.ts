/*
 * Requests that expire before a function begins them, or that none brings to an end: when that says that queue or
 * function are too slow, and where it can be read. The counting by itself, and through the whole bridge over fakes.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { isTooSlow, NOTHING_ANSWERED, withAnswer } from '../../bridge/slowness.ts';
import { counts, DEAD_LETTER_SENDER, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { holds } from '../support/property.ts';

const HOUR = 3_600_000;
const expired: Outcome = { outcome: 'pending', reason: 'Expired', message: 'the request expired' };
const inProgress: Outcome = { outcome: 'pending', reason: 'InProgress', progress: '10 of 20' };

const answered = (answers: readonly (readonly [attempt: number, reason: string | undefined])[]) =>
  answers.reduce((before, [attempt, reason]) => withAnswer(before, attempt, reason), NOTHING_ANSWERED);

describe('queue and function are too slow', () => {
  it.each([
    [
      'two terms in a row expired',
      [
        [0, 'Expired'],
        [1, 'Expired'],
      ],
    ],
    [
      'later terms did, though the first was begun',
      [
        [0, 'InProgress'],
        [1, 'Expired'],
        [2, 'Expired'],
      ],
    ],
    [
      'they became dead letters before, which nobody has begun',
      [
        [0, 'Expired'],
        [1, 'DeadLettered'],
        [1, 'Expired'],
      ],
    ],
    [
      'an older one turns out to have been begun',
      [
        [1, 'Expired'],
        [2, 'Expired'],
        [0, 'InProgress'],
      ],
    ],
    [
      'more than two did',
      [
        [3, 'Expired'],
        [4, 'Expired'],
        [5, 'Expired'],
      ],
    ],
  ] as const)('when %s', (_, answers) => {
    expect(isTooSlow(answered(answers))).toBe(true);
  });

  it.each([
    ['one term expired', [[0, 'Expired']]],
    [
      'it was one term, answered twice',
      [
        [0, 'Expired'],
        [0, 'Expired'],
      ],
    ],
    [
      'a term between them was not heard of',
      [
        [0, 'Expired'],
        [2, 'Expired'],
      ],
    ],
    [
      'a long teardown ends each of its requests with Expired',
      [
        [0, 'InProgress'],
        [0, 'Expired'],
        [1, 'InProgress'],
        [1, 'Expired'],
      ],
    ],
    [
      'one that was begun ends with Expired, and only the next one never was',
      [
        [1, 'InProgress'],
        [1, 'Expired'],
        [2, 'Expired'],
      ],
    ],
    [
      'a newer one was begun before an older one is heard of',
      [
        [5, 'InProgress'],
        [3, 'InProgress'],
        [4, 'Expired'],
        [5, 'Expired'],
      ],
    ],
    [
      'the next term was begun',
      [
        [0, 'Expired'],
        [1, 'Expired'],
        [2, 'InProgress'],
      ],
    ],
    [
      'it was refused, or gone',
      [
        [0, 'Expired'],
        [1, 'Expired'],
        [1, undefined],
      ],
    ],
    [
      'old ones are sent again after a newer one was begun',
      [
        [5, 'InProgress'],
        [1, 'Expired'],
        [2, 'Expired'],
      ],
    ],
  ] as const)('not when %s', (_, answers) => {
    expect(isTooSlow(answered(answers))).toBe(false);
  });

  it('whatever copies of the same answers come again', () => {
    const answer = fc.tuple(fc.nat({ max: 4 }), fc.constantFrom('Expired', 'InProgress', undefined));
    holds(
      fc.property(fc.array(answer, { maxLength: 8 }), (answers) => {
        expect(answered(answers.flatMap((one) => [one, one]))).toEqual(answered(answers));
      }),
    );
  });
});

describe('a deletion whose requests expire', () => {
  it('is held as QueueTooSlow from the second in a row on, goes on trying, and ends when it is worked on', async () => {
    const scene = await Scene.start();
    await scene.deleted();
    const first = scene.request;
    await scene.clock.advance(2 * HOUR - 60_000);
    await scene.answer(expired, first);
    expect(scene.standing()).toBe('Pending Requested');
    const second = scene.requests[1];
    await scene.clock.advance(HOUR);
    await scene.answer(expired, second);
    await scene.clock.advance(60_000);
    expect(scene.standing()).toBe('Held QueueTooSlow');
    expect(scene.record()).toMatchObject({ phase: 'Held', reason: 'QueueTooSlow' });
    expect(scene.events).toContain('TeardownHeld');
    await scene.clock.advance(HOUR);
    expect(scene.requests.map(({ data }) => data.attempt)).toEqual([0, 1, 2, 3, 4]);
    await scene.answer(inProgress);
    expect(scene.standing()).toBe('Pending InProgress');
    expect(await counts(scene.metrics.results)).toEqual({ Pending: 1, Stale: 2 });
    await scene.answer({ outcome: 'gone', evidence: 'deleted' });
    expect(scene.finalizers()).toEqual([]);
    expect(await counts(scene.metrics.removed)).toMatchObject({ [`${RULE}/Gone`]: 1 });
  });
});

it('says on the object that its request is a dead letter, and sends another one in the next term (P7)', async () => {
  const scene = await Scene.start();
  await scene.deleted();
  const deadLettered: Outcome = { outcome: 'pending', reason: 'DeadLettered', message: 'given up after 1000 receives' };
  await scene.answer(deadLettered, scene.request, `${DEAD_LETTER_SENDER}:dead-letters`);
  await scene.clock.advance(31_000);
  expect(scene.record()).toMatchObject({ phase: 'Pending', reason: 'DeadLettered', message: deadLettered.message });
  await scene.clock.advance(60 * 60_000);
  expect(scene.requests.map(({ data }) => data.attempt)).toEqual([0, 1]);
  expect(scene.standing()).toBe('Pending Requested');
});
