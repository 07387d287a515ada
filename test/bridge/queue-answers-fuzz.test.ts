/*
 * Whatever a queue answers: a request counts as sent only where the answer says so of it, a result is handed over only whole, and only
 * what was handled is deleted. Nothing throws but what is tried again.
 */
import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod/mini';
import { createWholeCheck } from '../../bridge/checksum.ts';
import { realClock } from '../../bridge/clock.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { IncomingMessage } from '../../bridge/ports.ts';
import { QueueHealth } from '../../bridge/queue-health.ts';
import { createSqsQueue } from '../../bridge/sqs.ts';
import { Acknowledger } from '../../bridge/sqs-acknowledging.ts';
import type { SqsCall } from '../../bridge/sqs-client.ts';
import { Polling } from '../../bridge/sqs-polling.ts';
import { jsonOf, refusalOf } from '../../bridge/sqs-refusal.ts';
import { skewBy } from '../../bridge/sqs-signature.ts';
import { keptLog } from '../support/bridge-builders.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { holds } from '../support/property.ts';
import { json, type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';
import { anyJson, spoilt } from '../support/spoilt.ts';

const SEND = 'sqs:SendMessageBatch';
const queueUrl = 'https://queues/1/results';
const md5 = (text: string) => hash('md5', text);

describe('sending', () => {
  const batch = ['a', 'b', 'c'].map((body, index) => ({ id: String(index), body }));
  const answer = {
    Successful: batch
      .slice(0, 2)
      .map(({ id, body }) => ({ Id: id, MessageId: `m-${id}`, MD5OfMessageBody: md5(body) })),
    Failed: [{ Id: '2', Code: 'InternalError', Message: 'try again', SenderFault: false }],
  };
  const confirmed = z.object({ Successful: z.array(z.unknown()) });
  let sqs: ScriptedAws;
  beforeAll(async () => {
    sqs = await startScriptedAws();
  });
  beforeEach(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  afterAll(async () => await sqs.close());

  it('takes for sent only what the answer says was taken, as it was (Q2)', async () => {
    const told = { clock: realClock, metrics: createMetrics(), health: new QueueHealth(realClock), log: keptLog().log };
    const queue = createSqsQueue({ region: 'eu-central-1', endpoint: sqs.endpoint, ...told });
    const property = fc.asyncProperty(fc.oneof(spoilt(answer), anyJson), async (said) => {
      sqs.on(SEND, () => json(said));
      const failed = await queue.send(`${sqs.endpoint}/1/requests`, batch).catch((error: unknown) => {
        expect(error).toBeInstanceOf(Error);
        return batch;
      });
      const taken = confirmed.safeParse(said).data?.Successful ?? [];
      for (const { id, body } of batch.filter((one) => failed.every((other) => other.id !== one.id)))
        expect(taken).toContainEqual(expect.objectContaining({ Id: id, MD5OfMessageBody: md5(body) }));
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

describe('receiving', () => {
  const message = (body: string) => ({
    ...{ MessageId: `m-${body}`, ReceiptHandle: `r-${body}`, Body: body, MD5OfBody: md5(body) },
    Attributes: { SenderId: 'AROAFUNCTION:run', ApproximateReceiveCount: '2' },
  });
  const answer = { Messages: [message('a'), message('b')] };

  it('hands over what is whole, and has deleted what was handled (P5)', async () => {
    const seen = new Set<number>();
    const property = fc.asyncProperty(fc.oneof(spoilt(answer), anyJson), async (said) => {
      const [clock, handled, deleted] = [new ManualClock(), [] as IncomingMessage[], [] as unknown[]];
      const answers = [said];
      const ask = async ({ action, input, signal }: SqsCall): Promise<unknown> => {
        if (action === 'DeleteMessageBatch') return void deleted.push(input);
        if (answers.length > 0) return answers.shift();
        return await new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)));
      };
      const told = { client: { ask }, queueUrl, clock, metrics: createMetrics(), log: keptLog().log };
      const acknowledger = new Acknowledger(told);
      const polling = new Polling({
        ...{ ...told, health: new QueueHealth(clock), acknowledger, isWhole: createWholeCheck() },
        handle: async (batch) => {
          handled.push(...batch);
          return new Set(batch.map(({ messageId }) => messageId));
        },
      });
      polling.start();
      await settled();
      await polling.stop();
      await acknowledger.flush();
      for (const { messageId, body, sender } of handled) {
        expect([messageId, body, sender].map((text) => typeof text)).toEqual(['string', 'string', 'string']);
        expect(JSON.stringify(said)).toContain(JSON.stringify(md5(body)));
      }
      expect(JSON.stringify(deleted).match(/ReceiptHandle/g)?.length ?? 0).toBe(handled.length);
      seen.add(handled.length);
    });
    await fc.assert(property, { numRuns: 300 });
    expect(seen).toEqual(new Set([0, 1, 2]));
  });
});

describe('a refusal', () => {
  const refusal = { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'it is not there' };

  it('has a code, whatever stands in the answer', () => {
    holds(
      fc.property(fc.oneof(spoilt(refusal), anyJson), fc.integer({ min: 300, max: 599 }), (said, status) => {
        const { code, detail } = refusalOf(status, said);
        expect([code, typeof detail]).toEqual([expect.stringMatching(/./s), 'string']);
      }),
      { numRuns: 500 },
    );
  });

  it('is read from any text, and what is no JSON is none', () => {
    holds(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => void refusalOf(500, jsonOf(text))));
  });
});

it('the date of an answer sets a clock right or says nothing, whatever it is', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.date({ noInvalidDate: true }).map(String),
    fc.constantFrom('', '0', '-1'),
  );
  const header = fc.option(fc.oneof(text, fc.array(text)), { nil: undefined });
  holds(
    fc.property(header, header, fc.integer(), (date, age, skew) => {
      expect(Number.isFinite(skewBy({ date, age }, { now: 1_772_352_000_000, skew }))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
