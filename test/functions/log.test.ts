/*
 * The log: one JSON object a line, whatever it is given.
 * Nothing that is logged may ever break a run.
 */
import { describe, expect, it } from 'vitest';
import { createLog, type LogLevel } from '../../functions/log.ts';
import { NOW } from './fixtures.ts';

function logOf(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = createLog({ level, now: () => NOW, write: (line) => lines.push(line), fields: { handler: 'thing' } });
  return { log, read: () => lines.map((line) => JSON.parse(line)) };
}

it('writes one line per message with its fields', () => {
  const { log, read } = logOf();
  log.with({ requestId: 'r' }).info('answering\na request', { outcome: 'gone' });
  expect(read()).toEqual([
    {
      ...{ time: '2030-01-01T00:01:00.000Z', level: 'info', message: 'answering\na request' },
      ...{ handler: 'thing', requestId: 'r', outcome: 'gone' },
    },
  ]);
});

it.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
] as const)('at level %s writes %i of four', (level, written) => {
  const { log, read } = logOf(level);
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(read()).toHaveLength(written);
});

it('writes errors with their causes', () => {
  const { log, read } = logOf();
  log.error('x', { error: new Error('outer', { cause: new TypeError('inner') }) });
  expect(read()[0].error).toMatchObject({ message: 'outer', cause: { name: 'TypeError', message: 'inner' } });
});

describe('never throws', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const looping = new Error('loop');
  looping.cause = looping;
  it.each([
    ['a circle', circle],
    ['a bigint', 12n],
    ['an error that is its own cause', looping],
    [
      'what cannot be read',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ],
  ])('on %s', (_what, value) => {
    const { log, read } = logOf();
    log.error('x', { value });
    expect(read()).toHaveLength(1);
  });
});

it("counts in CloudWatch's embedded metric format", () => {
  const { log, read } = logOf();
  log.count('RequestsIgnored', { reason: 'NotJson' });
  expect(read()).toEqual([
    {
      _aws: {
        Timestamp: NOW,
        CloudWatchMetrics: [
          {
            Namespace: 'FinalizerBridge',
            Dimensions: [['handler'], ['handler', 'reason']],
            Metrics: [{ Name: 'RequestsIgnored', Unit: 'Count' }],
          },
        ],
      },
      ...{ handler: 'thing', reason: 'NotJson', RequestsIgnored: 1 },
    },
  ]);
});

it('measures times beside what it counts, for a handler, an outcome and a reason, with the facts of the line (EMF)', () => {
  const { log, read } = logOf();
  log.with({ requestId: 'r' }).count('Outcomes', { outcome: 'pending', reason: 'Expired' }, { Duration: 12 });
  const [line] = read();
  expect(line).toMatchObject({ requestId: 'r', outcome: 'pending', reason: 'Expired', Outcomes: 1, Duration: 12 });
  expect(line._aws.CloudWatchMetrics).toEqual([
    {
      Namespace: 'FinalizerBridge',
      Dimensions: [['handler'], ['handler', 'outcome'], ['handler', 'outcome', 'reason']],
      Metrics: [
        { Name: 'Outcomes', Unit: 'Count' },
        { Name: 'Duration', Unit: 'Milliseconds' },
      ],
    },
  ]);
});

it('counts also where no warning is written, and nothing when it is silent', () => {
  const [quiet, silent] = [logOf('error'), logOf('silent')];
  for (const { log } of [quiet, silent]) log.count('ResultsNotSent', {});
  expect(quiet.read()).toMatchObject([{ handler: 'thing', ResultsNotSent: 1 }]);
  expect(silent.read()).toEqual([]);
});
