/*
 * What the benchmarks make of their command line and of their figures: medians over rounds, shares of the floor, and each
 * candidate against the first. What they measure is not tested here, nor judged.
 */
import { describe, expect, it } from 'vitest';
import { readOptions } from './options.ts';
import { reportOf, textOf } from './report.ts';

describe('the command line', () => {
  it('measures the bridge of the tree three times unless told otherwise', () => {
    const { candidates, rounds, scenes, memory } = readOptions([]);
    expect(candidates).toEqual([{ name: 'this tree', entry: undefined, flags: [] }]);
    expect([rounds, [...scenes], memory]).toEqual([3, ['saturated', 'paced', 'drain'], false]);
  });

  it('takes bundles and flags by their place, so that bundles and flags can be compared', () => {
    const { candidates } = readOptions(['--bridge', '/a.mjs', '--bridge', '/b.mjs', '--flags=', '--flags=--x --y=1']);
    expect(candidates).toEqual([
      { name: '/a.mjs', entry: '/a.mjs', flags: [] },
      { name: '/b.mjs --x --y=1', entry: '/b.mjs', flags: ['--x', '--y=1'] },
    ]);
  });

  it('are bridges with the functions that are to work beside them, each of the same place', () => {
    const { candidates } = readOptions(['--bridge', '/a.mjs', '--function', '/f.mjs', '--function', '/g.mjs']);
    expect(candidates).toEqual([
      { name: '/a.mjs /f.mjs', entry: '/a.mjs', functionEntry: '/f.mjs', flags: [] },
      { name: 'this tree /g.mjs', entry: undefined, functionEntry: '/g.mjs', flags: [] },
    ]);
  });

  it('measures the peers after the bridges, and no peer unless told', () => {
    const { candidates } = readOptions(['--peers', '--bridge', '/a.mjs']);
    expect(candidates.map(({ name, peer }) => [name, peer])).toEqual([
      ['/a.mjs', undefined],
      ['controller-runtime', 'controller-runtime'],
      ['kopf', 'kopf'],
    ]);
  });

  it('warms a bridge up with 500 deletions, or with as many as it is told', () => {
    expect(readOptions([]).warm).toBe(500);
    expect(readOptions(['--warm', '5000', '--quick']).warm).toBe(5_000);
  });

  it.each([
    [['--rounds', '0']],
    [['--warm', '-1']],
    [['--rounds', 'many']],
    [['--scenes', 'saturated,idle']],
    [['--fast']],
  ])('refuses %j', (args) => {
    expect(() => readOptions(args)).toThrow();
  });
});

describe('the report', () => {
  const report = reportOf({
    floors: [{ perSecond: 900 }, { perSecond: 1_000 }, { perSecond: 1_400 }],
    rounds: new Map([
      [
        'old',
        [
          { drain: { perSecond: 300, cpuMs: 1 } },
          { drain: { perSecond: 500, cpuMs: 3 } },
          { drain: { perSecond: 400, cpuMs: 2 }, paced: { perSecond: 50, p50Ms: 9 } },
        ],
      ],
      ['new', [{ drain: { perSecond: 800, cpuMs: 1 } }]],
    ]),
  });

  it('gives medians, and of every rate that the bridge decides the share of the floor', () => {
    expect(report.floor).toEqual({ perSecond: 1_000 });
    expect(report.candidates).toEqual([
      {
        name: 'old',
        scenes: { drain: { perSecond: 400, cpuMs: 2, ofFloor: 0.4 }, paced: { perSecond: 50, p50Ms: 9 } },
      },
      { name: 'new', scenes: { drain: { perSecond: 800, cpuMs: 1, ofFloor: 0.8 } } },
    ]);
  });

  it('gives every rate also as a share of the rate of the controller-runtime controller, where that was measured', () => {
    const rounds = new Map([
      ['own', [{ drain: { perSecond: 300 }, paced: { perSecond: 50 } }]],
      ['controller-runtime', [{ drain: { perSecond: 400 }, paced: { perSecond: 50 } }]],
    ]);
    const { candidates } = reportOf({ floors: [{ perSecond: 1_000 }], rounds });
    expect(candidates.map(({ scenes }) => scenes)).toEqual([
      { drain: { perSecond: 300, ofFloor: 0.3, ofPeer: 0.75 }, paced: { perSecond: 50 } },
      { drain: { perSecond: 400, ofFloor: 0.4 }, paced: { perSecond: 50 } },
    ]);
  });

  it('tells the CPU of what works beside the bridge on a line of its own', () => {
    const saturated = { perSecond: 400, cpuMs: 1, 'cpuMs of queue': 0.5, 'cpuMs of etcd': 0.25 };
    const text = textOf(reportOf({ floors: [{ perSecond: 1_000 }], rounds: new Map([['own', [{ saturated }]]]) }));
    const [own, beside] = text.split('\n').slice(-3);
    expect(own).toMatch(/saturated +perSecond 400 {2}cpuMs 1\.000 {2}ofFloor 0\.400$/);
    expect(beside).toMatch(/CPU ms beside it +queue 0\.500 {2}etcd 0\.250$/);
  });

  it('says of all but the first candidate how they compare with it', () => {
    const lines = textOf(report).split('\n');
    const compared = lines.filter((line) => line.includes('by the first'));
    expect(compared).toHaveLength(1);
    expect(compared[0]).toMatch(/perSecond 2\.000 {2}cpuMs 0\.500/);
  });
});
