/*
 * Dead letters: a bridge is told where there is one to tell, then the body is kept, and a letter goes only when both were
 * confirmed. The queue is a fake that refuses what a test says.
 */
import { describe, expect, it } from 'vitest';
import { decodeResult, encodeRequest, encodeResult, makeResult } from '../../bridge/contract.ts';
import { handleDeadLetters } from '../../functions/dead-letter.ts';
import type { LambdaRecord } from '../../functions/lambda-event.ts';
import type { EntryFault, SendEntry } from '../../functions/ports.ts';
import { CLUSTER, memoryLog, memoryQueue, NOW, RESULT_QUEUE, requestOf, SENDER, virtualClock } from './fixtures.ts';

const ARCHIVE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/archive';
const request = requestOf();
const config = {
  archiveQueueUrl: ARCHIVE,
  clusters: [{ uid: CLUSTER, sender: SENDER, resultQueueUrl: RESULT_QUEUE }],
};

function letter(messageId: string, changes: Partial<LambdaRecord> = {}): LambdaRecord {
  return {
    messageId,
    receiptHandle: `receipt-${messageId}`,
    body: encodeRequest(request),
    senderId: `${SENDER}:bridge`,
    receiveCount: 1000,
    eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:fb-thing-requests-dead',
    ...changes,
  };
}

async function handle(
  letters: readonly LambdaRecord[],
  refuse?: (entries: readonly SendEntry[], call: number) => readonly EntryFault[],
) {
  const [clock, queue, log] = [virtualClock(), memoryQueue(refuse), memoryLog()];
  const handling = handleDeadLetters(letters, { queue, clock, log, random: () => 0, config, until: NOW + 20_000 });
  await clock.advance(20_000);
  const stays = await handling;
  const sentTo = (url: string) =>
    queue.sent.filter(({ queueUrl }) => queueUrl === url).flatMap(({ entries }) => entries);
  return { stays, log, archived: sentTo(ARCHIVE), told: sentTo(RESULT_QUEUE), order: queue.sent };
}

const isArchive = (entries: readonly SendEntry[]) => entries.some(({ attributes }) => attributes !== undefined);
const refused = (entries: readonly SendEntry[]): readonly EntryFault[] =>
  entries.map(({ id }) => ({ id, code: 'InternalError', senderFault: false }));

describe('a letter that is nearly as large as a queue takes', () => {
  it.each([
    ['with its facts, where both fit', 261_900, true],
    ['without, where the body leaves no room for them', 262_100, false],
    ['without, where the body alone is more than fits beside others', 1_048_576, false],
  ])('is kept %s', async (_how, bytes, hasFacts) => {
    const { stays, archived, log } = await handle([letter('m-1', { body: 'x'.repeat(bytes) }), letter('m-2')]);
    expect(stays).toEqual([]);
    const kept = archived.find(({ id }) => id === 'm-1');
    expect(kept?.body).toHaveLength(bytes);
    expect(kept?.attributes !== undefined).toBe(hasFacts);
    const said = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
    expect(said).toEqual(hasFacts ? [] : [expect.objectContaining({ messageId: 'm-1', receiveCount: '1000' })]);
  });
});

describe('a request that is a dead letter', () => {
  it('P6 is one where a batch brings it twice: a queue takes no call with two entries of one id', async () => {
    const { stays, told, archived, order } = await handle([letter('m-1'), letter('m-2'), letter('m-1')]);
    expect(stays).toEqual([]);
    for (const entries of [told, archived]) expect(entries.map(({ id }) => id)).toEqual(['m-1', 'm-2']);
    expect(order).toHaveLength(2);
  });

  it('is kept as it was, told to its bridge as pending/DeadLettered, and then goes', async () => {
    const { stays, archived, told, order } = await handle([letter('m-1')]);
    expect(archived).toEqual([
      {
        id: 'm-1',
        body: encodeRequest(request),
        attributes: {
          messageId: 'm-1',
          queue: 'fb-thing-requests-dead',
          receiveCount: '1000',
          senderId: `${SENDER}:bridge`,
        },
      },
    ]);
    expect(order.map(({ queueUrl }) => queueUrl)).toEqual([RESULT_QUEUE, ARCHIVE]);
    expect(decodeResult(told[0]?.body ?? '')).toMatchObject({
      ok: true,
      message: {
        data: {
          requestId: request.id,
          result: { outcome: 'pending', reason: 'DeadLettered', message: expect.stringContaining('1000 receives') },
          handler: { name: 'thing' },
        },
      },
    });
    expect(stays).toEqual([]);
  });

  it('stays while it cannot be kept', async () => {
    const { stays } = await handle([letter('m-1')], (entries) => (isArchive(entries) ? refused(entries) : []));
    expect(stays).toEqual(['m-1']);
  });

  it('stays while its bridge cannot be told, and is not kept again at each try', async () => {
    const { stays, archived } = await handle([letter('m-1')], (entries) =>
      isArchive(entries) ? [] : refused(entries),
    );
    expect(archived).toEqual([]);
    expect(stays).toEqual(['m-1']);
  });

  it('does not disturb its batch: each goes or stays by itself (P10)', async () => {
    const letters = [letter('kept'), letter('junk', { body: 'junk' }), letter('not-kept')];
    const { stays, told } = await handle(letters, (entries) =>
      isArchive(entries) ? refused(entries.filter(({ id }) => id === 'not-kept')) : [],
    );
    expect(stays).toEqual(['not-kept']);
    expect(told.map(({ id }) => id)).toEqual(['kept', 'not-kept']);
  });
});

describe('a dead letter that no bridge is to be told of', () => {
  const result = makeResult({
    request,
    outcome: { outcome: 'gone', evidence: 'deleted' },
    handler: { name: 'thing', version: '1' },
    ...{ nonce: 'n', now: NOW, durationMs: 1 },
  });

  it.each([
    ['junk', { body: '{' }, 'NotJson'],
    ['a result', { body: encodeResult(result) }, 'UnknownType'],
    [
      'of a cluster that is not configured',
      { body: encodeRequest(requestOf({ cluster: { uid: 'other' } })) },
      'UnknownCluster',
    ],
    ['sent by somebody else (Q11)', { senderId: 'AIDASOMEBODY' }, 'WrongSender'],
    ['without a sender', { senderId: '' }, 'WrongSender'],
  ])('since it is %s is kept, logged and counted, and goes', async (_why, changes, reason) => {
    const { stays, archived, told, log } = await handle([letter('m-1', changes)]);
    expect(archived).toHaveLength(1);
    expect(archived[0]?.body).toBe(letter('m-1', changes).body);
    // SQS takes no attribute without a value.
    expect(Object.values(archived[0]?.attributes ?? {})).not.toContain('');
    expect(told).toEqual([]);
    expect(stays).toEqual([]);
    expect(log.counts).toEqual([`DeadLetters fb-thing-requests-dead ${reason}`]);
  });
});
