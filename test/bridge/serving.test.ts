/*
 * Since when a kind is served, and what follows for the label of its rules. That watches tell of it is in
 * rule-label.test.ts.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { SERVED_MS, Serving } from '../../bridge/serving.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock } from '../support/manual-clock.ts';

let clock: ManualClock;
let serving: Serving;
beforeEach(() => {
  clock = new ManualClock();
  serving = new Serving(clock);
});

const WANTED = { isWanted: true, dueIn: undefined };
const waits = (dueIn: number | undefined) => ({ isWanted: false, dueIn });

describe('the label of a rule in force', () => {
  it('is set once its kind was served for half a minute', async () => {
    expect(serving.label(BUCKETS, false)).toEqual(waits(undefined));
    serving.up(BUCKETS);
    expect(serving.label(BUCKETS, false)).toEqual(waits(SERVED_MS));
    await clock.advance(SERVED_MS - 1);
    expect(serving.label(BUCKETS, false)).toEqual(waits(1));
    await clock.advance(1);
    expect(serving.label(BUCKETS, false)).toEqual(WANTED);
  });

  it('is set at once for a kind that was served for long, however often that was seen', async () => {
    serving.up(BUCKETS);
    await clock.advance(SERVED_MS / 2);
    serving.up(BUCKETS);
    await clock.advance(SERVED_MS / 2);
    expect(serving.label(BUCKETS, false)).toEqual(WANTED);
    expect(serving.label(VOLUMES, false), 'another kind').toEqual(waits(undefined));
  });

  it('that is there at the start stays, also before anything is known of the kind', async () => {
    expect(serving.label(BUCKETS, true).isWanted).toBe(true);
    serving.up(BUCKETS);
    expect(serving.label(BUCKETS, true)).toEqual({ isWanted: true, dueIn: SERVED_MS });
  });

  it('comes off when the kind is not served, and on again half a minute after it is back', async () => {
    serving.up(BUCKETS);
    await clock.advance(2 * SERVED_MS);
    serving.down(BUCKETS);
    expect(serving.label(BUCKETS, true)).toEqual(waits(undefined));
    serving.up(BUCKETS);
    expect(serving.label(BUCKETS, true), 'not taken off yet').toEqual(waits(SERVED_MS));
    await clock.advance(SERVED_MS);
    expect(serving.label(BUCKETS, false)).toEqual(WANTED);
  });

  it('waits anew for a kind that nobody looked at for a while', async () => {
    serving.up(BUCKETS);
    await clock.advance(2 * SERVED_MS);
    serving.unseen(BUCKETS);
    expect(serving.label(BUCKETS, false)).toEqual(waits(undefined));
    serving.up(BUCKETS);
    expect(serving.label(BUCKETS, false)).toEqual(waits(SERVED_MS));
  });

  it('counts by time that passes, not by a wall clock that is set', async () => {
    serving.up(BUCKETS);
    clock.step(2 * SERVED_MS);
    expect(serving.label(BUCKETS, false)).toEqual(waits(SERVED_MS));
  });
});
