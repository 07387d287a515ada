/*
 * What a process took of a budget and did not use: it goes back with the write that takes the next block, so that no pace
 * wastes a budget. How blocks are taken is in brake.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { TOKEN_LIVES_MS } from '../../bridge/budget-blocks.ts';
import { ApiError } from '../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../bridge/teardown-rules.ts';
import { BrakeBench } from '../support/brake-bench.ts';
import { RULE } from '../support/bridge-builders.ts';
import { START } from '../support/manual-clock.ts';

const HOUR = 3_600_000;
const at = (ms: number) => new Date(START + ms).toISOString();

describe('what has lapsed unused of a block', () => {
  it('goes back with the write that takes the next one, and costs none of its own', async () => {
    const bench = new BrakeBench(50);
    await bench.granted(2);
    await bench.clock.advance(TOKEN_LIVES_MS);
    expect(bench.sizes).toEqual([5]);
    await bench.granted(1);
    expect(bench.sizes).toEqual([2, 5]);
    expect(bench.cluster.count('patch')).toBe(2);
  });

  it.each([
    [1, 61_000],
    [3, 61_000],
    [9, 70_000],
    [19, 30_000],
    [50, 61_000],
    [50, 25_000],
    [400, 8_000],
    [1_000, 3_000],
  ])('of a limit of %i is not wasted when one deletion comes every %i ms', async (limit, pace) => {
    const bench = new BrakeBench(limit);
    const asked = Math.floor(HOUR / pace);
    let granted = 0;
    for (let turn = 0; turn < asked; turn += 1) {
      granted += await bench.granted(1);
      await bench.clock.advance(pace);
    }
    expect(granted).toBe(Math.min(limit, asked));
  });

  it('is all there when the rest of the budget is needed at once', async () => {
    const bench = new BrakeBench(100);
    for (let turn = 0; turn < 9; turn += 1) {
      await bench.granted(1);
      await bench.clock.advance(TOKEN_LIVES_MS + 1);
    }
    expect(await bench.granted(200)).toBe(91);
  });

  it('goes back once: not after a conflict, a lost answer or a crash a second time (P5)', async () => {
    const bench = new BrakeBench(20);
    await bench.granted(1);
    await bench.clock.advance(TOKEN_LIVES_MS);
    let races = 2;
    bench.cluster.before = ({ verb }) => {
      if (verb !== 'patch' || races === 0) return;
      races -= 1;
      bench.writeStatus({ pending: races });
    };
    await bench.granted(1);
    expect(bench.sizes).toEqual([1, 2]);
    await bench.clock.advance(TOKEN_LIVES_MS);
    await expect(bench.takeUnanswered()).rejects.toThrow('no answer');
    expect(bench.sizes).toEqual([1, 1, 2]);
    bench.brakes = bench.process();
    expect(await bench.granted(100)).toBe(16);
  });

  it('is given back only by the process that took it', async () => {
    const bench = new BrakeBench(20);
    await bench.granted(1);
    const other = bench.process();
    await bench.clock.advance(TOKEN_LIVES_MS);
    await other.take(bench.rule);
    expect(bench.sizes).toEqual([2, 2]);
    await bench.granted(1);
    expect(bench.sizes).toEqual([1, 2, 2]);
  });

  it('stays where its block was made one with another', async () => {
    const bench = new BrakeBench(1_000);
    await bench.granted(1);
    const { budget } = bench.status;
    bench.writeStatus({ budget: { reservations: [{ time: at(0), size: 107 }] } });
    await bench.clock.advance(TOKEN_LIVES_MS);
    expect(budget).toBeDefined();
    expect(await bench.granted(1_000)).toBe(893);
  });
});

describe('a process that ends in order', () => {
  it('gives back what it has not used, at once', async () => {
    const bench = new BrakeBench(50);
    await bench.granted(2);
    await bench.brakes.giveBack();
    expect(bench.sizes).toEqual([2]);
    bench.brakes = bench.process();
    expect(await bench.granted(60)).toBe(48);
  });

  it('leaves no block of which nothing was used, and writes nothing where all was', async () => {
    const bench = new BrakeBench(10);
    await bench.granted(1);
    const before = bench.cluster.count('patch');
    await bench.brakes.giveBack();
    expect([bench.sizes, bench.cluster.count('patch')]).toEqual([[1], before]);
  });

  it('gives nothing back twice, nor where somebody else wrote meanwhile, and fails at nothing', async () => {
    const bench = new BrakeBench(50);
    await bench.granted(2);
    bench.cluster.before = ({ verb }) => {
      if (verb === 'patch') bench.writeStatus({ observedGeneration: 2 });
    };
    await bench.brakes.giveBack();
    expect(bench.sizes).toEqual([5]);
    bench.cluster.before = () => {
      throw new ApiError('getting the rule', 500);
    };
    await bench.granted(1).catch(() => undefined);
    await expect(bench.brakes.giveBack()).resolves.toBeUndefined();
  });

  it('gives nothing back to another rule of the same name', async () => {
    const bench = new BrakeBench(50);
    await bench.granted(2);
    bench.cluster.succeed(RULE, 'another', TEARDOWN_RULES);
    await bench.brakes.giveBack();
    expect(bench.sizes).toEqual([5]);
  });
});
