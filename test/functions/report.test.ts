/*
 * Sending results: every entry accounted for.
 * The queue is a fake that refuses what the test says.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../../bridge/contract.ts';
import { type EntryFault, pause, type SendEntry } from '../../functions/ports.ts';
import { BATCH_MAX_BYTES, BATCH_MAX_ENTRIES, report, splitBatches } from '../../functions/report.ts';
import { memoryLog, memoryQueue, NOW, virtualClock } from './fixtures.ts';

const outgoing = (count: number, queueUrl = 'https://q/1') =>
  Array.from({ length: count }, (_, index) => ({ key: `${queueUrl} ${index}`, queueUrl, body: `body ${index}` }));

async function send(
  results: ReturnType<typeof outgoing>,
  refuse?: (entries: readonly SendEntry[], call: number) => readonly EntryFault[],
) {
  const clock = virtualClock();
  const queue = memoryQueue(refuse);
  const log = memoryLog();
  const sending = report(results, { queue, clock, random: () => 0, log }, NOW + 10_000);
  await clock.advance(10_000);
  expect(clock.pending(), 'timers left behind').toBe(0);
  return { confirmed: await sending, queue, log };
}

it('sends up to ten results in one call, per queue', async () => {
  const results = [...outgoing(12), ...outgoing(2, 'https://q/2')];
  const { confirmed, queue } = await send(results);
  expect(confirmed.size).toBe(14);
  expect(queue.sent.map(({ queueUrl, entries }) => [queueUrl, entries.length])).toEqual([
    ['https://q/1', 10],
    ['https://q/1', 2],
    ['https://q/2', 2],
  ]);
});

it('makes no call when there is nothing to send', async () => {
  const { queue } = await send([]);
  expect(queue.sent).toEqual([]);
});

it('sends only the entries again that a 200 did not take (Q2)', async () => {
  const [first, second, third] = outgoing(3).map(({ key }) => key);
  const { confirmed, queue } = await send(outgoing(3), (_entries, call) =>
    call === 1 ? [{ id: second ?? '', code: 'InternalError', senderFault: false }] : [],
  );
  expect([...confirmed]).toEqual([first, third, second]);
  expect(queue.sent.map(({ entries }) => entries.length)).toEqual([3, 1]);
});

it('gives up on entries that stay unconfirmed, and says which were not (Q2)', async () => {
  const { confirmed, queue, log } = await send(outgoing(2), (entries) =>
    entries
      .filter(({ id }) => id.endsWith(' 1'))
      .map(({ id }) => ({ id, code: 'ServiceUnavailable', senderFault: false })),
  );
  expect([...confirmed]).toEqual(['https://q/1 0']);
  expect(queue.sent).toHaveLength(3);
  expect(log.counts).toEqual(['ResultsNotSent']);
});

it('does not repeat what the queue will always refuse', async () => {
  const { confirmed, queue } = await send(outgoing(1), (entries) =>
    entries.map(({ id }) => ({ id, code: 'InvalidMessageContents', senderFault: true })),
  );
  expect(confirmed.size).toBe(0);
  expect(queue.sent).toHaveLength(1);
});

it('takes a call that fails as a whole for nothing sent, and tries again', async () => {
  const { confirmed, queue } = await send(outgoing(2), (_entries, call) => {
    if (call === 1) throw new Error('network');
    return [];
  });
  expect(confirmed.size).toBe(2);
  expect(queue.sent).toHaveLength(2);
});

describe('what the queue does not take', () => {
  const fault = (id: string) => ({ id, code: 'InternalError', message: 'again', senderFault: false });

  it('is tried again after a back-off that doubles, with jitter, and three times at most', async () => {
    const clock = virtualClock();
    const calls: number[] = [];
    const queue = {
      async send(_url: string, entries: readonly SendEntry[]) {
        calls.push(clock.now() - NOW);
        return entries.map(({ id }) => fault(id));
      },
    };
    const sending = report(outgoing(1), { queue, clock, random: () => 0.5, log: memoryLog() }, NOW + 10_000);
    await clock.advance(10_000);
    expect([...(await sending)]).toEqual([]);
    expect(calls).toEqual([0, 300, 900]);
  });

  it('is told, each time and for each entry, and at the end how many were lost', async () => {
    const { log } = await send(outgoing(3), (entries) =>
      entries.filter(({ id }) => !id.endsWith(' 0')).map(({ id }) => fault(id)),
    );
    const told = (index: number) => ({
      level: 'warn',
      message: 'sending a result: the queue did not take it',
      fields: { queueUrl: 'https://q/1', ...fault(`https://q/1 ${index}`) },
    });
    const each = [told(1), told(2)];
    expect(log.lines.slice(0, -1)).toEqual([...each, ...each, ...each]);
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', fields: { lost: 2 } });
  });

  it('is told with the error where the call failed', async () => {
    const error = new Error('network');
    const { log } = await send(outgoing(1), () => {
      throw error;
    });
    const failed = {
      level: 'warn',
      message: 'sending results: the call failed',
      fields: { queueUrl: 'https://q/1', error },
    };
    const message = 'sending results: not all were taken; their requests stay in the queue';
    expect(log.lines).toEqual([failed, failed, failed, { level: 'error', message, fields: { lost: 1 } }]);
  });

  it('is nothing to tell of where all were taken', async () => {
    const { log } = await send(outgoing(2));
    expect([log.lines, log.counts]).toEqual([[], []]);
  });
});

describe('with its time limited', () => {
  /** A queue that answers each call after so many seconds, and the reporting of two results with ten seconds for it. */
  async function sendSlowly(seconds: readonly number[], failing: readonly number[] = []) {
    const clock = virtualClock();
    const log = memoryLog();
    let calls = 0;
    const queue = {
      async send() {
        calls += 1;
        const call = calls;
        await pause(clock, (seconds[call - 1] ?? 0) * 1000);
        if (failing.includes(call)) throw new Error('no answer');
        return [];
      },
    };
    const results = [...outgoing(1), ...outgoing(1, 'https://q/2')];
    let ended = Number.NaN;
    const sending = report(results, { queue, clock, random: () => 0, log }, NOW + 10_000).then((confirmed) => {
      ended = clock.now() - NOW;
      return confirmed;
    });
    await clock.advance(100_000);
    return { confirmed: await sending, ended, calls, log };
  }

  it('ends in time when a queue does not answer, with what the others have confirmed', async () => {
    const { confirmed, ended, log } = await sendSlowly([1, 60]);
    expect(ended).toBe(10_000);
    expect([...confirmed]).toEqual(['https://q/1 0']);
    expect(log.counts).toEqual(['ResultsNotSent']);
  });

  it('begins no call after its time', async () => {
    const { confirmed, ended, calls } = await sendSlowly([1, 11], [2]);
    expect(ended).toBe(10_000);
    expect(confirmed.size).toBe(1);
    expect(calls).toBe(2);
  });
});

