/*
 * Sending requests: batches by count and by bytes, an account of every entry, and a last question before each call.
 * The queue is a fake; how SQS answers and what of that is believed is in sqs.test.ts.
 */
import { describe, expect, it } from 'vitest';
import {
  BATCH_MAX_BYTES,
  BATCH_MAX_ENTRIES,
  FILL_BUSY_MS,
  FILL_MS,
  type OnCall,
  Outbox,
  type Outgoing,
} from '../../bridge/outbox.ts';
import type { SendFailure } from '../../bridge/ports.ts';
import { FakeQueue } from '../support/fake-queue.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';

const URL = 'https://queues/s3-bucket';

function bench(isBusy: () => boolean = () => false) {
  const queue = new FakeQueue();
  const calls: Parameters<OnCall>[0][] = [];
  const clock = new ManualClock();
  const outbox = new Outbox({ queue, clock, isBusy, onCall: (call) => void calls.push(call) });
  const send = (body: string, changes: Partial<Outgoing> = {}) =>
    outbox.send({ queueUrl: URL, body, mayGo: () => true, ...changes });
  return { queue, clock, calls, send };
}

const failed = (id: string): SendFailure => ({ id, code: 'InternalError', detail: 'try again' });

describe('a batch', () => {
  it('carries what became ready together, and each hears its own outcome', async () => {
    const { queue, calls, send } = bench();
    const outcomes = await Promise.all(['a', 'b', 'c'].map((body) => send(body)));
    expect(outcomes).toEqual([{ kind: 'sent' }, { kind: 'sent' }, { kind: 'sent' }]);
    expect(queue.calls.map(({ queueUrl, batch }) => [queueUrl, batch.map(({ body }) => body)])).toEqual([
      [URL, ['a', 'b', 'c']],
    ]);
    expect(calls).toEqual([{ entries: 3, failed: 0 }]);
  });

  it('has at most ten entries, with ids that are unique in it', async () => {
    const { queue, clock, send } = bench();
    const sent = Promise.all(Array.from({ length: 25 }, (_, index) => send(`body ${index}`)));
    await clock.advance(FILL_MS);
    await sent;
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual([BATCH_MAX_ENTRIES, BATCH_MAX_ENTRIES, 5]);
    for (const { batch } of queue.calls) expect(new Set(batch.map(({ id }) => id)).size).toBe(batch.length);
    expect(queue.taken).toEqual(Array.from({ length: 25 }, (_, index) => `body ${index}`));
  });

  it('keeps below the limit in UTF-8 bytes, and one entry always goes (Q6)', async () => {
    const { queue, send } = bench();
    const third = 'é'.repeat(BATCH_MAX_BYTES / 6);
    const whole = 'x'.repeat(BATCH_MAX_BYTES + 1);
    await Promise.all([third, third, third, third, whole, 'small'].map((body) => send(body)));
    const sizes = queue.calls.map(({ batch }) => batch.map(({ body }) => Buffer.byteLength(body)));
    const small = Buffer.byteLength(third);
    for (const size of sizes) {
      const bytes = size.reduce((sum, each) => sum + each, 0);
      expect(size.length === 1 || bytes <= BATCH_MAX_BYTES).toBe(true);
    }
    expect(sizes.flat()).toEqual([small, small, small, small, BATCH_MAX_BYTES + 1, 5]);
    expect(sizes[0]).toHaveLength(3);
  });

  it('goes to one queue only', async () => {
    const { queue, send } = bench();
    await Promise.all([send('a'), send('b', { queueUrl: 'https://queues/ec2-instance' }), send('c')]);
    expect(queue.calls.map(({ batch }) => batch.map(({ body }) => body))).toEqual([['a', 'c'], ['b']]);
  });

  it('fills up while as many calls are under way as may be', async () => {
    const { queue, send } = bench();
    const gates: (() => void)[] = [];
    queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    const bodies = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const first: Promise<unknown>[] = [];
    for (const body of bodies) {
      first.push(send(body));
      await settled();
    }
    const most = queue.calls.length;
    expect(most).toBeGreaterThan(1);
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual(Array(most).fill(1));
    expect(most).toBeLessThan(bodies.length - 1);
    gates.shift()?.();
    await settled();
    expect(queue.calls.slice(most).map(({ batch }) => batch.map(({ body }) => body))).toEqual([bodies.slice(most)]);
    for (const open of gates) open();
    await Promise.all(first);
  });

  it('of one is followed at once by the next', async () => {
    const { queue, send } = bench();
    for (const body of ['a', 'b', 'c']) await send(body);
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual([1, 1, 1]);
  });

  it('of several is followed by one that fills up for a moment, and no longer', async () => {
    const { queue, clock, send } = bench();
    await Promise.all([send('a'), send('b')]);
    const sent: Promise<unknown>[] = [];
    for (const body of ['c', 'd', 'e']) {
      sent.push(send(body));
      await clock.advance(FILL_MS / 5);
    }
    expect(queue.calls).toHaveLength(1);
    await clock.advance((FILL_MS * 2) / 5);
    expect(queue.calls.map(({ batch }) => batch.map(({ body }) => body))).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
    await Promise.all(sent);
    await clock.advance(FILL_MS);
    await send('later');
    expect(queue.calls).toHaveLength(3);
  });

  it('fills up for a moment while very much is in hand, and goes at once when it is full', async () => {
    let isBusy = true;
    const { queue, clock, send } = bench(() => isBusy);
    const sent = [send('a')];
    await clock.advance(FILL_BUSY_MS - 1);
    sent.push(send('b'));
    await settled();
    expect(queue.calls).toHaveLength(0);
    await clock.advance(1);
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual([2]);
    await clock.advance(FILL_MS);
    sent.push(...Array.from({ length: BATCH_MAX_ENTRIES }, (_, index) => send(`body ${index}`)));
    await settled();
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual([2, BATCH_MAX_ENTRIES]);
    await clock.advance(FILL_MS);
    isBusy = false;
    await send('alone');
    await Promise.all(sent);
    expect(clock.due).toEqual([]);
  });

  it('of several is followed at once by one that is full', async () => {
    const { queue, send } = bench();
    await Promise.all([send('a'), send('b')]);
    await Promise.all(Array.from({ length: BATCH_MAX_ENTRIES }, (_, index) => send(`body ${index}`)));
    expect(queue.calls.map(({ batch }) => batch.length)).toEqual([2, BATCH_MAX_ENTRIES]);
  });
});

