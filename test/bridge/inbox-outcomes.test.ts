/*
 * What a result leaves in the memory of its deletion: gones and their age, refusals, progress, and what was asked for.
 * Whom the bridge believes and what it acknowledges is in inbox.test.ts; what is decided from it in decide.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW_MS, type Outcome } from '../../bridge/contract.ts';
import type { SentRequest } from '../../bridge/pending.ts';
import { counts } from '../support/bridge-builders.ts';
import { InboxBench, messageOf, recorded, requestOf } from '../support/inbox-bench.ts';
import { START, stamp } from '../support/manual-clock.ts';

const request = requestOf();
const { targetDigest: target, ruleDigest: rule } = request.data;
const expires = Date.parse(request.data.expires);
const deleted: Outcome = { outcome: 'gone', evidence: 'deleted' };
const absent: Outcome = { outcome: 'gone', evidence: 'absent' };
const pending: Outcome = { outcome: 'pending', reason: 'InProgress', message: 'emptying' };
const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'another owner' };
const sent: SentRequest = { target, rule, attempt: 0, retry: 0, confirmed: true, at: START, expires };

describe('gone', () => {
  it('is remembered with its digests, its age limit and its evidence', async () => {
    const bench = new InboxBench();
    await bench.settle(true, messageOf(request, deleted));
    expect(bench.pending.gones).toEqual([{ uid: 'uid-logs', target, rule, expires, evidence: 'deleted' }]);
    expect(bench.pending.seen).toEqual([{ target, rule, requested: true, started: true }]);
    expect(await counts(bench.metrics.results)).toEqual({ Gone: 1 });
  });

  it('that comes a minute after its request expired still counts, and later no more (V22)', async () => {
    const bench = new InboxBench();
    await bench.clock.advance(expires + CLOCK_SKEW_MS - START);
    await bench.settle(true, messageOf(request, deleted));
    expect(bench.pending.gones).toHaveLength(1);
    const late = new InboxBench(recorded(request));
    await late.clock.advance(expires + CLOCK_SKEW_MS - START + 1);
    expect(await late.handle(messageOf(request, deleted))).toEqual(['m-1']);
    expect(late.pending.gones).toEqual([]);
    expect(late.added).toEqual([]);
    expect(await counts(late.metrics.results)).toEqual({ Stale: 1 });
  });

  it('that comes too late is acknowledged only when the object names what it was about (V10)', async () => {
    const bench = new InboxBench();
    await bench.clock.advance(expires + 2 * CLOCK_SKEW_MS - START);
    expect(await bench.settle(false, messageOf(request, absent))).toEqual([]);
    expect(bench.added).toEqual([bench.pending.key]);
  });

  it('that comes too late lets a later absent count as deleted', async () => {
    const bench = new InboxBench();
    await bench.clock.advance(expires + 2 * CLOCK_SKEW_MS - START);
    await bench.settle(true, messageOf(request, deleted));
    expect(bench.pending.seen).toEqual([{ target, rule, requested: true, started: true }]);
    const other = new InboxBench();
    await other.clock.advance(expires + 2 * CLOCK_SKEW_MS - START);
    await other.settle(true, messageOf(request, absent));
    expect(other.pending.seen).toEqual([{ target, rule, requested: true, started: false }]);
  });

  it('of absent is kept as that, however often it is said: a person may have to look (P1)', async () => {
    const bench = new InboxBench();
    for (const outcome of [absent, absent]) {
      await bench.settle(true, messageOf(request, outcome));
      expect(bench.pending.gones).toMatchObject([{ evidence: 'absent' }]);
    }
    expect(await counts(bench.metrics.deadLetters)).toEqual({});
  });

  it('of absent after one of deleted takes nothing back, in either order', async () => {
    for (const outcomes of [
      [deleted, absent],
      [absent, deleted],
    ]) {
      const bench = new InboxBench();
      for (const outcome of outcomes) await bench.settle(true, messageOf(request, outcome));
      expect(bench.pending.gones).toMatchObject([{ evidence: 'deleted' }]);
    }
  });

  it('of a newer attempt moves the age limit, and of an older one does not take it back', async () => {
    const bench = new InboxBench();
    const newer = requestOf({ attempt: 2 });
    for (const of of [request, newer, request]) await bench.settle(true, messageOf(of, deleted));
    expect(bench.pending.gones).toMatchObject([{ expires: Date.parse(newer.data.expires) }]);
  });

  it('of another target is kept beside it', async () => {
    const bench = new InboxBench();
    const other = requestOf({ target: { bucket: 'other' } });
    for (const of of [request, other]) await bench.settle(true, messageOf(of, absent));
    expect(bench.pending.gones.map((gone) => gone.target)).toEqual([target, other.data.targetDigest]);
  });
});

describe('any answer', () => {
  it.each([
    ['a refusal', refused],
    ['pending without progress', pending],
    ['gone', absent],
  ])('shows that its target was asked for, whoever asked: %s (V10)', async (_what, outcome) => {
    const bench = new InboxBench({ knowsAllSent: false });
    await bench.settle(true, messageOf(request, outcome));
    expect(bench.pending.seen).toEqual([{ target, rule, requested: true, started: false }]);
  });
});

describe('pending', () => {
  it('with progress says that this deletion has begun to take it down (V16)', async () => {
    const bench = new InboxBench();
    await bench.settle(true, messageOf(request, { ...pending, progress: '2000 of 5000' }));
    expect(bench.pending.seen).toEqual([{ target, rule, requested: true, started: true }]);
    expect(bench.pending.progress).toEqual({ reason: 'InProgress', message: 'emptying; 2000 of 5000' });
  });

  it('without a word still says something', async () => {
    const bench = new InboxBench();
    await bench.settle(true, messageOf(request, { outcome: 'pending', reason: 'Expired' }));
    expect(bench.pending.progress).toEqual({ reason: 'Expired', message: 'in progress' });
    expect(await counts(bench.metrics.results)).toEqual({ Pending: 1 });
  });

  it('never ends anything (K4)', async () => {
    const bench = new InboxBench();
    await bench.settle(true, messageOf(request, pending));
    expect(bench.pending.gones).toEqual([]);
  });
});

describe('a refusal', () => {
  const DAY = 86_400_000;

  it.each([
    ['without a time rests a day', undefined, DAY],
    ['rests until its own time', 3_600_000, 3_600_000],
    ['rests a day at most', 3 * DAY, DAY],
    ['rests a minute at least, whatever clock its time was read from', -3_600_000, 60_000],
  ])('%s', async (_what, after, rests) => {
    const bench = new InboxBench();
    const retryAt = after === undefined ? {} : { retryAt: stamp(START + after) };
    await bench.settle(true, messageOf(request, { ...refused, ...retryAt }));
    expect(bench.pending.refusal).toEqual({
      ...{ target, rule, attempt: 0, retry: 0, reason: 'NotOwned', message: 'another owner' },
      dueAt: START + rests,
    });
    expect(await counts(bench.metrics.results)).toEqual({ Refused: 1 });
  });
});

describe('an answer that a newer request has superseded', () => {
  it.each([
    ['a refusal to an earlier attempt', requestOf({ attempt: 1 }), { ...sent, attempt: 2 }, 'Stale'],
    ['a refusal before a retry', requestOf({ attempt: 1 }), { ...sent, attempt: 1, retry: 1 }, 'Stale'],
    ['a refusal to the newest', requestOf({ attempt: 1, retry: 1 }), { ...sent, attempt: 1, retry: 1 }, 'Refused'],
    [
      'a refusal of other digests',
      requestOf({ attempt: 1 }),
      { ...sent, target: 'f'.repeat(64), attempt: 2 },
      'Refused',
    ],
  ])('is acknowledged and says nothing new: %s', async (_what, of, newest, disposition) => {
    const bench = new InboxBench({ sent: [newest] });
    expect(await bench.settle(true, messageOf(of, refused))).toEqual(['m-1']);
    expect(await counts(bench.metrics.results)).toEqual({ [disposition]: 1 });
    expect(bench.pending.refusal === undefined).toBe(disposition === 'Stale');
  });

  it('is no news of progress either, but a gone is a gone whichever attempt it is of', async () => {
    const bench = new InboxBench({ sent: [{ ...sent, attempt: 2 }] });
    await bench.settle(true, messageOf(request, pending));
    expect(bench.pending.progress).toBeUndefined();
    await bench.settle(true, messageOf(request, deleted));
    expect(bench.pending.gones).toHaveLength(1);
  });
});
