/*
 * When a "not found" is believed: an `absent` that is said too early lets the entry go while the outside resource comes to light a
 * moment later, and leaks (P1). What the handlers make of it is in their own tests.
 */
import { expect, it } from 'vitest';
import { notFoundYet } from '../../functions/not-found-yet.ts';
import { manualClock } from '../../functions/testing/clock.ts';
import { NOW, requestOf } from './fixtures.ts';

const MINUTE = 60_000;

/** What is said of a thing that is not found, by how long ago its object was made and its deletion began. */
function said(createdAgo: number, deletedAgo: number) {
  const { object } = requestOf().data;
  const creationTimestamp = new Date(NOW - createdAgo).toISOString();
  const deletionTimestamp = new Date(NOW - deletedAgo).toISOString();
  const request = {
    ...requestOf().data,
    id: 'x',
    traceparent: 'x',
    object: { ...object, creationTimestamp, deletionTimestamp },
  };
  const inSeconds = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
  return notFoundYet({ request, clock: manualClock(NOW), inSeconds }, 'volume vol-1');
}

it.each([
  [5 * MINUTE, 2 * MINUTE],
  [86_400_000, 2 * MINUTE],
  [86_400_000, 86_400_000],
])('is believed of an object made %i ms ago whose deletion began %i ms ago (P4)', (createdAgo, deletedAgo) => {
  expect(said(createdAgo, deletedAgo)).toBeUndefined();
});

it.each([
  ['its object was made', 5 * MINUTE - 1, 2 * MINUTE],
  ['its object was made', 0, 0],
  ['its object was made', -MINUTE, 2 * MINUTE],
  ['the deletion began', 5 * MINUTE, 2 * MINUTE - 1],
  ['the deletion began', 86_400_000, -MINUTE],
])(
  'is looked at again in a minute so soon after %s: %i ms after the one, %i ms after the other (P1)',
  (since, ...ages) => {
    expect(said(...ages)).toEqual({
      outcome: 'pending',
      reason: 'NotFoundYet',
      message: `volume vol-1 is not found, but so soon after ${since} it may only not be visible yet`,
      retryAt: new Date(NOW + MINUTE).toISOString(),
    });
  },
);
