/*
 * Whatever comes to a function from outside beside requests: its configuration, events, answers of the queue, errors, and what a
 * handler in plain JavaScript returns. It is understood or refused; nothing is allowed, deleted or gone that was not said in full.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { classify, classifyCode, type ErrorTable } from '../../functions/aws-errors.ts';
import {
  awsKeys,
  ConfigError,
  readConfig,
  readDeadLetterConfig,
  sqsEndpoint,
  traceHeaders,
  xrayTraceId,
} from '../../functions/config.ts';
import { batchResponse, readEvent } from '../../functions/lambda-event.ts';
import { runTeardown } from '../../functions/run.ts';
import { sqsQueue } from '../../functions/sqs.ts';
import { holds } from '../support/property.ts';
import { anyJson, spoilt } from '../support/spoilt.ts';
import {
  ACCOUNT,
  configOf,
  configured,
  memoryLog,
  NOW,
  REGION,
  RESULT_QUEUE,
  rawConfig,
  requestOf,
  thing,
  virtualClock,
} from './fixtures.ts';

const RUNS = { numRuns: 500 };

describe('a configuration', () => {
  const { handler: _, allow: __, ...common } = rawConfig();
  const full = rawConfig({
    ...{ account: ACCOUNT, requestQueueUrl: RESULT_QUEUE, ownershipNone: true, endpoints: { sqs: 'http://queues' } },
    allow: {
      ...{ accounts: [ACCOUNT], regions: [REGION], names: ['team-a-*'], options: ['force'] },
      namespaces: { 'team-a': { names: ['team-a-*'] } },
    },
  });
  const letters = { ...common, archiveQueueUrl: RESULT_QUEUE };

  it('that is right or spoilt anywhere allows what it says and nothing else, or stops the function (P2)', () => {
    const seen = new Set<boolean>();
    const told = (written: unknown, read: (environment: { FINALIZER_BRIDGE_CONFIG: string }) => object) => {
      try {
        const config = read({ FINALIZER_BRIDGE_CONFIG: JSON.stringify(written) ?? '' });
        expect(config).toMatchObject(JSON.parse(JSON.stringify(written)));
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        return false;
      }
    };
    holds(
      fc.property(spoilt(full), spoilt(letters), (written, other) => {
        seen.add(told(written, (environment) => readConfig(configured('thing', ['force']), environment)));
        seen.add(told(other, readDeadLetterConfig));
      }),
      RUNS,
    );
    expect(seen.size).toBe(2);
  });

  it('of any text is one or none', () => {
    holds(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        expect(() => readConfig(configured('thing'), { FINALIZER_BRIDGE_CONFIG: text, AWS_REGION: REGION })).toThrow(
          ConfigError,
        );
      }),
    );
  });
});

describe('the environment, whatever stands in it,', () => {
  const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });

  it('gives keys, an endpoint and headers that can be sent, or none', () => {
    holds(
      fc.property(fc.record({ id: text, secret: text, token: text, url: text, trace: text }), (of) => {
        const environment = {
          ...{ AWS_ACCESS_KEY_ID: of.id, AWS_SECRET_ACCESS_KEY: of.secret, AWS_SESSION_TOKEN: of.token },
          ...{ AWS_ENDPOINT_URL: of.url, _X_AMZN_TRACE_ID: of.trace },
        };
        expect(() => new Headers(traceHeaders(environment))).not.toThrow();
        expect(xrayTraceId(environment)).not.toBe('');
        expect(sqsEndpoint(environment)).not.toBe('');
        if (of.id && of.secret) expect(awsKeys(environment)).toMatchObject({ accessKeyId: of.id });
        else expect(() => awsKeys(environment)).toThrow('is not set');
      }),
      RUNS,
    );
  });
});

describe('an event of Lambda', () => {
  const record = (messageId: string) => ({
    ...{ messageId, receiptHandle: `receipt of ${messageId}`, body: '{}', md5OfBody: '', messageAttributes: {} },
    attributes: { SenderId: 'AROABRIDGE:run', ApproximateReceiveCount: '1', SentTimestamp: '1' },
    ...{ eventSource: 'aws:sqs', eventSourceARN: `arn:aws:sqs:${REGION}:${ACCOUNT}:requests`, awsRegion: REGION },
  });
  const ids = z.object({ Records: z.array(z.object({ messageId: z.string().check(z.minLength(1)) })) });

  it('lets no message be deleted but those that could be read, and were worked (Q3)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(spoilt({ Records: [record('a'), record('b')] }), (event) => {
        const known = ids.safeParse(event);
        if (!known.success) {
          seen.add('no event');
          expect(() => readEvent(event, memoryLog())).toThrow();
          return;
        }
        const batch = readEvent(event, memoryLog());
        const stays = new Set(batchResponse(batch, []).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        for (const { messageId, body, senderId, receiveCount } of batch.records) {
          expect([typeof body, typeof senderId, Number.isInteger(receiveCount)]).toEqual(['string', 'string', true]);
          expect(known.data.Records.map((one) => one.messageId)).toContain(messageId);
        }
        const read = new Set(batch.records.map(({ messageId }) => messageId));
        expect(stays).toEqual(new Set(batch.everyId.filter((id) => !read.has(id))));
        seen.add(stays.size === 0 ? 'all' : 'some');
      }),
      RUNS,
    );
    expect([...seen].sort()).toEqual(['all', 'no event', 'some']);
  });
});

describe('an answer of the queue', () => {
  const entries = ['a', 'b'].map((body, index) => ({ id: String(index), body }));
  const sent = {
    Successful: [{ Id: '0', MessageId: 'm', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' }],
    Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }],
  };

  it('makes a result one that was sent only where it says so (Q2)', async () => {
    const isTaken = (answer: unknown, id: string) =>
      z
        .object({ Successful: z.array(z.looseObject({ Id: z.string() })) })
        .safeParse(answer)
        .data?.Successful.some(({ Id }) => Id === id) ?? false;
    const property = fc.asyncProperty(fc.oneof(spoilt(sent), anyJson), async (answer) => {
      const queue = sqsQueue(async () => answer, 'https://queues/requests');
      const faults = await queue.send(RESULT_QUEUE, entries).catch(() => entries);
      for (const { id } of entries)
        if (!faults.some((fault) => fault.id === id)) expect(isTaken(answer, id)).toBe(true);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe('whatever is thrown by a call', () => {
  const own: ErrorTable = { 's3:HeadBucket': { NotFound: { means: 'gone', reason: 'BucketGone' } } };
  const error = {
    ...{ name: 'NotFound', code: 'NotFound', Code: 'NotFound', $metadata: { httpStatusCode: 404 } },
    ...{ cause: { code: 'ECONNRESET' }, $response: { headers: { 'x-amz-bucket-region': 'eu-west-1' } } },
  };

  it('means gone only by the code for which the handler says so, and never behind a wall, a brake or a broken server (P1)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(fc.oneof(spoilt(error), anyJson), fc.string(), (thrown, code) => {
        const fault = classify('s3:HeadBucket', thrown, own);
        seen.add(fault.means);
        if (fault.means === 'gone') {
          expect(fault.code).toBe('NotFound');
          expect([401, 403, 408, 429]).not.toContain(fault.status);
          expect(fault.status ?? 0).toBeLessThan(500);
        }
        expect([fault.reason, fault.code].every((text) => text !== '')).toBe(true);
        expect(classify('s3:HeadBucket', thrown).means).not.toBe('gone');
        expect(classifyCode('s3:DeleteObjects', code, own).means).not.toBe('gone');
      }),
      RUNS,
    );
    expect(seen).toContain('gone');
  });
});

describe('whatever a handler returns', () => {
  const noClient = () => {
    throw new Error('it calls nobody');
  };
  const outcome = { outcome: 'gone', evidence: 'deleted' };

  it('is an outcome in full, or is tried again: gone is never made of anything else (P1)', async () => {
    const isGone = z.object({ outcome: z.literal('gone'), evidence: z.enum(['deleted', 'absent']) });
    const property = fc.asyncProperty(fc.oneof(spoilt(outcome), anyJson), async (value) => {
      const handler = thing(async () => JSON.parse(JSON.stringify(value)));
      const request = requestOf();
      const prepared = handler.prepare(request.data.target, request.data.options);
      if (!prepared.ok) throw new Error(prepared.message);
      const made = await runTeardown({
        ...{ request, handler, clock: virtualClock(NOW), account: ACCOUNT, region: REGION, teardown: prepared },
        ...{
          allow: configOf().allow,
          random: () => 0.5,
          log: memoryLog(),
          aws: noClient,
          invocationEnds: NOW + 300_000,
        },
      });
      if (made.outcome === 'gone') expect(isGone.safeParse(value).success).toBe(true);
      else expect(['pending', 'refused']).toContain(made.outcome);
    });
    await fc.assert(property, { numRuns: 200 });
  });
});
