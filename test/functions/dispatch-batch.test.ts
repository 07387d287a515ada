/*
 * The dispatch under virtual time: what the records of one batch do to each other, which is nothing.
 * One record alone is in dispatch-record.test.ts.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome, Request } from '../../bridge/contract.ts';
import { createDispatch } from '../../functions/dispatch.ts';
import { gone, type Handler, pending } from '../../functions/handler.ts';
import { work } from './dispatch-work.ts';
import {
  ACCOUNT,
  configOf,
  DELETED_AT,
  HOUR,
  memoryLog,
  memoryQueue,
  NOW,
  REGION,
  recordOf,
  requestOf,
  thing,
  virtualClock,
} from './fixtures.ts';

/** The request for one target of many. */
const requestFor = (name: string): Request =>
  requestOf({ target: { name: `team-a-${name}`, region: REGION, account: ACCOUNT } });
/** A handler that does for each target what its name says. */
const byName = (does: Readonly<Record<string, () => Promise<Outcome>>>, batchSize = 10) => {
  const ran: string[] = [];
  const handler = thing(
    async ({ target }) => {
      const name = target.name.replace('team-a-', '');
      ran.push(name);
      return (await does[name]?.()) ?? gone('deleted');
    },
    { batchSize },
  );
  return { handler, ran };
};
const batchOf = (...names: readonly string[]) =>
  names.map((name) => recordOf(requestFor(name), { messageId: `m-${name}` }));

