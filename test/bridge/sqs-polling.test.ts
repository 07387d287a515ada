/*
 * How results are polled for: one poll goes on and on with a spare beside it, few and full polls when results come fast, no
 * result that waits for another, and an outage that becomes no storm. In virtual time, over a queue that answers by hand.
 */
import { hash } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { createWholeCheck } from '../../bridge/checksum.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { IncomingMessage } from '../../bridge/ports.ts';
import { QueueHealth } from '../../bridge/queue-health.ts';
import { Acknowledger } from '../../bridge/sqs-acknowledging.ts';
import type { SqsCall } from '../../bridge/sqs-client.ts';
import { Polling } from '../../bridge/sqs-polling.ts';
import { counts, keptLog } from '../support/bridge-builders.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';

interface OpenPoll {
  answer(answer: unknown): void;
  fail(error: Error): void;
}

const queueUrl = 'https://queues/1/results';

let clock: ManualClock;
/** Polls that have no answer yet, oldest first. */
let open: OpenPoll[];
let deleted: unknown[];
let handled: (readonly IncomingMessage[])[];
/** What handling waits for. */
let gate: Promise<void>;
let polling: Polling;
const metrics = createMetrics();
const kept = keptLog();

beforeEach(() => {
  clock = new ManualClock();
  [open, deleted, handled, gate] = [[], [], [], Promise.resolve()];
  metrics.registry.resetMetrics();
  const ask = async ({ action, input, signal }: SqsCall): Promise<unknown> => {
    if (action === 'DeleteMessageBatch') {
      deleted.push(input);
      return {};
    }
    return await new Promise((answer, fail) => {
      const poll = { answer, fail };
      open.push(poll);
      signal?.addEventListener('abort', () => {
        open.splice(open.indexOf(poll), 1);
        fail(signal.reason);
      });
    });
  };
  const told = { client: { ask }, queueUrl, clock, metrics, log: kept.log, health: new QueueHealth(clock) };
  const handle = async (batch: readonly IncomingMessage[]) => {
    handled.push(batch);
    await gate;
    return new Set(batch.map(({ messageId }) => messageId));
  };
  polling = new Polling({ ...told, handle, acknowledger: new Acknowledger(told), isWhole: createWholeCheck() });
  polling.start();
});

let number = 0;
function messages(count: number, changes: object = {}) {
  return Array.from({ length: count }, () => {
    number += 1;
    const Body = `body ${number}`;
    const Attributes = { SenderId: 'AROA:run', ApproximateReceiveCount: '2' };
    const own = { MessageId: `m${number}`, ReceiptHandle: `r${number}`, Body, MD5OfBody: hash('md5', Body) };
    return { ...own, Attributes, ...changes };
  });
}

async function bring(count: number): Promise<void> {
  open.shift()?.answer({ Messages: messages(count) });
  await settled();
}

function closed(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const made = Promise.withResolvers<void>();
  gate = made.promise;
  return made;
}

it('keeps two polls waiting, and polls again at once for results that come one by one', async () => {
  expect(open).toHaveLength(2);
  for (let round = 0; round < 5; round += 1) {
    await bring(1);
    expect(open).toHaveLength(2);
  }
  expect(handled).toHaveLength(5);
  expect(handled[0]).toEqual([expect.objectContaining({ sender: 'AROA:run', receiveCount: 2 })]);
  await clock.advance(200);
  expect(deleted).toMatchObject([{ Entries: Array(5).fill(expect.anything()) }]);
});

it('polls again while what came before is still in hand: one slow result stalls no other', async () => {
  const slow = closed();
  await bring(1);
  gate = Promise.resolve();
  await bring(1);
  expect([handled.length, open.length]).toEqual([2, 2]);
  slow.resolve();
});

it('leaves results time to come together when they come fast, with one poll at a time', async () => {
  await bring(4);
  await clock.advance(19);
  expect(open).toHaveLength(1);
  await clock.advance(1);
  expect(open).toHaveLength(2);
  // The spare one waits as before; once it has brought something it stays away.
  await bring(5);
  for (let round = 0; round < 5; round += 1) {
    await clock.advance(20);
    expect(open).toHaveLength(1);
    await bring(6);
    expect(open).toHaveLength(0);
  }
  await clock.advance(999);
  expect(open).toHaveLength(1);
  await clock.advance(1);
  expect(open).toHaveLength(2);
});

