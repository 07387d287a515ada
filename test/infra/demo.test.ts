/*
 * The demo's parts that need no servers: what it makes of the facts, of its arguments, of a terminal, of EC2's answers.
 * That it is true to the world is shown by test/e2e/demo.test.ts.
 */
import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { counter } from '../../infra/demo/bridge-metrics.ts';
import { readOptions } from '../../infra/demo/options.ts';
import type { Holding } from '../../infra/demo/outside.ts';
import { showShuttingDown } from '../../infra/demo/slow-termination.ts';
import { createTimeline } from '../../infra/demo/timeline.ts';
import { countFacts, type Facts, judge } from '../../infra/demo/verdict.ts';

const bucket = (versions: number, markers = 0): Holding => ({ kind: 'bucket', versions, markers });
const absent: Holding = { kind: 'absent', answer: '404: no such bucket' };

const good: Facts = {
  things: [
    { object: 'Bucket/logs', isOwned: true },
    { object: 'Bucket/legacy', isOwned: false },
    { object: 'VirtualMachine/builder', isOwned: true },
  ],
  before: new Map([
    ['Bucket/logs', bucket(20, 10)],
    ['Bucket/legacy', bucket(3)],
    ['VirtualMachine/builder', { kind: 'instance', state: 'running' }],
  ]),
  after: new Map([
    ['Bucket/logs', absent],
    ['Bucket/legacy', bucket(3)],
    ['VirtualMachine/builder', { kind: 'absent', answer: 'terminated' }],
  ]),
  deleted: 3,
  held: [{ object: 'Bucket/legacy', reason: 'NotOwned' }],
  objectsLeft: [],
  removed: { gone: 2, released: 1, all: 3 },
};

describe('the judgement at the end', () => {
  it('has nothing to say when all is as it should be, and counts it', () => {
    expect(judge(good)).toEqual([]);
    expect(countFacts(good)).toEqual({
      ...{ deleted: 3, gone: 2, held: 1, released: 1, finalizersRemoved: 3, objectsLeft: 0 },
      bucketVersionsDeleted: 30,
    });
  });

  const finding = (object: string, holding: Holding) => ({ after: new Map([...good.after, [object, holding]]) });
  it.each<[string, Partial<Facts>]>([
    ['objects deleted: 2, expected 3', { deleted: 2 }],
    ['objects left: 1, expected 0 (Bucket/logs)', { objectsLeft: ['Bucket/logs'] }],
    ['objects held: 0, expected 1', { held: [] }],
    ['Bucket/legacy held for Kept', { held: [{ object: 'Bucket/legacy', reason: 'Kept' }] }],
    ['finalizers taken off after "gone": 1, expected 2', { removed: { gone: 1, released: 1, all: 3 } }],
    ['finalizers taken off on a release: 0, expected 1', { removed: { gone: 2, released: 0, all: 3 } }],
    ['finalizers taken off: 4, expected 3', { removed: { gone: 2, released: 1, all: 4 } }],
    [
      'Bucket/logs: before 30 versions, 10 of them delete markers, now 1 objects, expected gone',
      finding('Bucket/logs', bucket(1)),
    ],
    [
      'VirtualMachine/builder: before running, now shutting-down, expected gone',
      finding('VirtualMachine/builder', { kind: 'instance', state: 'shutting-down' }),
    ],
    ['Bucket/legacy: before 3 objects, now 2 objects, expected untouched', finding('Bucket/legacy', bucket(2))],
    ['Bucket/legacy: before 3 objects, now 404: no such bucket, expected untouched', finding('Bucket/legacy', absent)],
  ])('says: %s', (fault, changed) => {
    expect(judge({ ...good, ...changed })).toEqual([fault]);
  });

  it('counts what is still there as neither gone nor deleted', () => {
    const counts = countFacts({ ...good, ...finding('Bucket/logs', bucket(4, 1)) });
    expect([counts.gone, counts.bucketVersionsDeleted]).toEqual([1, 25]);
  });
});

describe('the command line', () => {
  it.each([
    [[], { ask: 'run', keep: false, json: false }],
    [['--json', '--keep'], { ask: 'run', keep: true, json: true }],
    [['--help', '--json'], { ask: 'help' }],
  ])('%j is understood', (args, options) => {
    expect(readOptions(args)).toEqual(options);
  });

  it.each([
    ['--kep', "'--kep'"],
    ['now', "'now'"],
    ['--json=yes', "'--json' does not take an argument"],
  ])('%s is refused', (argument, fault) => {
    expect(readOptions([argument])).toMatchObject({ ask: 'nonsense', fault: expect.stringContaining(fault) });
  });
});

describe('the time line', () => {
  afterEach(() => vi.unstubAllEnvs());

  function tell(terminal: boolean): string {
    const stream = new PassThrough({ encoding: 'utf8' });
    if (terminal) Object.assign(stream, { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth });
    const timeline = createTimeline({ stream, elapsed: () => 1234 });
    timeline.line('Bucket/logs', ['one', 'two'], 'good');
    return String(stream.read());
  }

  it('is plain in a pipe, with the elapsed seconds and what it is about', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    expect(tell(false)).toBe(`  1.23 s  Bucket/logs            one\n${' '.repeat(33)}two\n`);
  });

  it('is coloured on a terminal', () => {
    for (const name of ['NO_COLOR', 'NODE_DISABLE_COLORS', 'FORCE_COLOR', 'CI', 'GITHUB_ACTIONS'])
      vi.stubEnv(name, undefined);
    vi.stubEnv('TERM', 'xterm-256color');
    expect(tell(true)).toContain('\u001b[32mone\u001b[39m');
  });

  it('is plain on a terminal where NO_COLOR is set', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', '1');
    expect(tell(true)).not.toContain('\u001b');
  });
});

describe('EC2 that takes its time', () => {
  const instance = (id: string, code: number, name: string) =>
    `<item><instanceId>${id}</instanceId><imageId>ami-1</imageId>\n<instanceState><code>${code}</code><name>${name}</name></instanceState></item>`;

  it('shows only the named instances as shutting down, and only those that are terminated', () => {
    const given = [
      instance('i-1', 48, 'terminated'),
      instance('i-2', 48, 'terminated'),
      instance('i-3', 16, 'running'),
    ];
    const shown = showShuttingDown(given.join(''), (id) => id !== 'i-2');
    expect(shown).toBe([instance('i-1', 32, 'shutting-down'), ...given.slice(1)].join(''));
  });
});

describe('the counters of the bridge', () => {
  const page = [
    '# TYPE removed_total counter',
    'removed_total{rule="a",reason="Gone"} 2',
    'removed_total{rule="b",reason="Gone"} 3',
    'removed_total{rule="b",reason="GoneX"} 10',
    'removed_total_created 99',
    'plain_total 7',
  ].join('\n');

  it.each([
    ['removed_total', {}, 15],
    ['removed_total', { reason: 'Gone' }, 5],
    ['removed_total', { reason: 'Gone', rule: 'b' }, 3],
    ['plain_total', {}, 7],
    ['missing_total', {}, 0],
  ])('%s with %j is %i', (name, labels, expected) => {
    expect(counter(page, name, labels)).toBe(expected);
  });
});