describe('a call', () => {
  it('that the queue takes in part is sent for those that it took, and failed for each other (Q2)', async () => {
    const { queue, calls, send } = bench();
    queue.sending = async () => [failed('1')];
    const outcomes = await Promise.all(['a', 'b', 'c'].map((body) => send(body)));
    expect(outcomes).toEqual([
      { kind: 'sent' },
      { kind: 'failed', detail: 'InternalError: try again' },
      { kind: 'sent' },
    ]);
    expect(queue.taken).toEqual(['a', 'c']);
    expect(calls).toEqual([{ entries: 3, failed: 1 }]);
  });

  it('that fails as a whole is failed for every entry, with its cause, and the next one goes', async () => {
    const { queue, clock, calls, send } = bench();
    const cause = new Error('socket hang up');
    queue.sending = async () => {
      throw cause;
    };
    const outcomes = await Promise.all([send('a'), send('b')]);
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: 'failed', detail: 'socket hang up', cause })));
    queue.sending = async () => [];
    const next = send('a');
    await clock.advance(FILL_MS);
    expect(await next).toEqual({ kind: 'sent' });
    expect(calls).toEqual([
      { entries: 2, failed: 2 },
      { entries: 1, failed: 0 },
    ]);
  });
});

describe('an entry that may not go any more', () => {
  it('is stale and not sent; the others of its batch go (V3)', async () => {
    const { queue, send } = bench();
    const outcomes = await Promise.all([send('a'), send('b', { mayGo: () => false }), send('c')]);
    expect(outcomes).toEqual([{ kind: 'sent' }, { kind: 'stale' }, { kind: 'sent' }]);
    expect(queue.taken).toEqual(['a', 'c']);
  });

  it('makes no call when none of its batch may go', async () => {
    const { queue, calls, send } = bench();
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => send('a', { mayGo: () => false })));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['stale']));
    expect(queue.calls).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('is asked directly before its own call, not when it was handed over (V3)', async () => {
    const { queue, send } = bench();
    let holdsLease = true;
    const gates: (() => void)[] = [];
    queue.sending = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return [];
    };
    // One call after the other, until the next one has to wait its turn.
    for (let calls = -1; calls < gates.length; ) {
      calls = gates.length;
      void send(`call ${calls}`);
      await settled();
    }
    const late = send('late', { mayGo: () => holdsLease });
    await settled();
    holdsLease = false;
    for (const open of gates.splice(0)) open();
    expect(await late).toEqual({ kind: 'stale' });
    expect(queue.taken).not.toContain('late');
    expect(queue.taken).toContain('call 0');
  });

  it('is asked again when its batch has filled up (V3)', async () => {
    const { queue, clock, send } = bench();
    await Promise.all([send('a'), send('b')]);
    let holdsLease = true;
    const late = send('late', { mayGo: () => holdsLease });
    await settled();
    holdsLease = false;
    await clock.advance(FILL_MS);
    expect(await late).toEqual({ kind: 'stale' });
    expect(queue.taken).toEqual(['a', 'b']);
  });
});
