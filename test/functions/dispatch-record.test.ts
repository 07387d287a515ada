/*
 * The dispatch under virtual time: what becomes of one record, by what it is and by what its teardown says.
 * Several of them together are in dispatch-batch.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { gone, pending, refused } from '../../functions/handler.ts';
import { work } from './dispatch-work.ts';
import { DELETED_AT, HOUR, memoryQueue, RESULT_QUEUE, recordOf, requestOf, thing } from './fixtures.ts';

describe('one record', () => {
  it('is answered and acknowledged when its target is gone (F4)', async () => {
    const request = requestOf();
    const { failed, queue, outcomes } = await work(
      thing(async () => gone('deleted')),
      [recordOf(request)],
    );
    expect(failed).toEqual([]);
    expect(outcomes).toEqual([{ outcome: 'gone', evidence: 'deleted' }]);
    expect(queue.sent[0]?.queueUrl).toBe(RESULT_QUEUE);
    expect(queue.results()[0]).toMatchObject({
      traceparent: expect.stringContaining(request.traceparent.slice(0, 35)),
      data: { requestId: request.id, handler: { name: 'thing', version: '1.2.3', contract: 1 }, durationMs: 0 },
    });
  });

  it('is answered and acknowledged when it is refused', async () => {
    const outcome = refused({ reason: 'NotOwned', message: 'no' });
    const { failed, outcomes } = await work(
      thing(async () => outcome),
      [recordOf(requestOf())],
    );
    expect(failed).toEqual([]);
    expect(outcomes).toEqual([outcome]);
  });

  it('is answered and stays, hidden longer each time, while it is pending', async () => {
    const handler = thing(async () => pending({ reason: 'Slow' }));
    const hidden = [];
    for (const receiveCount of [1, 2, 6]) {
      const { failed, queue, outcomes } = await work(handler, [recordOf(requestOf(), { receiveCount })]);
      expect(failed).toEqual(['m-1']);
      expect(outcomes).toMatchObject([{ outcome: 'pending', reason: 'Slow' }]);
      hidden.push(queue.visibilities.at(-1)?.seconds);
    }
    expect(hidden).toEqual([30, 60, 600]);
  });

  it('comes back when the handler asked for it', async () => {
    const handler = thing(async ({ inSeconds }) => pending({ reason: 'Slow', retryAt: inSeconds(15) }));
    const { queue } = await work(handler, [recordOf(requestOf(), { receiveCount: 9 })]);
    expect(queue.visibilities.at(-1)).toEqual({ receiptHandle: 'receipt of m-1', seconds: 15 });
  });

  it.each([
    ['throws', async () => Promise.reject(new Error('boom')), 'HandlerError'],
    ['throws what is no error', async () => Promise.reject('boom'), 'HandlerError'],
    [
      'throws before its first await',
      () => {
        throw new TypeError('boom');
      },
      'HandlerError',
    ],
  ] as const)('stays and says pending when the handler %s, and is never gone (F1)', async (_what, teardown, reason) => {
    const { failed, outcomes } = await work(thing(teardown), [recordOf(requestOf())]);
    expect(failed).toEqual(['m-1']);
    expect(outcomes).toMatchObject([{ outcome: 'pending', reason }]);
  });

  it('stays when the result could not be sent, though the target is gone (Q2, F4)', async () => {
    const queue = memoryQueue((entries) => entries.map(({ id }) => ({ id, code: 'Down', senderFault: false })));
    const { failed } = await work(
      thing(async () => gone('deleted')),
      [recordOf(requestOf())],
      { queue },
    );
    expect(failed).toEqual(['m-1']);
    expect(queue.visibilities.at(-1)?.seconds).toBe(30);
  });

  it('comes back soon when its refusal could not be told, whenever that falls due', async () => {
    const queue = memoryQueue((entries) => entries.map(({ id }) => ({ id, code: 'Down', senderFault: false })));
    const handler = thing(async ({ inSeconds }) =>
      refused({ reason: 'NotOwned', message: 'no', retryAt: inSeconds(3_000) }),
    );
    const { failed } = await work(handler, [recordOf(requestOf())], { queue });
    expect(failed).toEqual(['m-1']);
    expect(queue.visibilities.at(-1)?.seconds).toBe(30);
  });

  it('is hidden for the time budget and a minute while the handler works (Q1)', async () => {
    const queue = memoryQueue();
    const seen: unknown[] = [];
    await work(
      thing(async () => {
        seen.push(...queue.visibilities);
        return gone('deleted');
      }),
      [recordOf(requestOf())],
      { queue },
    );
    expect(seen).toEqual([{ receiptHandle: 'receipt of m-1', seconds: 330 }]);
  });

  it('is worked on also when its visibility cannot be changed', async () => {
    const queue = { ...memoryQueue(), changeVisibility: () => Promise.reject(new Error('throttled')) };
    const { failed } = await work(
      thing(async () => gone('deleted')),
      [recordOf(requestOf())],
      { queue },
    );
    expect(failed).toEqual([]);
  });
});

describe('what is not acted on', () => {
  const never = thing(async () => Promise.reject(new Error('must not run')));
  const changed = (path: string, value: unknown) => {
    const body = JSON.parse(recordOf(requestOf()).body);
    body[path] = value;
    return JSON.stringify(body);
  };
  it.each([
    ['no JSON', 'not json', 'NotJson'],
    ['an empty body', '', 'NotJson'],
    ['another event', '{"hello":"world"}', 'NotCloudEvent'],
    ['an unknown type', changed('type', 'dev.finalizer-bridge.deletion.pending.v9'), 'UnknownType'],
    ['a result', changed('type', 'dev.finalizer-bridge.teardown.result.v1'), 'UnknownType'],
    ['an id that does not fit', changed('id', 'x'), 'Invalid'],
    ['too large a body', `"${'x'.repeat(70_000)}"`, 'TooLarge'],
  ])('%s stays, is counted, and gets no answer (Q3)', async (_what, body, reason) => {
    const { failed, queue, log } = await work(never, [recordOf(body)]);
    expect(failed).toEqual(['m-1']);
    expect(queue.sent).toEqual([]);
    expect(log.counts).toEqual([`RequestsIgnored ${reason}`]);
    expect(queue.visibilities.at(-1)?.seconds).toBe(30);
  });

  it.each([
    ['somebody else as sender', recordOf(requestOf(), { senderId: 'AROASTRANGER:bridge' }), 'UnknownSender'],
    ['another cluster', recordOf(requestOf({ cluster: { uid: 'other' } })), 'UnknownCluster'],
    ['another handler', recordOf(requestOf({ handler: 'other' })), 'WrongHandler'],
  ])('a request with %s stays, is counted, and gets no answer (Q11)', async (_what, record, reason) => {
    const { failed, queue, log } = await work(never, [record]);
    expect(failed).toEqual(['m-1']);
    expect(queue.sent).toEqual([]);
    expect(log.counts).toEqual([`RequestsIgnored ${reason}`]);
  });

  it('a request redriven after weeks is answered Expired, acknowledged, and deletes nothing (Q9)', async () => {
    const { failed, outcomes } = await work(never, [recordOf(requestOf())], { now: DELETED_AT + 21 * 24 * HOUR });
    expect(failed).toEqual([]);
    expect(outcomes).toMatchObject([{ outcome: 'pending', reason: 'Expired' }]);
  });

  it('a request with too little life left is answered Expired without starting (V17)', async () => {
    const { failed, outcomes } = await work(never, [recordOf(requestOf())], { now: DELETED_AT + 2 * HOUR - 329_000 });
    expect(failed).toEqual([]);
    expect(outcomes).toMatchObject([{ outcome: 'pending', reason: 'Expired' }]);
  });
});
