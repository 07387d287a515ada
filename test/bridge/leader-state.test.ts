/*
 * What a bridge makes of the lease it has looked at, as values: who leads at which moment, when another one's lease is free, and
 * what is written. What comes of it over calls and clocks is in leader.test.ts and leader-change.test.ts.
 */
import { describe, expect, it } from 'vitest';
import {
  type Candidacy,
  givenBack,
  HOLD_MS,
  isLeading,
  LEASE_MS,
  type LeaseRecord,
  look,
  nextStep,
  type StoredLease,
  whyOver,
  won,
} from '../../bridge/leader-state.ts';

const WALL = Date.parse('2026-03-02T09:30:00Z');
const LONG_AGO = '2026-03-02T09:00:00.000Z';
const nobody: Candidacy = { identity: 'one', seen: undefined, wonAt: undefined };
const record: LeaseRecord = {
  ...{ holder: 'other', durationSeconds: 15, acquireTime: LONG_AGO, renewTime: '2026-03-02T09:29:58.000Z' },
  transitions: 3,
};
const stored = (parts: Partial<LeaseRecord> = {}): StoredLease => ({
  ...{ uid: 'lease-1', resourceVersion: '7' },
  record: { ...record, ...parts },
});
const at = (monotonic: number, wall = WALL) => ({ monotonic, wall });
/** Has seen the other's record at 1,000. */
const waiting = look(nobody, stored(), 1_000);
/** Has written its own at 1,000. */
const leader = won(nobody, stored({ holder: 'one' }), 1_000);

describe('who leads', () => {
  it('is who has won, until ten seconds after the write was sent', () => {
    expect(isLeading(leader, 1_000)).toBe(true);
    expect(isLeading(leader, 1_000 + HOLD_MS - 1)).toBe(true);
    expect(isLeading(leader, 1_000 + HOLD_MS)).toBe(false);
    expect(isLeading(nobody, 0)).toBe(false);
    expect(isLeading(waiting, 1_000)).toBe(false);
  });

  it('has lost from then on, and says for how long it has not renewed; nobody else has lost', () => {
    expect(whyOver(leader, 1_000 + HOLD_MS - 1)).toBeUndefined();
    expect(whyOver(leader, 1_000.4 + HOLD_MS + 250)).toBe('not renewed for 10250 ms');
    expect(whyOver(waiting, 100_000)).toBeUndefined();
    expect(nextStep(leader, stored({ holder: 'one' }), at(1_000 + HOLD_MS))).toEqual({
      act: 'lost',
      why: 'not renewed for 10000 ms',
    });
  });

  it('leads for less time than others wait', () => {
    expect(HOLD_MS).toBeLessThan(LEASE_MS);
  });
});

describe('a lease that was looked at', () => {
  it('is seen since the record first stood there, by the clock of whoever looks', () => {
    expect(waiting.seen).toEqual({ record, since: 1_000 });
    expect(look(waiting, stored(), 9_000).seen?.since).toBe(1_000);
    expect(look(waiting, { ...stored(), resourceVersion: '8' }, 9_000).seen?.since).toBe(1_000);
  });

  it.each<Partial<LeaseRecord>>([
    { holder: 'a third' },
    { durationSeconds: 16 },
    { acquireTime: '2026-03-02T09:00:00.001Z' },
    { renewTime: '2026-03-02T09:29:58.001Z' },
    { transitions: 4 },
  ])('is seen anew when it says %j', (changed) => {
    expect(look(waiting, stored(changed), 9_000).seen).toEqual({ record: { ...record, ...changed }, since: 9_000 });
  });

  it('leaves what was seen before when it is not there any more', () => {
    expect(look(waiting, undefined, 9_000)).toBe(waiting);
  });
});

