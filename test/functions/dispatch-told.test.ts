/*
 * What the dispatch tells of a batch: lines and counters, what tells one answer from another, and changes of visibility by the
 * ten. What becomes of the records is in dispatch-record.test.ts and dispatch-batch.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { QueueRecord } from '../../functions/dispatch.ts';
import { gone, type Handler, pending, refused } from '../../functions/handler.ts';
import { pause, type VisibilityEntry } from '../../functions/ports.ts';
import { work } from './dispatch-work.ts';
import { DELETED_AT, HOUR, memoryQueue, recordOf, requestOf, SENDER, thing } from './fixtures.ts';

const takesDown = thing(async () => gone('deleted'));
/** The lines of a level that a batch of one record writes, and what it counts. */
async function told(handler: Handler, record: QueueRecord, level: string, now?: number) {
  const { log } = await work(handler, [record], now === undefined ? {} : { now });
  return { lines: log.lines.filter((line) => line.level === level), counts: log.counts };
}

describe('what is not acted on', () => {
  const about = { messageId: 'm-1', senderId: `${SENDER}:bridge` };

  it('is told with the message, its sender and what is wrong with it', async () => {
    const unread = await told(takesDown, recordOf('not json'), 'error');
    expect(unread.lines).toMatchObject([
      {
        message: 'reading a message: it is not a request; it stays in the queue',
        fields: { ...about, failure: 'NotJson', detail: expect.stringMatching(/./) },
      },
    ]);
    const request = requestOf({ handler: 'other' });
    const ignored = await told(takesDown, recordOf(request), 'error');
    expect(ignored.lines).toEqual([
      {
        level: 'error',
        message: 'judging a request: it is not acted on; it stays in the queue',
        fields: { ...about, requestId: request.id, reason: 'WrongHandler' },
      },
    ]);
  });

  it('is told with the error where judging it failed', async () => {
    const error = new Error('broken schema');
    const prepare = () => {
      throw error;
    };
    expect((await told({ ...takesDown, prepare }, recordOf(requestOf()), 'error')).lines).toEqual([
      {
        level: 'error',
        message: 'judging a request failed; it stays in the queue',
        fields: { messageId: 'm-1', error },
      },
    ]);
  });
});

describe('what is answered', () => {
  it('is told and counted by what it came to, with how long it took and how many copies there were', async () => {
    const handler = thing(async ({ clock }) => {
      await pause(clock, 1_500);
      return gone('absent');
    });
    const copies = ['a', 'b'].map((messageId) => recordOf(requestOf(), { messageId }));
    const { log, queue } = await work(handler, copies);
    expect(log.lines.filter(({ level }) => level === 'info')).toEqual([
      {
        level: 'info',
        message: 'answering a request',
        fields: { outcome: 'gone', evidence: 'absent', durationMs: 1_500, copies: 2 },
      },
    ]);
    expect(log.counts).toEqual(['Outcomes gone absent']);
    expect(log.times).toEqual([{ Duration: 1_500 }]);
    expect(queue.results()).toMatchObject([{ data: { durationMs: 1_500 } }]);
  });

  it.each([
    ['run', thing(async () => refused({ reason: 'NotOwned', message: 'no' })), undefined, 'refused NotOwned'],
    ['run', thing(async () => pending({ reason: 'Slow' })), undefined, 'pending Slow'],
    ['answer', takesDown, DELETED_AT + 3 * HOUR, 'pending Expired'],
  ])('is judged %s, and counted as what it is', async (verdict, handler, now, counted) => {
    const { lines, counts } = await told(handler, recordOf(requestOf()), 'debug', now);
    expect(lines[0]).toEqual({ level: 'debug', message: 'judged a request', fields: { verdict } });
    expect(counts).toEqual([`Outcomes ${counted}`]);
  });

  it('is told under its request and its own span of the trace', async () => {
    const request = requestOf();
    const { log, queue } = await work(takesDown, [recordOf(request)]);
    const [result] = queue.results();
    expect(log.shared).toEqual([{ requestId: request.id, traceparent: result?.traceparent }]);
  });

  it('has a span of its own for each run of a request, at another time or of another message', async () => {
    const span = async (now: number, changes: Partial<QueueRecord> = {}) => {
      const { queue } = await work(takesDown, [recordOf(requestOf(), changes)], { now });
      return queue.results().map(({ traceparent }) => traceparent);
    };
    const spans = [await span(DELETED_AT), await span(DELETED_AT + 1), await span(DELETED_AT, { messageId: 'm-2' })];
    expect(new Set(spans.flat()).size).toBe(3);
  });

  it('is told from any other answer to the same request: by message, receive and chance', async () => {
    const id = async (changes: Partial<QueueRecord>, chance: number) => {
      const { queue } = await work(takesDown, [recordOf(requestOf(), changes)], { chance });
      return queue.results().map((result) => result.id);
    };
    const [first] = await id({}, 0.5);
    expect(first).toContain('m-1.1.80000000');
    expect(await id({ messageId: 'm-2', receiveCount: 3 }, 0.25)).toEqual([expect.stringContaining('m-2.3.40000000')]);
  });
});

describe('visibilities', () => {
  const junk = Array.from({ length: 12 }, (_, index) => recordOf('junk', { messageId: `m-${index}` }));

  it('are changed ten at a time, each once, and none where there is nothing to change', async () => {
    const calls: (readonly VisibilityEntry[])[] = [];
    const queue = {
      ...memoryQueue(),
      changeVisibility: async (entries: readonly VisibilityEntry[]) => void calls.push(entries),
    };
    await work(
      thing(async () => gone('deleted'), { batchSize: 1 }),
      junk,
      { queue },
    );
    // Eleven that are handed back, and the one that stays.
    expect(calls.map((entries) => entries.length)).toEqual([10, 1, 1]);
    expect(new Set(calls.flat().map(({ receiptHandle }) => receiptHandle)).size).toBe(12);
    calls.length = 0;
    await work(takesDown, [recordOf(requestOf(), { senderId: `${SENDER}:bridge` })], {
      queue,
      now: DELETED_AT + 3 * HOUR,
    });
    expect(calls).toEqual([]);
  });

  it('that cannot be changed are told, and those after them are changed all the same', async () => {
    const error = new Error('throttled');
    let calls = 0;
    const changeVisibility = async () => {
      calls += 1;
      throw error;
    };
    const { log } = await work(
      thing(async () => gone('deleted'), { batchSize: 1 }),
      junk,
      {
        queue: { ...memoryQueue(), changeVisibility },
      },
    );
    expect(calls).toBe(3);
    const line = { level: 'warn', message: 'changing visibilities failed; the time-out of the queue applies' };
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual(Array(3).fill({ ...line, fields: { error } }));
  });
});
