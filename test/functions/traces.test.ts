/*
 * One deletion is one trace, from the request through every line that a function writes to the result: the same trace id,
 * a span of its own for each run. Through the dispatch, the entry and the dead-letter function, with the real log.
 */
import { describe, expect, it } from 'vitest';
import { continueTrace, decodeResult } from '../../bridge/contract.ts';
import { xrayTraceId } from '../../functions/config.ts';
import { handleDeadLetters } from '../../functions/dead-letter.ts';
import { createDispatch } from '../../functions/dispatch.ts';
import { gone, pending } from '../../functions/handler.ts';
import { createLog } from '../../functions/log.ts';
import {
  ACCOUNT,
  CLUSTER,
  configOf,
  memoryQueue,
  NOW,
  RESULT_QUEUE,
  recordOf,
  requestOf,
  SENDER,
  thing,
  virtualClock,
} from './fixtures.ts';

const request = requestOf();
const trace = request.traceparent.slice(0, 35);
const spanOf = (traceparent: string) => traceparent.split('-')[2];

function written() {
  const lines: string[] = [];
  const write = (line: string) => {
    lines.push(line);
  };
  const log = createLog({ level: 'info', now: () => NOW, write, fields: { handler: 'thing' } });
  return { log, read: () => lines.map((line) => JSON.parse(line)) };
}

async function workOnce(handler = thing(async () => gone('deleted')), receiveCount = 1, now = NOW) {
  const [clock, queue, { log, read }] = [virtualClock(now), memoryQueue(), written()];
  const aws = () => {
    throw new Error('reaching outside');
  };
  const ports = { config: configOf(), clock, random: () => 0, queue, aws, log: log.with({ awsRequestId: 'lambda-1' }) };
  const working = createDispatch({ handler, ...ports })([recordOf(request, { receiveCount })], {
    ...{ endsAt: now + 300_000, account: ACCOUNT },
  });
  await clock.advance(600_000);
  await working;
  return { results: queue.results(), lines: read() };
}

describe('a trace', () => {
  it('goes on from the request to the result and to every line, with a span of the run', async () => {
    const seen: string[] = [];
    const handler = thing(async ({ request: facts, log }) => {
      seen.push(facts.traceparent);
      log.info('taking it down');
      return gone('deleted');
    });
    const { results, lines } = await workOnce(handler);
    const [traceparent = ''] = results.map((result) => result.traceparent);
    expect(traceparent.startsWith(trace)).toBe(true);
    expect(spanOf(traceparent)).toMatch(/^[0-9a-f]{16}$/);
    expect(spanOf(traceparent)).not.toBe(spanOf(request.traceparent));
    expect(seen).toEqual([traceparent]);
    expect(lines.map((line) => line.message ?? 'Outcomes' in line)).toEqual([
      ...['taking it down', 'answering a request', true],
    ]);
    for (const line of lines) {
      expect(line).toMatchObject({ requestId: request.id, awsRequestId: 'lambda-1', traceparent });
    }
  });

  it('has another span for each run, and for another copy of the same request', async () => {
    const handler = thing(async () => pending({ reason: 'Slow' }));
    const runs = [await workOnce(handler), await workOnce(handler, 2, NOW + 30_000)];
    const spans = runs.flatMap(({ results }) => results.map(({ traceparent }) => spanOf(traceparent)));
    expect(new Set(spans).size).toBe(2);
  });

  it('goes on through the dead-letter function', async () => {
    const [clock, queue, { log, read }] = [virtualClock(), memoryQueue(), written()];
    const letter = {
      ...recordOf(request, { senderId: `${SENDER}:bridge` }),
      eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:fb-thing-requests-dead',
    };
    const config = {
      archiveQueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/archive',
      clusters: [{ uid: CLUSTER, sender: SENDER, resultQueueUrl: RESULT_QUEUE }],
    };
    const handling = handleDeadLetters([letter], { queue, clock, log, random: () => 0, config, until: NOW + 20_000 });
    await clock.advance(20_000);
    await handling;
    const told = queue.sent.find(({ queueUrl }) => queueUrl === RESULT_QUEUE);
    const decoded = decodeResult(told?.entries[0]?.body ?? '');
    const { traceparent } = decoded.ok ? decoded.message : { traceparent: decoded.detail };
    expect(traceparent.startsWith(trace)).toBe(true);
    expect(spanOf(traceparent)).not.toBe(spanOf(request.traceparent));
    expect(read()).toContainEqual(expect.objectContaining({ requestId: request.id, traceparent }));
  });

  it('keeps the flags of its parent, and is the same for the same work', () => {
    const parent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00';
    const child = continueTrace(parent, 'work');
    expect(child).toMatch(/^00-0123456789abcdef0123456789abcdef-[0-9a-f]{16}-00$/);
    expect(continueTrace(parent, 'work')).toBe(child);
    expect(continueTrace(parent, 'other')).not.toBe(child);
  });
});

it.each([
  ['Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1', '1-5759e988-bd862e3fe1be46a994272793'],
  ['Parent=53995c3f42cd8ad8;Root=1-5759e988-bd862e3fe1be46a994272793', '1-5759e988-bd862e3fe1be46a994272793'],
  ['', undefined],
  [undefined, undefined],
])('reads of %j the X-Ray id %j', (variable, id) => {
  expect(xrayTraceId({ _X_AMZN_TRACE_ID: variable })).toBe(id);
});
