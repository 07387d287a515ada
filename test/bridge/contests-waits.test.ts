/*
 * How long a change waits that somebody undoes: never the first time (K27), then ever longer, and never longer than is told; what
 * waits too long is an object without its entry, which leaks when it is deleted (P1). Through the whole bridge in contests.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { Contests } from '../../bridge/contests.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const OBJECT = 'uid-logs/team-buckets';

/** Writes a change so often, each time as soon as it may be. */
async function writeAgain(contests: Contests, clock: ManualClock, times: number): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const wait = contests.waitFor(OBJECT, 'put on');
    waits.push(wait);
    await clock.advance(wait);
    expect(contests.waitFor(OBJECT, 'put on')).toBe(0);
    contests.wrote(OBJECT, 'put on');
  }
  return waits;
}

function prepare(waitMaxMs?: number) {
  const clock = new ManualClock();
  return { clock, contests: waitMaxMs === undefined ? new Contests(clock) : new Contests(clock, waitMaxMs) };
}

describe('a change that is undone again and again', () => {
  it('is made at once, and at once again, and then ever less often, once a minute in the end (K27, P8)', async () => {
    const { clock, contests } = prepare();
    expect(await writeAgain(contests, clock, 12)).toEqual([
      ...[0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
      ...[MINUTE, MINUTE, MINUTE, MINUTE],
    ]);
  });

  it('waits no longer than is told', async () => {
    const { clock, contests } = prepare(5_000);
    expect(await writeAgain(contests, clock, 7)).toEqual([0, 0, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it('waits for what is left of its time, and not at all when that is over', async () => {
    const { clock, contests } = prepare();
    await writeAgain(contests, clock, 4);
    await clock.advance(1_500);
    expect(contests.waitFor(OBJECT, 'put on')).toBe(2_500);
    await clock.advance(10_000);
    expect(contests.waitFor(OBJECT, 'put on')).toBe(0);
  });
});

describe('a change is no contest', () => {
  it('after ten minutes of peace: it is made at once, and counted anew', async () => {
    const { clock, contests } = prepare(60 * MINUTE);
    await writeAgain(contests, clock, 12);
    expect(contests.waitFor(OBJECT, 'put on')).toBeGreaterThan(10 * MINUTE);
    await clock.advance(10 * MINUTE - 1);
    expect(contests.waitFor(OBJECT, 'put on')).toBeGreaterThan(0);
    await clock.advance(1);
    expect(await writeAgain(contests, clock, 3)).toEqual([0, 0, 1_000]);
  });

  it('when it is another than the one before, which ends the count of that one', async () => {
    const { clock, contests } = prepare();
    await writeAgain(contests, clock, 6);
    expect(contests.waitFor(OBJECT, 'take off')).toBe(0);
    contests.wrote(OBJECT, 'take off');
    expect(contests.waitFor(OBJECT, 'put on')).toBe(0);
    expect(await writeAgain(contests, clock, 3)).toEqual([0, 0, 1_000]);
  });

  it('on another object', async () => {
    const { clock, contests } = prepare();
    await writeAgain(contests, clock, 6);
    expect(contests.waitFor('uid-maps/team-buckets', 'put on')).toBe(0);
  });
});

it('of many objects those are remembered that were written last, so that memory stays small (P8)', async () => {
  const { contests } = prepare();
  const twice = (key: string) => {
    contests.wrote(key, 'put on');
    contests.wrote(key, 'put on');
  };
  const isKnown = (key: string) => contests.waitFor(key, 'put on') > 0;
  twice('first');
  twice('second');
  for (let number = 0; number < 4_094; number += 1) contests.wrote(`other ${number}`, 'put on');
  expect(['first', 'second'].map(isKnown)).toEqual([true, true]);
  contests.wrote('first', 'put on');
  contests.wrote('one more', 'put on');
  expect(['first', 'second'].map(isKnown)).toEqual([true, false]);
});