it('leaves those in hand a moment more, until they are settled', async () => {
  const slow = closed();
  await bring(5);
  await bring(1);
  await clock.advance(25);
  expect(open).toHaveLength(0);
  slow.resolve();
  await settled();
  expect(open).toHaveLength(1);
});

it('leaves those in hand a moment more, and no longer than that', async () => {
  const slow = closed();
  await bring(5);
  await bring(1);
  await clock.advance(269);
  expect(open).toHaveLength(0);
  await clock.advance(1);
  expect(open).toHaveLength(1);
  slow.resolve();
});

it('uses both polls when they come back full', async () => {
  await bring(4);
  await bring(10);
  expect(open).toHaveLength(1);
  await clock.advance(20);
  expect(open).toHaveLength(2);
});

it('takes no more when so much is in hand, until some of it is settled', async () => {
  const slow = closed();
  for (let batch = 0; batch < 8; batch += 1) await bring(10);
  await clock.advance(10_000);
  // The poll that was open all the time may still bring some.
  expect(open.length).toBeLessThan(2);
  const before = open.length;
  slow.resolve();
  await settled();
  expect(open.length).toBeGreaterThan(before);
});

it('waits a second after a poll that failed, says so, and goes on', async () => {
  open.shift()?.fail(new Error('no route'));
  open.shift()?.fail(new Error('no route'));
  await clock.advance(999);
  expect(open).toHaveLength(0);
  await clock.advance(1);
  expect(open).toHaveLength(2);
  expect(await counts(metrics.queueCalls)).toEqual({ 'poll/failed': 2 });
  expect(kept.lines.at(-1)).toMatchObject({ level: 'warn', fields: { queueUrl, err: 'no route' } });
});

it('asks one that answers empty at once ever less often, counts that and says it once, until results come', async () => {
  const asked: number[] = [];
  for (let second = 0; second < 60; second += 1) {
    let polls = 0;
    for (let moment = 0; moment < 100; moment += 1) {
      polls += open.length;
      for (const poll of open.splice(0)) poll.answer({});
      await clock.advance(10);
    }
    asked.push(polls);
  }
  expect(asked[0]).toBeLessThanOrEqual(10);
  expect(asked.slice(5).every((polls) => polls <= 2)).toBe(true);
  const told = await counts(metrics.queueCalls);
  expect(told['poll/early']).toBe(asked.reduce((sum, polls) => sum + polls));
  expect(kept.lines.filter(({ message }) => message.includes('before its time'))).toHaveLength(1);
  // What comes ends it for both polls.
  while (open.length === 0) await clock.advance(10);
  await bring(1);
  expect(open).toHaveLength(2);
});

it('polls again at once after an empty answer that took its time', async () => {
  await clock.advance(20_000);
  for (const poll of open.splice(0)) poll.answer({ Messages: [] });
  await settled();
  expect(open).toHaveLength(2);
  expect(await counts(metrics.queueCalls)).toEqual({ 'receive/empty': 2 });
});

it('takes an answer that is none of SQS for a failure', async () => {
  open.shift()?.answer({ Messages: [{ Body: 'x' }] });
  await settled();
  expect([handled.length, open.length]).toEqual([0, 1]);
});

it('neither handles nor deletes a body that was altered on the way: it comes again', async () => {
  open.shift()?.answer({ Messages: [...messages(1, { Body: 'altered' }), ...messages(1)] });
  await settled();
  expect(handled.map((batch) => batch.length)).toEqual([1]);
  await clock.advance(200);
  expect(deleted).toMatchObject([{ Entries: [expect.anything()] }]);
});

it('cuts its polls when it is stopped, and ends what is in hand first', async () => {
  const slow = closed();
  await bring(1);
  let isStopped = false;
  const stopped = polling.stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect([open.length, isStopped]).toEqual([0, false]);
  slow.resolve();
  await stopped;
  expect(clock.due).toHaveLength(1);
});