describe('a batch', () => {
  it('fails only those that failed; an undecodable one disturbs none (Q3)', async () => {
    const { handler } = byName({
      boom: () => Promise.reject(new Error('boom')),
      slow: async () => pending({ reason: 'Slow' }),
    });
    const records = [recordOf('junk', { messageId: 'm-junk' }), ...batchOf('one', 'boom', 'slow', 'two')];
    const { failed, queue } = await work(handler, records);
    expect([...failed].sort()).toEqual(['m-boom', 'm-junk', 'm-slow']);
    expect(queue.sent.map(({ entries }) => entries.length)).toEqual([4]);
  });

  it('fails all when a handler breaks outside of its run, and none is lost (Q3)', async () => {
    const broken: Handler = {
      ...thing(async () => gone('deleted')),
      prepare: () => {
        throw new Error('broken schema');
      },
    };
    const { failed, queue, log } = await work(broken, batchOf('one', 'two'));
    expect(failed).toEqual(['m-one', 'm-two']);
    expect(queue.sent).toEqual([]);
    expect(log.counts).toEqual(['RequestsIgnored JudgeFailed', 'RequestsIgnored JudgeFailed']);
  });

  it('acknowledges only the records whose results were taken (Q2)', async () => {
    const queue = memoryQueue((entries) =>
      entries.filter(({ id }) => id === 'm-two').map(({ id }) => ({ id, code: 'Down', senderFault: false })),
    );
    const { handler } = byName({});
    const { failed } = await work(handler, batchOf('one', 'two', 'three'), { queue });
    expect(failed).toEqual(['m-two']);
  });

  it('runs duplicates once, and acknowledges all of them with one answer (Q5)', async () => {
    const { handler, ran } = byName({});
    const copies = ['a', 'b', 'c'].map((copy) => recordOf(requestFor('one'), { messageId: `m-${copy}` }));
    const { failed, outcomes } = await work(handler, [...copies, ...batchOf('two')]);
    expect(ran).toEqual(['one', 'two']);
    expect(failed).toEqual([]);
    expect(outcomes).toHaveLength(2);
  });

  it('answers a duplicate that comes later again, and acknowledges it (Q5)', async () => {
    const handler = thing(async () => gone('absent'));
    for (const receiveCount of [1, 2]) {
      const { failed, outcomes } = await work(handler, [recordOf(requestOf(), { receiveCount })]);
      expect(failed).toEqual([]);
      expect(outcomes).toHaveLength(1);
    }
  });

  it('does not let a copy from another sender ride along', async () => {
    const records = [
      recordOf(requestOf(), { messageId: 'm-ours' }),
      recordOf(requestOf(), { messageId: 'm-theirs', senderId: 'AROASTRANGER:x' }),
    ];
    const { failed, outcomes } = await work(
      thing(async () => gone('deleted')),
      records,
    );
    expect(failed).toEqual(['m-theirs']);
    expect(outcomes).toHaveLength(1);
  });

  it('hands back at once, unstarted, what is more than a slow handler takes (F5)', async () => {
    const { handler, ran } = byName({}, 1);
    const { failed, queue } = await work(handler, batchOf('one', 'two', 'three'));
    expect(ran).toEqual(['one']);
    expect(failed).toEqual(['m-two', 'm-three']);
    expect(queue.visibilities.slice(0, 2)).toEqual([
      { receiptHandle: 'receipt of m-two', seconds: 0 },
      { receiptHandle: 'receipt of m-three', seconds: 0 },
    ]);
    expect(queue.visibilities.filter(({ seconds }) => seconds > 0)).toEqual([
      { receiptHandle: 'receipt of m-one', seconds: 330 },
    ]);
  });

  it('ends although one handler never does, and the others are answered (F5)', async () => {
    const { handler } = byName({ stuck: () => new Promise(() => {}) });
    const { failed, outcomes } = await work(handler, batchOf('one', 'stuck'));
    expect(failed).toEqual(['m-stuck']);
    expect(outcomes).toMatchObject([{ outcome: 'gone' }, { outcome: 'pending', reason: 'Overran' }]);
  });

  it('ends before the invocation does, and hides its messages, although handler and result queue hang (F5)', async () => {
    const clock = virtualClock(NOW);
    const queue = memoryQueue();
    const hanging = { ...queue, send: () => new Promise<never>(() => {}) };
    const { handler } = byName({ stuck: () => new Promise(() => {}) });
    const aws = () => {
      throw new Error('no client is asked for here');
    };
    const dispatch = createDispatch({
      ...{ handler, clock, aws, config: configOf(), random: () => 0, queue: hanging, log: memoryLog() },
    });
    let ended = Number.NaN;
    const working = dispatch(batchOf('one', 'stuck'), { endsAt: NOW + 300_000, account: ACCOUNT }).then((failed) => {
      ended = clock.now() - NOW;
      return failed;
    });
    await clock.advance(600_000);
    expect(await working).toEqual(['m-one', 'm-stuck']);
    expect(ended).toBeLessThan(300_000);
    expect(queue.visibilities.slice(2).map(({ seconds }) => seconds)).toEqual([30, 30]);
    expect(clock.pending(), 'timers left behind').toBe(0);
  });

  it('ends before the invocation does although changing visibilities hangs', async () => {
    const clock = virtualClock(NOW);
    const hanging = { ...memoryQueue(), changeVisibility: () => new Promise<never>(() => {}) };
    const { handler } = byName({ slow: async () => pending({ reason: 'Slow' }) });
    const aws = () => {
      throw new Error('no client is asked for here');
    };
    const dispatch = createDispatch({
      ...{ handler, clock, aws, config: configOf(), random: () => 0, queue: hanging, log: memoryLog() },
    });
    const working = dispatch(batchOf('one', 'slow'), { endsAt: NOW + 300_000, account: ACCOUNT });
    await clock.advance(299_999);
    expect(await working).toEqual(['m-slow']);
  });

  it('is nothing to do when it is empty', async () => {
    const { failed, queue } = await work(byName({}).handler, []);
    expect(failed).toEqual([]);
    expect(queue.sent).toEqual([]);
    expect(queue.visibilities).toEqual([]);
  });
});

it('lets every copy of a request that stays pending end when it expires (Q10)', async () => {
  const handler = thing(async () => pending({ reason: 'Slow' }));
  const expires = DELETED_AT + 2 * HOUR;
  for (const messageId of ['m-first', 'm-second']) {
    let now = NOW;
    let stays = true;
    for (let receiveCount = 1; stays; receiveCount += 1) {
      const { failed, queue, outcomes } = await work(handler, [recordOf(requestOf(), { messageId, receiveCount })], {
        now,
      });
      stays = failed.length > 0;
      expect(outcomes).toMatchObject([{ outcome: 'pending', reason: stays ? 'Slow' : 'Expired' }]);
      now += (queue.visibilities.at(-1)?.seconds ?? 0) * 1000;
    }
    expect(now).toBeLessThan(expires + 15 * 60_000);
  }
});
