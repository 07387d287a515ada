/*
 * Deleting what has come to its end: ten to a call, collected for a moment, never waited for, every failure accounted for.
 * Against a scripted server, since an emulator takes everything.
 */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod/mini';
import { createMetrics } from '../../bridge/metrics.ts';
import { Acknowledger } from '../../bridge/sqs-acknowledging.ts';
import { createSqsClient, type SqsClient } from '../../bridge/sqs-client.ts';
import { counts, keptLog } from '../support/bridge-builders.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { json, type ScriptedAws, type Seen, startScriptedAws } from '../support/scripted-aws.ts';

const OPERATION = 'sqs:DeleteMessageBatch';
const batch = z.object({ Entries: z.array(z.object({ Id: z.string(), ReceiptHandle: z.string() })) });
const entriesOf = ({ body }: Seen) => z.parse(batch, JSON.parse(body)).Entries;
const deletesAll = (seen: Seen) => json({ Successful: entriesOf(seen).map(({ Id }) => ({ Id })), Failed: [] });

let sqs: ScriptedAws;
let client: SqsClient;
beforeAll(async () => {
  sqs = await startScriptedAws();
  const credentials = async () => ({ accessKeyId: 'key', secretAccessKey: 'secret' });
  client = createSqsClient({ region: 'eu-central-1', endpoint: sqs.endpoint, clock: new ManualClock(), credentials });
});
afterEach(() => sqs.reset());
afterAll(async () => {
  await sqs.close();
});

function bench() {
  const [clock, metrics, kept] = [new ManualClock(), createMetrics(), keptLog()];
  const queueUrl = `${sqs.endpoint}/1/results`;
  const acknowledger = new Acknowledger({ client, queueUrl, clock, metrics, log: kept.log });
  const add = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) acknowledger.add(`receipt ${index}`);
  };
  const deleted = () => sqs.seen.map((seen) => entriesOf(seen).map(({ ReceiptHandle }) => ReceiptHandle));
  return { acknowledger, add, clock, deleted, metrics, lines: kept.lines };
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `receipt ${from + index}`);

it('collects what comes within a moment, from wherever, into one call', async () => {
  const { acknowledger, add, clock, deleted, metrics } = bench();
  sqs.on(OPERATION, deletesAll);
  add(0, 2);
  await clock.advance(100);
  add(2, 5);
  expect(deleted()).toEqual([]);
  await clock.advance(100);
  await acknowledger.flush();
  expect(deleted()).toEqual([numbered(0, 5)]);
  expect(await counts(metrics.queueCalls)).toEqual({ 'delete/ok': 1 });
});

it('makes a call at once when ten are there, with ids that are unique in it, and keeps no timer for them', async () => {
  const { acknowledger, add, clock, deleted } = bench();
  sqs.on(OPERATION, deletesAll);
  add(0, 13);
  await vi.waitFor(() => expect(deleted()).toEqual([numbered(0, 10)]), { timeout: 60_000 });
  expect(sqs.seen.map((seen) => new Set(entriesOf(seen).map(({ Id }) => Id)).size)).toEqual([10]);
  expect(clock.due).toHaveLength(1);
  await clock.advance(200);
  await acknowledger.flush();
  expect(deleted()).toEqual([numbered(0, 10), numbered(10, 13)]);
  expect(clock.due).toEqual([]);
});

it('deletes what is left when it is flushed, and waits for the calls under way', async () => {
  const { acknowledger, add, deleted } = bench();
  const answered: string[] = [];
  sqs.on(OPERATION, async (seen) => {
    await new Promise(setImmediate);
    answered.push(...entriesOf(seen).map(({ ReceiptHandle }) => ReceiptHandle));
    return deletesAll(seen);
  });
  add(0, 11);
  await acknowledger.flush();
  expect(answered.toSorted()).toEqual(numbered(0, 11).toSorted());
  await acknowledger.flush();
  expect(deleted().flat()).toHaveLength(11);
});

it('says which calls failed, in whole or in part, and goes on: what is not deleted comes again (P6)', async () => {
  const { acknowledger, add, deleted, metrics, lines } = bench();
  const failed = { Id: '1', Code: 'ReceiptHandleIsInvalid', SenderFault: true };
  sqs.on(OPERATION, json({ Successful: [{ Id: '0' }], Failed: [failed] }), 'hangUp', deletesAll);
  for (const [from, to] of [
    [0, 2],
    [2, 4],
    [4, 5],
  ] as const) {
    add(from, to);
    await acknowledger.flush();
  }
  expect(deleted()).toEqual([numbered(0, 2), numbered(2, 4), numbered(4, 5)]);
  expect(await counts(metrics.queueCalls)).toEqual({ 'delete/partial': 1, 'delete/failed': 1, 'delete/ok': 1 });
  expect(lines.map(({ level, fields }) => [level, fields])).toMatchObject([
    ['warn', { failed: 1, codes: 'ReceiptHandleIsInvalid' }],
    ['warn', { results: 2 }],
  ]);
});
