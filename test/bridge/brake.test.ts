/*
 * The budget of a rule as one process takes from it: blocks in the rule's status, tokens in memory, virtual time.
 * That several processes together never exceed it is in brake-properties.test.ts.
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

describe('a budget', () => {
  it('is taken from in blocks of a tenth, written down before the first deletion is granted', async () => {
    const bench = new BrakeBench(50);
    const { brakes, rule, cluster } = bench;
    expect(bench.status).toEqual({});
    expect(await brakes.take(rule)).toEqual({ ok: true, lapsesAt: bench.clock.monotonic() + TOKEN_LIVES_MS });
    expect(cluster.count('patch')).toBe(1);
    for (let turn = 0; turn < 4; turn += 1) expect(await brakes.take(rule)).toMatchObject({ ok: true });
    expect(cluster.count('patch')).toBe(1);
    await brakes.take(rule);
    expect(cluster.count('patch')).toBe(2);
  });

  it.each([
    [1, 1],
    [9, 1],
    [19, 1],
    [20, 2],
    [1_000, 100],
  ])('of %i is taken in blocks of %i', async (limit, size) => {
    const bench = new BrakeBench(limit);
    await bench.granted(1);
    expect(bench.status).toEqual({ budget: { reservations: [{ time: at(0), size, holder: expect.any(String) }] } });
  });

  it('is granted to the last, and then not before the window and a minute are over (P5)', async () => {
    const bench = new BrakeBench(25);
    expect(await bench.granted(10)).toBe(10);
    await bench.clock.advance(30_000);
    expect(await bench.granted(40)).toBe(15);
    const until = START + HOUR + TOKEN_LIVES_MS;
    expect(await bench.brakes.take(bench.rule)).toEqual({ ok: false, until });
    await bench.clock.advance(until - bench.clock.now() - 1);
    expect(await bench.granted(1)).toBe(0);
    await bench.clock.advance(1);
    expect(await bench.granted(40)).toBe(10);
    await bench.clock.advance(30_000);
    expect(await bench.granted(40)).toBe(15);
  });

  it('writes down no more than what still counts, oldest first', async () => {
    const bench = new BrakeBench(3);
    await bench.granted(2);
    await bench.clock.advance(HOUR + TOKEN_LIVES_MS);
    await bench.granted(1);
    expect(bench.sizes).toEqual([1]);
    expect(bench.status).toMatchObject({ budget: { reservations: [{ time: at(HOUR + TOKEN_LIVES_MS) }] } });
    await bench.clock.advance(1_000);
    await bench.granted(1);
    expect(bench.status).toMatchObject({
      budget: { reservations: [{ size: 1 }, { time: at(HOUR + TOKEN_LIVES_MS + 1_000) }] },
    });
  });

  it('lets tokens lapse that were taken and not used within a minute (V21)', async () => {
    const bench = new BrakeBench(50);
    await bench.granted(1);
    await bench.clock.advance(TOKEN_LIVES_MS - 1);
    await bench.granted(1);
    expect(bench.cluster.count('patch')).toBe(1);
    await bench.clock.advance(1);
    await bench.granted(1);
    expect(bench.cluster.count('patch')).toBe(2);
    expect(await bench.granted(100)).toBe(47);
  });

  it('is not forgotten in a crash, which wastes a block at most (P5)', async () => {
    const bench = new BrakeBench(50);
    expect(await bench.granted(7)).toBe(7);
    bench.brakes = bench.process();
    expect(await bench.granted(100)).toBe(40);
  });

  it('that was lowered grants no more until enough has fallen out of the window; one that was raised grants the rest', async () => {
    const bench = new BrakeBench(20);
    await bench.granted(10);
    const lowered = { ...bench.rule, budget: { limit: 5, window: HOUR } };
    expect(await bench.granted(5, lowered)).toBe(0);
    const raised = { ...bench.rule, budget: { limit: 30, window: HOUR } };
    expect(await bench.granted(100, raised)).toBe(20);
  });

  it('has no more blocks than the status holds: the closest become one that counts as long as the later', async () => {
    const bench = new BrakeBench(1_000);
    const reservations = Array.from({ length: 64 }, (_, index) => ({ time: at(index * index - HOUR), size: 10 }));
    bench.writeStatus({ budget: { reservations } });
    expect(await bench.granted(1_000)).toBe(360);
    expect(bench.sizes).toHaveLength(64);
    expect(bench.sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
    expect(bench.status).toMatchObject({ budget: { reservations: expect.not.arrayContaining([reservations[0]]) } });
  });

  it('is not held up by a block from a clock that is far ahead for longer than by one that was just taken', async () => {
    const bench = new BrakeBench(1);
    bench.writeStatus({ budget: { reservations: [{ time: at(1_000 * HOUR), size: 1 }] } });
    expect(await bench.granted(1)).toBe(0);
    await bench.clock.advance(HOUR + TOKEN_LIVES_MS - 1);
    expect(await bench.granted(1)).toBe(0);
    await bench.clock.advance(1);
    expect(await bench.granted(1)).toBe(1);
  });

  it('is not asked for where a rule has none', async () => {
    const bench = new BrakeBench(1);
    const { budget: _, ...free } = bench.rule;
    expect(await bench.granted(100, free)).toBe(100);
    expect(bench.cluster.calls).toEqual([]);
  });

  it('leaves what else stands in the status as it is', async () => {
    const bench = new BrakeBench(1);
    bench.writeStatus({ pending: 3, conditions: [] });
    await bench.granted(1);
    expect(bench.status).toMatchObject({ pending: 3, conditions: [], budget: { reservations: [{ size: 1 }] } });
  });
});

describe('many deletions that ask at once', () => {
  it('share one question', async () => {
    const bench = new BrakeBench(1_000);
    const grants = await Promise.all(Array.from({ length: 64 }, () => bench.brakes.take(bench.rule)));
    expect(grants.every(({ ok }) => ok)).toBe(true);
    expect(bench.cluster.calls.map(({ verb }) => verb)).toEqual(['get', 'patch']);
  });

  it('of a small budget get what there is, each a plain answer and none an error', async () => {
    const bench = new BrakeBench(19);
    const grants = await Promise.all(Array.from({ length: 64 }, () => bench.brakes.take(bench.rule)));
    expect(grants.filter(({ ok }) => ok)).toHaveLength(19);
  });

  it('of a budget that is used up are told so without a question each, and asked for again soon', async () => {
    const bench = new BrakeBench(1);
    expect(await bench.granted(100)).toBe(1);
    expect(bench.cluster.calls.map(({ verb }) => verb)).toEqual(['get', 'patch', 'get']);
    await bench.clock.advance(5_000);
    expect(await bench.granted(100)).toBe(0);
    expect(bench.cluster.calls).toHaveLength(4);
  });

  it('are asked for at once when an edit of the rule may have given it more', async () => {
    const bench = new BrakeBench(1);
    expect(await bench.granted(2)).toBe(1);
    expect(await bench.granted(100, { ...bench.rule, budget: { limit: 3, window: HOUR } })).toBe(2);
  });
});

describe('a block', () => {
  it('that somebody else was faster to take is asked for again', async () => {
    const bench = new BrakeBench(10);
    const other = bench.process();
    let races = 3;
    bench.cluster.before = ({ verb }) => {
      if (verb !== 'patch' || races === 0) return;
      races -= 1;
      bench.writeStatus({ pending: races });
    };
    expect(await bench.granted(1)).toBe(1);
    expect(bench.cluster.count('get')).toBe(4);
    expect((await Promise.all([other.take(bench.rule), bench.brakes.take(bench.rule)])).every(({ ok }) => ok)).toBe(
      true,
    );
    expect(bench.status).toMatchObject({ budget: { reservations: [{ size: 1 }, { size: 1 }, { size: 1 }] } });
  });

  it('is given up for now when others are faster each time, and nothing was taken', async () => {
    const bench = new BrakeBench(10);
    let writes = 0;
    bench.cluster.before = ({ verb }) => {
      if (verb !== 'patch') return;
      writes += 1;
      bench.writeStatus({ pending: writes });
    };
    await expect(bench.brakes.take(bench.rule)).rejects.toThrow(`rule ${RULE}: others were faster 5 times`);
    bench.cluster.before = () => {};
    expect(bench.status.budget).toBeUndefined();
    expect(await bench.granted(20)).toBe(10);
  });

  it.each(['get', 'patch'] as const)('is asked for again after a %s that failed', async (failing) => {
    const bench = new BrakeBench(10);
    bench.cluster.before = ({ verb }) => {
      if (verb === failing) throw new ApiError('asking', 503);
    };
    await expect(bench.brakes.take(bench.rule)).rejects.toThrow('503');
    bench.cluster.before = () => {};
    expect(await bench.granted(20)).toBe(10);
  });

  it('that was written though its answer was lost counts, and is not used', async () => {
    const bench = new BrakeBench(10);
    await expect(bench.takeUnanswered()).rejects.toThrow('no answer');
    expect(await bench.granted(20)).toBe(9);
  });

  it('is never taken from another rule of that name, or one that is gone', async () => {
    const bench = new BrakeBench(10);
    const gone = { ...bench.rule, uid: 'another' };
    await expect(bench.brakes.take(gone)).rejects.toThrow('it is not there any more');
    bench.cluster.delete(RULE, {}, TEARDOWN_RULES);
    await expect(bench.brakes.take(bench.rule)).rejects.toThrow('it is not there any more');
    expect(bench.cluster.count('patch')).toBe(0);
  });
});