describe('the lease of somebody else', () => {
  it('is free when its record has not changed for fifteen seconds', () => {
    const freeAt = 1_000 + LEASE_MS;
    expect(nextStep(waiting, stored(), at(freeAt - 1))).toEqual({ act: 'wait', holder: 'other', freeAt });
    expect(nextStep(waiting, stored(), at(freeAt))).toMatchObject({ act: 'replace', record: { holder: 'one' } });
  });

  it.each([
    [60, 60_000],
    [1, LEASE_MS],
  ])('that says %i s is waited for through %i ms', (durationSeconds, lasts) => {
    const seen = look(nobody, stored({ durationSeconds }), 1_000);
    expect(nextStep(seen, stored({ durationSeconds }), at(1_000 + lasts - 1))).toMatchObject({ act: 'wait' });
    expect(nextStep(seen, stored({ durationSeconds }), at(1_000 + lasts))).toMatchObject({ act: 'replace' });
  });

  it('that nobody has looked at before counts from now on', () => {
    expect(nextStep(nobody, stored(), at(500))).toEqual({ act: 'wait', holder: 'other', freeAt: 500 + LEASE_MS });
  });

  it('counts for as long when it was deleted, and is created when that is over', () => {
    expect(nextStep(waiting, undefined, at(1_000 + LEASE_MS - 1))).toMatchObject({ act: 'wait', holder: 'other' });
    expect(nextStep(waiting, undefined, at(1_000 + LEASE_MS))).toMatchObject({ act: 'create' });
  });

  it('ends the leading of who had it, at once', () => {
    expect(nextStep(leader, stored(), at(2_000))).toEqual({ act: 'lost', why: 'other has it' });
  });
});

describe('a lease that is older than what was written', () => {
  const older = { ...stored({ holder: 'one' }), resourceVersion: '6' };
  const lost = { act: 'lost', why: expect.stringContaining('restored') };

  it('P5 ends the leading of who wrote it, though it names the same holder: what it remembers never was', () => {
    expect(nextStep(leader, older, at(2_000))).toEqual(lost);
    expect(nextStep(leader, { ...older, resourceVersion: '10' }, at(2_000))).toMatchObject({ act: 'replace' });
  });

  it('ends it as well where it had to be made anew, once that was written', () => {
    const again = won(leader, older, 2_000);
    expect(nextStep(again, older, at(2_000))).toEqual(lost);
  });

  it('is nothing to who does not lead', () => {
    expect(nextStep(look(nobody, older, 1_000), older, at(1_000 + LEASE_MS))).toMatchObject({ act: 'replace' });
  });
});

describe('what is written', () => {
  const now = new Date(WALL).toISOString();

  it('creates the lease where there never was one', () => {
    expect(nextStep(nobody, undefined, at(0))).toEqual({
      act: 'create',
      record: { holder: 'one', durationSeconds: 15, acquireTime: now, renewTime: now, transitions: 0 },
    });
  });

  it('takes at once what was given back, as one more change of hands', () => {
    const free = stored({ holder: '', durationSeconds: 1 });
    expect(nextStep(look(nobody, free, 1_000), free, at(1_000))).toEqual({
      act: 'replace',
      record: { holder: 'one', durationSeconds: 15, acquireTime: now, renewTime: now, transitions: 4 },
    });
  });

  it('renews its own without a change of hands, and keeps when it was acquired', () => {
    const own = stored({ holder: 'one' });
    expect(nextStep(leader, own, at(2_000))).toEqual({
      act: 'replace',
      record: { holder: 'one', durationSeconds: 15, acquireTime: LONG_AGO, renewTime: now, transitions: 3 },
    });
  });

  it.each([
    ['a clock that was set back', '2026-03-02T10:00:00.000Z', '2026-03-02T10:00:00.001Z'],
    ['a clock that stands still', now, '2026-03-02T09:30:00.001Z'],
    ['what is no time', 'yesterday', now],
    ['nothing', '', now],
    ['a year that nobody can write after', '9999-01-01T00:00:00.000Z', now],
    ['the moment before that year', '9998-12-31T23:59:59.999Z', now],
    ['an earlier moment', '9998-12-31T23:59:59.998Z', '9998-12-31T23:59:59.999Z'],
  ])('is another time than before, after %s', (_what, renewTime, written) => {
    const own = stored({ holder: 'one', renewTime });
    expect(nextStep(leader, own, at(2_000))).toMatchObject({ record: { renewTime: written } });
    expect(givenBack(own.record, WALL).renewTime).toBe(written);
  });

  it('gives back what whoever looks next may take at once', () => {
    expect(givenBack({ ...record, holder: 'one' }, WALL)).toEqual({
      ...{ holder: '', durationSeconds: 1, acquireTime: LONG_AGO, renewTime: now, transitions: 3 },
    });
  });

  it('is remembered as won from the moment before it was sent', () => {
    expect(leader).toEqual({
      identity: 'one',
      seen: { record: { ...record, holder: 'one' }, since: 1_000 },
      wonAt: 1_000,
      version: '7',
    });
  });
});