describe('splitting', () => {
  it('keeps order and limits, and loses nothing', () => {
    const body = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 50 }),
      fc.integer({ min: 1, max: 90_000 }).map((length) => 'ü'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(body, { maxLength: 40 }), (bodies) => {
        const entries = bodies.map((text, index) => ({ id: String(index), body: text }));
        const batches = splitBatches(entries);
        expect(batches.flat()).toEqual(entries);
        for (const batch of batches) {
          const bytes = batch.reduce((sum, { body: text }) => sum + utf8Bytes(text), 0);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(BATCH_MAX_ENTRIES);
          expect(bytes).toBeLessThanOrEqual(BATCH_MAX_BYTES);
        }
      }),
    );
  });

  it('counts attributes as the queue does: their names, type and texts', () => {
    const body = 'x'.repeat(BATCH_MAX_BYTES / 2);
    expect(
      splitBatches([
        { id: '1', body },
        { id: '2', body },
      ]),
    ).toHaveLength(1);
    expect(
      splitBatches([
        { id: '1', body },
        { id: '2', body, attributes: { queue: 'q' } },
      ]),
    ).toHaveLength(2);
    const less = body.slice('queueStringq'.length);
    expect(
      splitBatches([
        { id: '1', body: less, attributes: { queue: 'q' } },
        { id: '2', body },
      ]),
    ).toHaveLength(1);
  });
});
